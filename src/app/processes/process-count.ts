import { availableParallelism } from "node:os";
import type { Config } from "../../config/index.ts";

/** With fewer processors, the processes would take them from the database. */
const processorsMin = 4;

/** The number of processes of a node's machine. */
export function processCountOf(
  { "server.processes": processes }: Pick<Config, "server.processes">,
  processors = availableParallelism(),
): number {
  if (processes !== "auto") return processes;
  return processors < processorsMin ? 1 : processors - 1;
}
