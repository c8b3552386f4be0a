import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { access, chmod, mkdir, mkdtemp, readdir, rename, rm, stat } from "node:fs/promises";
import { tmpdir, userInfo } from "node:os";
import { delimiter, join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";

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

interface Program {
  readonly path: string;
  readonly env: NodeJS.ProcessEnv;
}

const run = promisify(execFile);
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
    program = (await onPath()) ?? (await fromPackages());
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

async function onPath(): Promise<Program | undefined> {
  for (const name of names) {
    for (const folder of (process.env.PATH ?? "").split(delimiter)) {
      const path = join(folder, name);
      if (await exists(path)) return { path, env: process.env };
    }
  }
  return undefined;
}

// Unpacks the packages into a folder of this user and does not change the system.
async function fromPackages(): Promise<Program> {
  const cache = join(tmpdir(), `redis-packages-${process.arch}-${userInfo().uid}`);
  const found = await unpackedIn(cache);
  if (found !== undefined) return found;
  if (!(await exists("/usr/bin/apt-get"))) throw new Error("this is not a Debian-like system (no apt-get).");

  const work = await mkdtemp(join(tmpdir(), "redis-packages-"));
  try {
    await chmod(work, 0o755);
    const packages = await packagesNeeded();
    await run("apt-get", ["download", ...packages], { cwd: work });
    for (const file of await readdir(work))
      if (file.endsWith(".deb")) await run("dpkg", ["-x", file, "root"], { cwd: work });
    await mkdir(cache, { mode: 0o700 }).catch(() => {});
    // Another test file may have unpacked the same packages first.
    await rename(join(work, "root"), join(cache, "root")).catch(() => {});
  } finally {
    await rm(work, { recursive: true, force: true });
  }
  const unpacked = await unpackedIn(cache);
  if (unpacked === undefined) throw new Error("the packages hold no server that runs here.");
  return unpacked;
}

// The packages that apt would install: the server and its missing dependencies.
async function packagesNeeded(): Promise<string[]> {
  const attempts = process.getuid?.() === 0 ? [false, true] : [false];
  let problem: unknown;
  for (const refresh of attempts) {
    if (refresh) await run("apt-get", ["update"]).catch(() => {});
    for (const name of names) {
      try {
        const { stdout } = await run("apt-get", ["--simulate", "--no-install-recommends", "install", name]);
        return [...stdout.matchAll(/^Inst (\S+)/gm)].map((match) => match[1]!);
      } catch (error) {
        problem = error;
      }
    }
  }
  throw problem;
}

async function unpackedIn(cache: string): Promise<Program | undefined> {
  const info = await stat(cache).catch(() => undefined);
  // A folder that another user created under this name is not trusted.
  if (info === undefined || info.uid !== userInfo().uid) return undefined;
  const libraries: string[] = [];
  for (const base of ["usr/lib", "lib"]) {
    const folder = join(cache, "root", base);
    libraries.push(folder);
    for (const name of await readdir(folder).catch(() => []))
      if (name.includes("-linux-")) libraries.push(join(folder, name));
  }
  const env = { ...process.env, LD_LIBRARY_PATH: libraries.join(delimiter) };
  for (const name of names) {
    const path = join(cache, "root/usr/bin", name);
    if ((await exists(path)) && (await run(path, ["--version"], { env }).catch(() => undefined))) return { path, env };
  }
  return undefined;
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

function firstLine(error: unknown): string {
  const { stderr, message } = error as { stderr?: string; message?: string };
  return (stderr?.match(/^E: .*/m)?.[0] ?? message ?? String(error)).split("\n")[0]!;
}
