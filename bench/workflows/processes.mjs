// CPU time and memory of processes, from /proc.
import { readdirSync, readFileSync } from "node:fs";

// The unit of CPU times in /proc on Linux.
const msPerTick = 10;

function statOf(pid) {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "utf8");
    const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
    return { parent: Number(fields[1]), own: sum(fields.slice(11, 13)), ended: sum(fields.slice(13, 15)) };
  } catch {
    return undefined;
  }
}

/** CPU time of processes in milliseconds. */
export function cpuMs(pids) {
  return sum(pids.map((pid) => statOf(pid)?.own ?? 0)) * msPerTick;
}

/** CPU time of a PostgreSQL server with all of its processes, ended ones included. */
export function databaseCpuMs(postmaster) {
  const own = statOf(postmaster);
  const children = readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(statOf)
    .filter((stat) => stat?.parent === postmaster);
  return (own.own + own.ended + sum(children.map(({ own }) => own))) * msPerTick;
}

/** Resident memory of processes. */
export function residentMb(pids) {
  const kb = pids.map((pid) => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0));
  return Math.round(sum(kb) / 1024);
}

function sum(values) {
  return values.reduce((total, value) => total + Number(value), 0);
}
