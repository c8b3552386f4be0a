import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import type { TestContext } from "node:test";

const scripts = new URL("../../scripts/", import.meta.url).href;

/** Runs test files with these names and contents, and reports like `npm test`. */
export async function runFiles(
  t: TestContext,
  contents: Readonly<Record<string, string>>,
  options: { workers?: number; fileMsMax?: number; lingerMsMax?: number; showTests?: boolean; pauseMs?: number } = {},
): Promise<{ success: boolean; output: string }> {
  const folder = mkdtempSync(join(tmpdir(), "switchyard-pool-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const files = Object.entries(contents).map(([name, content]) => {
    const path = join(folder, `${name}.test.mjs`);
    writeFileSync(path, `import test from "node:test";\n${content}`);
    return path;
  });
  const { showTests = false, pauseMs = 0, ...poolOptions } = options;
  const script = `
    import { report } from "${scripts}progress-reporter.mjs";
    import { runTestFiles } from "${scripts}test-pool.mjs";
    const files = ${JSON.stringify(files)};
    const turns = { begin: () => new Promise((resolve) => setTimeout(resolve, ${pauseMs})), end() {} };
    const options = ${JSON.stringify({ workers: 1, fileMsMax: 60_000, ...poolOptions })};
    const events = runTestFiles(files, { ...options, turns });
    process.exitCode = (await report(events, { files, showTests: ${showTests} })) ? 0 : 1;`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", script], {
    cwd: folder,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const [output, , [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "exit")]);
  return { success: code === 0, output };
}
