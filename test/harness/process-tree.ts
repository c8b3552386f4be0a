import { readdirSync, readFileSync } from "node:fs";

/** A process and all processes that it has started. */
export function withDescendants(pid: number | undefined): number[] {
  if (pid === undefined) return [];
  const parents = new Map<number, number>();
  for (const name of readdirSync("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const [, parent] = /\) \S (\d+)/.exec(readFileSync(`/proc/${name}/stat`, "latin1"))!;
      parents.set(Number(name), Number(parent));
    } catch {
      // It has just ended.
    }
  }
  return [pid, ...[...parents].filter(([, parent]) => parent === pid).flatMap(([child]) => withDescendants(child))];
}

/** Sends a signal to those of the processes that have not ended. */
export function signalAll(pids: readonly number[], signal: NodeJS.Signals): void {
  for (const pid of pids) {
    try {
      process.kill(pid, signal);
    } catch {
      // It has ended.
    }
  }
}

/** Whether a process runs. One that has ended but was not waited for does not. */
export function isAlive(pid: number | undefined): boolean {
  if (pid === undefined) return false;
  try {
    return !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, "latin1"));
  } catch {
    return false;
  }
}
