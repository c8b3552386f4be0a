// Runs the CLI of the installed package with the pinned Node. This file runs on the Node of the machine, 20 or newer.
import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import { constants } from "node:os";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { pinnedNode } from "./pinned-node.mjs";

/** Runs a command of the CLI instead of this process, or as its child where Node cannot replace a process. */
export function launch(words) {
  const main = fileURLToPath(new URL("../service.mjs", import.meta.url));
  let node;
  try {
    node = pinnedNode(dirname(createRequire(import.meta.url).resolve("node/package.json")));
  } catch (error) {
    console.error(`service: ${error.message}`);
    process.exitCode = 1;
    return;
  }
  // docs/guides/operate.md says what the size of the young generation costs and saves.
  const args = ["--max-semi-space-size=32", main, ...words];
  if (process.execve !== undefined) process.execve(node, [node, ...args], process.env);
  const child = spawn(node, args, { stdio: "inherit" });
  for (const signal of ["SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
  // A terminal sends this signal to the child as well.
  process.on("SIGINT", () => {});
  child.on("exit", (code, signal) => {
    process.exitCode = code ?? 128 + constants.signals[signal];
  });
}
