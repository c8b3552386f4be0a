import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** A node of the service in its own process, for tests that kill it. */
export interface NodeProcess {
  readonly baseUrl: string;
  readonly adminKey: string;
  readonly process: ChildProcess;
  /** Resolves when the process ends, with its exit code or signal. */
  readonly exited: Promise<number | NodeJS.Signals>;
  /** The output so far. */
  output(): string;
  /** Kills the process, as in a crash. */
  kill(): Promise<void>;
}

/** Start options besides the settings. */
export interface NodeProcessOptions {
  /** Returns a shell command that starts the node, given the node's command line. */
  readonly shell?: (command: string) => string;
  /** A module that the process loads before the node. It may use the IPC channel. */
  readonly preload?: string;
  /** The program to run, for tests with other sources. */
  readonly main?: string;
}

/** Environment variable with the CLI's bundle. Without it, nodes run the sources. */
export const NODE_MAIN = "SWITCHYARD_TEST_NODE_MAIN";

/** The CLI, for tests that start it themselves. */
export const nodeMain: string =
  process.env[NODE_MAIN] ?? fileURLToPath(new URL("../../src/cli/main.ts", import.meta.url));
const alive = new Set<ChildProcess>();
// A crashed test must not leave a node running.
process.once("exit", () => {
  for (const child of alive) child.kill("SIGKILL");
});

/** Starts a node on free ports and waits until it serves. */
export async function startNodeProcess(
  settings: Readonly<Record<string, string>>,
  { shell, preload, main = nodeMain }: NodeProcessOptions = {},
): Promise<NodeProcess> {
  const imported = preload === undefined ? [] : ["--import", preload];
  const words = [process.execPath, ...imported, main, "serve", ...setArguments({ ...onFreePorts, ...settings })];
  const [file, ...args] = shell === undefined ? words : ["/bin/sh", "-c", shell(words.map(quoted).join(" "))];
  const child = spawn(file!, args, {
    stdio: ["ignore", "pipe", "pipe", ...(preload === undefined ? [] : ["ipc" as const])],
  });
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
  "server.processes": "1",
  "server.http_addr": "127.0.0.1:0",
  "server.internal_addr": "",
  "server.metrics_addr": "",
  "api.addr": "",
  "auth.api_key_enabled": "true",
  "auth.bcrypt_cost": "4",
  "log.level": "warn",
  // The disk of the machine that runs the tests may be full to any degree.
  "storage.warn_percent": "99",
  "storage.full_percent": "100",
};

function setArguments(settings: Readonly<Record<string, string>>): string[] {
  return Object.entries(settings).flatMap(([key, value]) => ["--set", `${key}=${value}`]);
}

function quoted(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}
