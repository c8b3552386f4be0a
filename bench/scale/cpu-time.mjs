// CPU time from /proc, to the nanosecond: a tick of /proc/…/stat is 10 ms.
import { readdirSync, readFileSync } from "node:fs";

/** The CPU time of a process, in seconds; 0 once it has ended. */
function cpuS(pid) {
  try {
    const threads = readdirSync(`/proc/${pid}/task`);
    return threads.reduce((total, id) => total + threadS(pid, id), 0);
  } catch {
    return 0;
  }
}

function threadS(pid, id) {
  return Number(readFileSync(`/proc/${pid}/task/${id}/schedstat`, "utf8").split(" ")[0]) / 1e9;
}

export function childrenOf(pid) {
  const text = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim();
  return text === "" ? [] : text.split(" ").map(Number);
}

/** The CPU time since this call of the processes that `pids` returns at its beginning and at its end. */
export async function startCpuTime(pids) {
  const before = new Map((await pids()).map((pid) => [pid, cpuS(pid)]));
  return async () => {
    const all = new Set([...before.keys(), ...(await pids())]);
    return [...all].reduce((total, pid) => total + Math.max(0, cpuS(pid) - (before.get(pid) ?? 0)), 0);
  };
}
