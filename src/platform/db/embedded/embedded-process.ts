import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { Writable } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";
import { fail } from "../../../errors/index.ts";
import type { ServerUser } from "./embedded-user.ts";

const READY = "database system is ready to accept connections";
const STOP_PATIENCE_MS = 30_000;
const SUCCESS = "exit code 0";
/** PostgreSQL's log message for ENOSPC; the server runs without translations. */
const DISK_FULL = "No space left on device";
/** The time to read the last lines of an ended program. */
const LAST_LINES_MS = 1000;
/** The time in which a server whose recovery failed usually ends by itself. */
const FAILED_RECOVERY_MS = 1000;
/** The first line of the process that recovers a server, with its process id. */
const RECOVERY = /\[(\d+)\] LOG: +database system was /;

/** A PostgreSQL program to run, with its working folder. */
export interface Program {
  readonly file: string;
  readonly args: readonly string[];
  readonly folder: string;
  readonly user: ServerUser;
  readonly input?: string;
  readonly log?: (line: string) => void;
}

// A detached guard process waits for the end of file on a pipe that only this process holds open. The end of file comes even
// when this process is killed; the guard then shuts PostgreSQL down. A line on the pipe ends the guard without a shutdown.
const GUARDED = '( (read -r line <&3 || kill -INT $$) >/dev/null 2>&1 & ); exec "$@" 3<&-';

interface Running {
  readonly child: ChildProcess;
  readonly pid: number;
  readonly exited: Promise<string>;
  /** Its last output lines, for the error message. */
  readonly tail: readonly string[];
  onLine(listener: (line: string) => void): void;
  /** Whether the program keeps this process alive. */
  hold(held: boolean): void;
}

function start(program: Program): Running {
  const { file, args, folder, user, input } = program;
  const child = spawn("/bin/sh", ["-c", GUARDED, "sh", ...user.prefix, file, ...args], {
    cwd: folder,
    ...user.id,
    // In its own session: Ctrl-C in a terminal must reach only this process, which stops the database last.
    detached: true,
    stdio: [input === undefined ? "ignore" : "pipe", "ignore", "pipe", "pipe"],
    // An empty environment: PGPORT, PGDATA and others would change the behaviour of the programs.
    env: { PATH: process.env.PATH, LC_ALL: "C", TZ: "UTC" },
  });
  const guard = child.stdio[3] as Writable & { ref(): void; unref(): void };
  guard.on("error", () => {});
  child.stdin?.on("error", () => {});
  child.stdin?.end(input);

  const tail: string[] = [];
  let diskFull: string | undefined;
  const lines = createInterface({ input: child.stderr! });
  lines.on("line", (line) => {
    tail.push(line);
    if (tail.length > 20) tail.shift();
    if (line.includes(DISK_FULL)) diskFull = line;
    program.log?.(line);
  });
  const linesRead = once(lines, "close");
  const exited = new Promise<string>((resolve) => {
    child.once("error", (error) => resolve(error.message));
    child.once("exit", async (code, signal) => {
      guard.end("\n");
      const outcome = signal ? `ended by ${signal}` : `exit code ${code}`;
      if (outcome === SUCCESS) return resolve(outcome);
      // The last output lines contain the reason.
      await Promise.race([linesRead, delay(LAST_LINES_MS, undefined, { ref: false })]);
      resolve(diskFull === undefined ? outcome : `${outcome}. ${diskFullAdvice(folder, diskFull)}`);
    });
  });
  return {
    child,
    pid: child.pid ?? 0,
    exited,
    tail,
    onLine: (listener) => lines.on("line", listener),
    hold(held) {
      const handles = [child, child.stderr as unknown as typeof guard, guard];
      for (const handle of handles) held ? handle.ref() : handle.unref();
    },
  };
}

/** Runs a program until it ends; fails with its output unless it succeeds. */
export async function runProgram(program: Program): Promise<void> {
  const running = start(program);
  const closed = once(running.child, "close");
  const outcome = await running.exited;
  if (outcome === SUCCESS) return;
  if (running.pid) await closed;
  throw failed(program, outcome, running.tail);
}

/** A server that accepts connections. */
export interface Server {
  readonly pid: number;
  /** Resolves, with the reason, when the server has ended. */
  readonly exited: Promise<string>;
  stop(): Promise<void>;
}

/**
 * Ends a server whose recovery failed.
 *
 * After a crash, the server restarts itself with a process that recovers its data. When that process fails late, PostgreSQL 18
 * neither ends nor recovers: it refuses all connections until somebody stops it.
 */
function endFailedRecovery({ child, onLine }: Running): void {
  let recovery: string | undefined;
  onLine((line) => {
    recovery = line.includes(READY) ? undefined : (RECOVERY.exec(line)?.[1] ?? recovery);
    if (recovery === undefined || !line.includes(`[${recovery}] FATAL: `)) return;
    // Not SIGQUIT: the server must not end as if it had been stopped.
    const timer = setTimeout(() => child.kill("SIGKILL"), FAILED_RECOVERY_MS);
    child.once("exit", () => clearTimeout(timer));
  });
}

/** Starts a server and waits until it accepts connections. */
export async function startServer(program: Program): Promise<Server> {
  const running = start(program);
  endFailedRecovery(running);
  const ready = new Promise<"ready">((resolve) =>
    running.onLine((line) => {
      if (line.includes(READY)) resolve("ready");
    }),
  );
  const outcome = await Promise.race([ready, running.exited]);
  if (outcome !== "ready") throw failed(program, outcome, running.tail);
  // A running database does not keep its owner alive; the guard stops it after the owner has ended.
  running.hold(false);

  let stopping: Promise<void> | undefined;
  const stop = async () => {
    running.hold(true);
    running.child.kill("SIGINT");
    // The write-ahead log recovers an incomplete shutdown at the next start.
    const impatience = setTimeout(() => running.child.kill("SIGQUIT"), STOP_PATIENCE_MS);
    await running.exited;
    clearTimeout(impatience);
  };
  return {
    pid: running.pid,
    exited: running.exited,
    stop: () => {
      stopping ??= stop();
      return stopping;
    },
  };
}

function diskFullAdvice(folder: string, line: string): string {
  const what = line.replace(/^.*?(?:PANIC|FATAL|ERROR|LOG): +/, "");
  return `Its disk is full (${what}). Free space on the disk of ${folder}, or move data.dir to a larger one, and start again: nothing that was acknowledged is lost.`;
}

function failed(program: Program, outcome: string, tail: readonly string[]): Error {
  const name = program.file.split("/").at(-1);
  return fail("UNAVAILABLE", {
    public: `The embedded PostgreSQL did not start (${name}: ${outcome}).\n${tail.join("\n")}`.trimEnd(),
  });
}
