import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { findProgram, firstLine, type Program } from "./debian-program.ts";

/** A real Redis (or Valkey) server for one test file. */
export interface RedisServer {
  /** The path of a unix socket, which no other test can use. */
  readonly url: string;
  /** Kills the server, as in a crash; `start` restarts it empty. */
  kill(): Promise<void>;
  start(): Promise<void>;
  /** Suspends and resumes the process: connections stay open and get no response. */
  freeze(): void;
  thaw(): void;
  /** Stops the server permanently and removes its folder. */
  stop(): Promise<void>;
}

const names = ["redis-server", "valkey-server"];
let reason = "";

/** Why `startRedis` returned undefined. */
export function whyNoRedis(): string {
  return reason;
}

/** Starts a Redis from the PATH, or one unpacked from Debian packages; returns undefined when neither is available. */
export async function startRedis(): Promise<RedisServer | undefined> {
  let program: Program | undefined;
  try {
    program = await findProgram({ cache: "redis-packages", names, packages: names });
  } catch (error) {
    reason = `No redis-server or valkey-server on the PATH, and none from packages: ${firstLine(error)}`;
    console.error(reason);
    return undefined;
  }
  const folder = await mkdtemp(join(tmpdir(), "redis-peer-"));
  return peerOf(program, folder);
}

async function peerOf(program: Program, folder: string): Promise<RedisServer> {
  const socket = join(folder, "redis.sock");
  let child: ChildProcess | undefined;

  async function start(): Promise<void> {
    const settings = ["--port", "0", "--unixsocket", socket, "--dir", folder, "--save", "", "--appendonly", "no"];
    const started = spawn(program.path, settings, { env: program.env, stdio: ["ignore", "pipe", "inherit"] });
    child = started;
    for await (const line of createInterface({ input: started.stdout })) {
      if (!/ready to accept connections/i.test(line)) continue;
      started.stdout.resume();
      return;
    }
    throw new Error(`${program.path} exited before it was ready.`);
  }
  async function kill(): Promise<void> {
    const ended = child;
    child = undefined;
    if (ended === undefined || ended.exitCode !== null || ended.signalCode !== null) return;
    const exit = once(ended, "exit");
    ended.kill("SIGKILL");
    await exit;
  }
  // A crashed test must not leave a server running.
  process.once("exit", () => child?.kill("SIGKILL"));

  await start();
  return {
    url: socket,
    start,
    kill,
    freeze: () => void child?.kill("SIGSTOP"),
    thaw: () => void child?.kill("SIGCONT"),
    async stop() {
      await kill();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
