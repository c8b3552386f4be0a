import type { TestContext } from "node:test";
import { type NodeProcess, startNodeProcess } from "../harness/node-process.ts";
import { freshDatabase } from "../harness/postgres.ts";
import { until } from "../harness/until.ts";

/** An admin key of the platform tenant. */
export const key = "sk_test_processes_0123456789abcdef";

/** A machine with several processes and a database of its own. */
export async function startProcesses(t: Pick<TestContext, "after">, settings: Readonly<Record<string, string>> = {}) {
  const { url, sql, drop } = await freshDatabase();
  const machine = await startNodeProcess({
    ...{ "server.processes": "2", "database.url": url, "auth.bootstrap_api_key": key },
    ...settings,
  });
  t.after(async () => {
    await machine.kill();
    await drop();
  });
  return { machine, sql };
}

/** The values of a metric, by the labels of each series. */
export async function readMetric({ baseUrl }: NodeProcess, name: string): Promise<Map<string, number>> {
  // A process that was just killed takes its connections with it.
  const read = async () => (await fetch(`${baseUrl}/metrics`, { headers: { connection: "close" } })).text();
  const text = await until(() => read().catch(() => undefined));
  const lines = text!.matchAll(new RegExp(`^${name}(?:\\{(.*)\\})? (\\S+)$`, "gm"));
  return new Map(Array.from(lines, ([, labels = "", value]) => [labels, Number(value)]));
}

/** The ids of the processes, by their numbers. All of them serve. */
export async function pidsOf(machine: NodeProcess): Promise<number[]> {
  const pids = await until(
    () => readMetric(machine, "process_pid"),
    (found) => found.size === 2,
  );
  return [...pids.values()];
}
