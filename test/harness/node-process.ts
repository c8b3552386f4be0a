import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** A node of the service in a process of its own, to be killed by a test. */
export interface NodeProcess {
  readonly baseUrl: string;
  readonly adminKey: string;
  readonly process: ChildProcess;
  /** Resolves when the process has ended, with its exit code, or the signal that ended it. */
  readonly exited: Promise<number | NodeJS.Signals>;
  /** Everything that it has written so far. */
  output(): string;
  /** Ends it as a crash would. */
  kill(): Promise<void>;
}

/** How to start it, besides its settings. */
export interface NodeProcessOptions {
  /** Puts a shell in between that starts the node, given the node's command line. */
  readonly shell?: (command: string) => string;
}

const main = fileURLToPath(new URL("../../src/cli/main.ts", import.meta.url));
const alive = new Set<ChildProcess>();
// A test that dies must not leave a node behind.
process.once("exit", () => {
  for (const child of alive) child.kill("SIGKILL");
});

/** Starts a node on free ports and waits until it serves. */
export async function startNodeProcess(
  settings: Readonly<Record<string, string>>,
  { shell }: NodeProcessOptions = {},
): Promise<NodeProcess> {
  const words = [process.execPath, main, "serve", ...setArguments({ ...onFreePorts, ...settings })];
  const [file, ...args] = shell === undefined ? words : ["/bin/sh", "-c", shell(words.map(quoted).join(" "))];
  const child = spawn(file!, args, { stdio: ["ignore", "pipe", "pipe"] });
  alive.add(child);
  let output = "";
  const exited = once(child, "exit").then(([code, signal]) => {
    alive.delete(child);
    return (code ?? signal) as number | NodeJS.Signals;
  });
  const serving = new Promise<RegExpExecArray>((resolve) => {
    for (const stream of [child.stdout, child.stderr]) {
      stream!.setEncoding("utf8").on("data", (text: string) => {
        output += text;
        const greeting = /serving at (\S+)[\s\S]*admin key +(?:in (\S+)|(\S+))/.exec(output);
        if (greeting !== null) resolve(greeting);
      });
    }
  });
  const started = await Promise.race([serving, exited]);
  if (!Array.isArray(started)) throw new Error(`The node ended with ${started}:\n${output}`);
  return {
    baseUrl: started[1]!,
    adminKey:
      settings["auth.bootstrap_api_key"] ?? (started[2] ? readFileSync(started[2], "utf8").trim() : started[3]!),
    process: child,
    exited,
    output: () => output,
    kill: async () => {
      child.kill("SIGKILL");
      await exited;
    },
  };
}

const onFreePorts = {
  "server.http_addr": "127.0.0.1:0",
  "server.internal_addr": "",
  "server.metrics_addr": "",
  "api.addr": "",
  "auth.api_key_enabled": "true",
  "auth.bcrypt_cost": "4",
  "log.level": "warn",
};

function setArguments(settings: Readonly<Record<string, string>>): string[] {
  return Object.entries(settings).flatMap(([key, value]) => ["--set", `${key}=${value}`]);
}

function quoted(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}
