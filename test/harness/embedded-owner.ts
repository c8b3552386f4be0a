import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { rmSync } from "node:fs";
import { mkdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { TestContext } from "node:test";
import { promisify } from "node:util";
import { type Embedded, type EmbeddedOptions, startEmbedded } from "../../src/platform/db/embedded/embedded.ts";
import { connect, newServerFolder } from "./postgres-server.ts";

/** A separate process that starts the embedded PostgreSQL, for tests that kill it. */
interface Owner {
  readonly process: ChildProcess;
  /** The result of the start. */
  readonly started: Promise<{ url: string; pid: number } | { error: string }>;
  kill(): Promise<void>;
}

// The process exits when its input closes, so it never outlives the test. It prints the result of its start.
const OWNER = `
  import { startEmbedded } from ${JSON.stringify(new URL("../../src/platform/db/embedded/embedded.ts", import.meta.url).href)};
  process.stdin.resume().on("end", () => process.exit());
  try {
    const { url, pid } = await startEmbedded(JSON.parse(process.argv[1]));
    console.log(JSON.stringify({ url, pid }));
  } catch (error) {
    console.log(JSON.stringify({ error: error.message }));
    process.exit();
  }`;

/** Starts the embedded PostgreSQL from another process, optionally as another user. */
function startOwner(options: EmbeddedOptions, user: { uid?: number; gid?: number } = {}): Owner {
  const child = spawn(process.execPath, ["--input-type=module", "-e", OWNER, JSON.stringify(options)], {
    ...user,
    stdio: ["pipe", "pipe", "inherit"],
  });
  const exited = once(child, "exit");
  const started = Promise.race([
    once(createInterface({ input: child.stdout }), "line").then(([line]) => JSON.parse(line as string)),
    exited.then(() => ({ error: "ended" })),
  ]);
  const kill = async () => {
    child.kill("SIGKILL");
    await exited;
  };
  return { process: child, started, kill };
}

/**
 * A data folder for one test, without durability by default. When the test ends, the processes on it are stopped and
 * the folder is removed. An initialised folder saves the seconds of the first start.
 */
export async function scratch(t: TestContext, { initialised = false } = {}) {
  const dataDir = await newServerFolder();
  if (initialised) await copyCluster(dataDir);
  const ends: (() => Promise<void>)[] = [() => rm(dataDir, { recursive: true, force: true, maxRetries: 20 })];
  t.after(async () => {
    for (const end of ends.reverse()) await end();
  });
  return {
    dataDir,
    start: async (options: Partial<EmbeddedOptions> = {}): Promise<Embedded> => {
      const embedded = await startEmbedded({ dataDir, durable: false, ...options });
      ends.push(embedded.stop);
      return embedded;
    },
    owner: (options: Partial<EmbeddedOptions> = {}, user: { uid?: number; gid?: number } = {}): Owner => {
      const owner = startOwner({ dataDir, durable: false, ...options }, user);
      ends.push(owner.kill);
      return owner;
    },
  };
}

let template: Promise<string> | undefined;

/** Initialises a data folder with an empty cluster, created once for all tests of a process. */
async function copyCluster(dataDir: string): Promise<void> {
  template ??= initialisedFolder();
  await mkdir(join(dataDir, "postgres"), { mode: 0o700 });
  // Preserves the owner, which may differ from this process's user.
  await promisify(execFile)("cp", ["-a", join(await template, "postgres", "cluster"), join(dataDir, "postgres")]);
}

async function initialisedFolder(): Promise<string> {
  const dataDir = await newServerFolder();
  process.once("exit", () => rmSync(dataDir, { recursive: true, force: true }));
  const { stop } = await startEmbedded({ dataDir, durable: false });
  await stop();
  return dataDir;
}

/** Runs one statement on its own connection. */
export async function query(url: string, statement: string): Promise<Record<string, unknown>[]> {
  const sql = connect(url, 1);
  try {
    return [...(await sql.unsafe(statement))];
  } finally {
    await sql.end({ timeout: 1 });
  }
}

/** Whether a process is running; a zombie is not. */
export async function runs(pid: number): Promise<boolean> {
  try {
    process.kill(pid, 0);
    return process.platform !== "linux" || (await readFile(`/proc/${pid}/cmdline`, "utf8")) !== "";
  } catch {
    return false;
  }
}
