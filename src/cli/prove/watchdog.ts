import { fork } from "node:child_process";
import { rm } from "node:fs/promises";
import { dropDatabase } from "./scratch-database.ts";

/** What is to be removed when a run ends without removing it. */
export interface Remains {
  /** The URL of the server with the database; undefined if the run has a server of its own. */
  readonly serverUrl?: string;
  readonly database?: string;
  readonly folder: string;
}

/** A process that cleans up when the run is killed. */
export interface Watchdog {
  /** Names what is to be removed. */
  guard(remains: Remains): void;
  /** Names the processes that are to be killed. */
  guardProcesses(pids: readonly number[]): void;
  /** Ends it: everything has been removed. */
  dismiss(): void;
}

type Message = { readonly remains: Remains } | { readonly pids: readonly number[] } | "dismissed";

/** The hidden option of the command that runs the watchdog. */
const watchdogOption = "--watchdog";

/** Starts the watchdog in a session of its own, so that what kills the run does not kill both. */
export function startWatchdog(): Watchdog {
  const child = fork(process.argv[1]!, ["prove", watchdogOption], { detached: true, stdio: "ignore" });
  child.on("error", () => {});
  const tell = (message: Message) => void (child.connected && child.send(message));
  return {
    guard: (remains) => tell({ remains }),
    guardProcesses: (pids) => tell({ pids }),
    dismiss() {
      tell("dismissed");
      if (child.connected) child.disconnect();
      child.unref();
    },
  };
}

/** Waits in the process of the watchdog until the run has ended, and removes what it left. */
export async function runWatchdog(): Promise<void> {
  let pids: readonly number[] = [];
  let remains: Remains | undefined;
  let isDismissed = false;
  await new Promise<void>((resolve) => {
    process.on("disconnect", resolve);
    process.on("message", (message: Message) => {
      if (message === "dismissed") isDismissed = true;
      else if ("pids" in message) pids = message.pids;
      else remains = message.remains;
    });
  });
  if (isDismissed) return;
  for (const pid of pids) {
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // It has ended already.
    }
  }
  if (remains === undefined) return;
  const { serverUrl, database, folder } = remains;
  if (serverUrl !== undefined && database !== undefined) await dropDatabase(serverUrl, database).catch(() => {});
  await rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
}
