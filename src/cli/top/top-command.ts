import { setTimeout as delay } from "node:timers/promises";
import { send } from "../connection/client.ts";
import { type CommonOptions, toRetryPolicy } from "../connection/common-options.ts";
import { type Connection, resolveConnection } from "../connection/connection.ts";
import { CliError, exitCodeOf, exitCodes } from "../exit-codes.ts";
import type { Io } from "../io.ts";
import { tableText } from "../output/table.ts";
import { compareSamples, type QueueSample, readProcesses, type TopSample } from "./top-sample.ts";

interface TopOptions extends CommonOptions {
  readonly once?: boolean;
}

/** Rates are of one second, because the service renders its metrics once a second. */
const intervalMs = 1100;
const queuesMax = 15;

/** Shows what the processes and the queues of a service are doing, until it is interrupted. */
export async function topCommand(io: Io, options: TopOptions): Promise<number> {
  const connection = await resolveConnection(io, options);
  let before = await takeSample(connection, options);
  for (;;) {
    await delay(intervalMs);
    const now = await takeSample(connection, options);
    const changes = compareSamples(before, now);
    before = now;
    if (options.json) io.out(`${JSON.stringify(changes)}\n`);
    // Moves to the top left, and clears what is below.
    else io.out(`${options.once ? "" : "\x1b[H\x1b[J"}${screenOf(connection, changes, io.columns)}\n`);
    if (options.once) return exitCodes.ok;
  }
}

async function takeSample(connection: Connection, options: TopOptions): Promise<TopSample> {
  const metrics = (await read(connection, options, "/metrics")).toString();
  const processes = readProcesses(`\n${metrics}`);
  const { data } = JSON.parse((await read(connection, options, "/api/queues?limit=100")).toString());
  // Numbers of 64 bits are texts in JSON.
  const queues = (data as Record<keyof QueueSample, string | number>[]).map((queue): QueueSample => {
    const { depth, in_flight, oldest_age_s, throughput_today } = queue;
    return {
      pool_name: String(queue.pool_name),
      ...{ depth: Number(depth), in_flight: Number(in_flight) },
      ...{ oldest_age_s: Number(oldest_age_s), throughput_today: Number(throughput_today) },
    };
  });
  return { atMs: Date.now(), processes, queues };
}

async function read(connection: Connection, options: TopOptions, target: string): Promise<Buffer> {
  const request = { verb: "GET", target, headers: {}, body: undefined };
  const { status, body, problem } = await send(connection, request, toRetryPolicy(options), () => {});
  if (problem === undefined) return body;
  const advice = target === "/metrics" && status === 404 ? " (server.metrics_private hides them here)" : "";
  throw new CliError(`${target}: HTTP ${status}${advice}`, exitCodeOf(status, undefined));
}

function screenOf(
  { address }: Connection,
  { processes, queues }: ReturnType<typeof compareSamples>,
  width: number,
): string {
  const processRows = processes.map((each) => [
    ...[each.process || "1", String(each.pid), `${each.uptime_s} s`, each.calls_per_s.toFixed(1)],
    ...[`${Math.round(each.cpu_share * 100)} %`, `${Math.round(each.memory_bytes / 2 ** 20)} MB`],
    ...[`${each.late_p50_ms.toFixed(1)} ms`, `${each.late_p99_ms.toFixed(1)} ms`],
  ]);
  const queueRows = queues
    .slice(0, queuesMax)
    .map((each) => [
      ...[each.pool, String(each.depth), String(each.in_flight)],
      ...[`${Math.round(each.oldest_s)} s`, each.completed_per_s.toFixed(1)],
    ]);
  const headings = ["process", "pid", "up", "calls/s", "cpu", "memory", "late p50", "late p99"];
  return [
    address,
    "",
    tableText(headings, processRows, width) ?? "",
    "",
    tableText(["queue", "waiting", "in flight", "oldest", "done/s"], queueRows, width) ?? "",
  ].join("\n");
}
