import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterFile } from "../harness/after-file.ts";
import { findProgram } from "../harness/debian-program.ts";

/**
 * The installed Chromium, or one that is unpacked from Debian packages; undefined where neither is possible. `CHROMIUM` names
 * another executable.
 */
export async function findChromium(): Promise<string | undefined> {
  const names = [process.env.CHROMIUM, "chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
  const installed = names.find((name) => Boolean(name) && spawnSync(name!, ["--version"]).status === 0);
  if (installed !== undefined) return installed;
  try {
    // Debian's own /usr/bin/chromium names absolute paths, so the program itself is started, through a script with its libraries.
    const source = { cache: "chromium-packages", names: ["../lib/chromium/chromium"], packages: ["chromium"] };
    const { path, env } = await findProgram(source);
    const folder = mkdtempSync(join(tmpdir(), "switchyard-chromium-"));
    afterFile(() => rmSync(folder, { recursive: true, force: true }));
    const script = join(folder, "chromium");
    writeFileSync(script, `#!/bin/sh\nexport LD_LIBRARY_PATH='${env.LD_LIBRARY_PATH ?? ""}'\nexec '${path}' "$@"\n`, {
      mode: 0o755,
    });
    return script;
  } catch {
    return undefined;
  }
}
