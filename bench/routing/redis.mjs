// A private Redis or Valkey server, on a socket in its own folder.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { createInterface } from "node:readline";
import { Unavailable } from "./participants.mjs";

/** Starts a server that writes every change to its append-only file; `appendfsync` sets how often that is synced. */
export async function startRedis({ folder, appendfsync }) {
  const program = ["redis-server", "valkey-server"].flatMap(onPath)[0];
  if (program === undefined) throw new Unavailable("no redis-server or valkey-server is on the PATH");
  const socket = join(folder, "redis.sock");
  const settings = {
    port: "0",
    unixsocket: socket,
    dir: folder,
    save: "",
    appendonly: "yes",
    appendfsync,
    "maxmemory-policy": "noeviction",
  };
  const args = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, value]);
  const child = spawn(program, args, { stdio: ["ignore", "pipe", "ignore"] });
  process.once("exit", () => child.kill("SIGKILL"));
  const exited = once(child, "exit");
  for await (const line of createInterface({ input: child.stdout })) {
    if (!/ready to accept connections/i.test(line)) continue;
    child.stdout.resume();
    return {
      socket,
      pid: child.pid,
      async stop() {
        child.kill("SIGKILL");
        await exited;
      },
    };
  }
  throw new Error(`${program} exited before it was ready`);
}

function onPath(name) {
  return (process.env.PATH ?? "")
    .split(delimiter)
    .map((folder) => join(folder, name))
    .filter((path) => existsSync(path));
}
