import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findProgram, firstLine, type Program } from "./debian-program.ts";

/** A Caddy from the PATH, or unpacked from Debian's package; the reason when neither is available. */
export async function findCaddy(): Promise<{ readonly program: Program } | { readonly reason: string }> {
  const source = { cache: "caddy-packages", names: ["caddy"], packages: ["caddy"], versionFlag: "version" };
  return findProgram(source).then(
    (program) => ({ program }),
    (error) => ({ reason: `No caddy on the PATH, and none from packages: ${firstLine(error)}` }),
  );
}

/** Starts Caddy with a Caddyfile. Returns a function that stops it. */
export async function startCaddy({ path, env }: Program, caddyfile: string, variables: NodeJS.ProcessEnv) {
  const folder = await mkdtemp(join(tmpdir(), "caddy-"));
  const file = join(folder, "Caddyfile");
  await writeFile(file, caddyfile);
  const child = spawn(path, ["run", "--config", file, "--adapter", "caddyfile"], {
    env: { ...env, ...variables, HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder },
    stdio: ["ignore", "ignore", "pipe"],
  });
  let text = "";
  child.stderr.on("data", (chunk) => (text += chunk));
  // A crashed test must not leave a proxy running.
  process.once("exit", () => child.kill("SIGKILL"));
  return {
    output: () => text,
    hasEnded: () => child.exitCode !== null,
    stop: async () => {
      const exit = once(child, "exit");
      if (child.exitCode === null && child.kill("SIGKILL")) await exit;
      await rm(folder, { recursive: true, force: true });
    },
  };
}
