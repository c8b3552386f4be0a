import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { basename } from "node:path";
import { setTimeout as delay } from "node:timers/promises";

const PATIENCE_MS = 5_000;

interface Orphan {
  readonly pid: number;
  /** Whether it is the server itself, not one of its child processes. */
  readonly server: boolean;
}

/**
 * Ends every process of a server whose owner has ended. PostgreSQL shows its cluster name in the command lines of all its
 * processes; a process id alone may belong to another program by now.
 */
export async function endOrphans(clusterName: string): Promise<void> {
  let orphans = find(clusterName);
  const deadline = Date.now() + PATIENCE_MS;
  for (const { pid, server } of orphans) if (server) signal(pid, "SIGINT");
  while (orphans.length > 0) {
    // Without their server, child processes are left over from a crash; a server that exceeds the timeout is killed too.
    const lost = !orphans.some(({ server }) => server) || Date.now() > deadline;
    if (lost) for (const { pid } of orphans) signal(pid, "SIGKILL");
    await delay(10);
    orphans = find(clusterName);
  }
}

/** Ends every process that still runs in a folder: a killed first start leaves its programs running. */
export async function endOccupants(folder: string): Promise<void> {
  const deadline = Date.now() + PATIENCE_MS;
  // Only PostgreSQL's programs: other processes may have the folder open.
  const occupants = () =>
    commandLines().filter(
      ([pid, command]) =>
        /initdb|postgres/.test(command) && (command.includes(basename(folder)) || workingFolder(pid) === folder),
    );
  for (let found = occupants(); found.length > 0 && Date.now() < deadline; found = occupants()) {
    for (const [pid] of found) signal(pid, "SIGKILL");
    await delay(10);
  }
}

/** Empty when unknown: on other systems, and for processes of other users. */
function workingFolder(pid: number): string {
  try {
    return readlinkSync(`/proc/${pid}/cwd`);
  } catch {
    return "";
  }
}

function find(clusterName: string): Orphan[] {
  return commandLines()
    .filter(([, command]) => command.includes(clusterName))
    .map(([pid, command]) => ({ pid, server: command.includes(`cluster_name=${clusterName}`) }));
}

function commandLines(): [pid: number, command: string][] {
  if (process.platform !== "linux") {
    const { stdout } = spawnSync("ps", ["-axo", "pid=,command="], { encoding: "utf8" });
    return [...(stdout ?? "").matchAll(/^\s*(\d+) (.*)$/gm)].map((row) => [Number(row[1]), row[2]!]);
  }
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => [Number(pid), commandLine(pid)]);
}

/** Empty for a process that has ended, reaped or not. */
function commandLine(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8");
  } catch {
    return "";
  }
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // The process has already ended.
  }
}
