import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { type NodeProcess as StartedNode, startNodeProcess as start } from "../../src/cli/prove/nodes/node-process.ts";

/** A node of the service in its own process, for tests that kill it. */
export interface NodeProcess extends StartedNode {
  readonly baseUrl: string;
  readonly adminKey: string;
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

/** Starts a node on free ports and waits until it serves. */
export async function startNodeProcess(
  settings: Readonly<Record<string, string>>,
  { shell, preload, main = nodeMain }: NodeProcessOptions = {},
): Promise<NodeProcess> {
  const imported = preload === undefined ? [] : ["--import", preload];
  const words = [process.execPath, ...imported, main, "serve", ...setArguments({ ...onFreePorts, ...settings })];
  const [file, ...args] = shell === undefined ? words : ["/bin/sh", "-c", shell(words.map(quoted).join(" "))];
  const node = start([file!, ...args], {
    stdio: ["ignore", "pipe", "pipe", ...(preload === undefined ? [] : ["ipc" as const])],
  });
  const { baseUrl, text } = await node.serving;
  const [, keyFile, key] = /admin key +(?:in (\S+)|(\S+))/.exec(text)!;
  return {
    ...node,
    baseUrl,
    adminKey: settings["auth.bootstrap_api_key"] ?? (keyFile ? readFileSync(keyFile, "utf8").trim() : key!),
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
