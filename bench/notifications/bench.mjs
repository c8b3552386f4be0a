// Notifications: single triggers, the resolver, and a broadcast, each compared with its limit.
import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import postgres from "postgres";
import { startEmbedded } from "../../src/platform/db/embedded/embedded.ts";
import { socketHost } from "../../src/platform/db/embedded/socket-host.ts";
import { authorized, startService } from "../routing/ours/service.mjs";
import { printTable, show } from "../routing/report.mjs";
import { measureBroadcast } from "./broadcast.mjs";
import { callOk } from "./call.mjs";
import { measureDispatch } from "./dispatch.mjs";
import { measureResolver } from "./resolver.mjs";

const run = promisify(execFile);
const load = join(import.meta.dirname, "../load.mjs");

export async function bench({ seconds, rounds }) {
  const dataDir = mkdtempSync(join(tmpdir(), "switchyard-bench-"));
  const database = await startEmbedded({ dataDir });
  const sql = postgres(database.url, { host: socketHost(database.url), max: 4, onnotice: () => {} });
  let us;
  try {
    us = await startService({ databaseUrl: database.url });
    const call = (method, path, body) => callOk(us.port, method, path, body);
    const restart = async () => {
      await us.stop();
      us = await startService({ databaseUrl: database.url });
    };
    await call("PUT", "/api/v2/notification/workflows/news", {
      channels: {
        in_app: { title: "Hello {{ subscriber.first_name }}", body: "Order {{ payload.order }} is on its way." },
      },
    });
    const triggers = await measureTriggers(call, us.port, { seconds, rounds });
    const resolver = measureResolver(seconds);
    // The broadcast is measured without the leftover load of the triggers.
    await restart();
    const residentMb = () => residentMbOf(us.pid);
    const broadcast = await measureBroadcast({ call, sql, members: 100_000, residentMb });
    const dispatch = await measureDispatch({ call, sql, members: 5000 });
    print({ triggers, resolver, broadcast, dispatch });
    return { triggers, resolver, broadcast, dispatch };
  } finally {
    await us?.stop();
    await sql.end();
    await database.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
}

/** Durable triggers to an inbox, compared with durable events, which are our cheapest write. */
async function measureTriggers(call, port, { seconds, rounds }) {
  const { data } = await call("POST", "/api/v2/notification/subscribers", { external_id: "ada", first_name: "Ada" });
  const post = (path, body) => ({ method: "POST", path, headers: authorized, body: JSON.stringify(body) });
  const lanes = [
    [
      "trigger, in_app",
      post("/api/v2/notifications/trigger", { workflow_key: "news", subscriber_id: data.id, payload: { order: 7 } }),
    ],
    ["event (kernel write)", post("/api/events", { type: "order.paid", subject: "order-7", data: { order: 7 } })],
  ];
  const results = lanes.map(() => []);
  for (let round = 0; round < rounds; round++) {
    for (const [i, [, request]] of lanes.entries()) {
      const { stdout } = await run(process.execPath, [
        load,
        JSON.stringify({ port, connections: 64, seconds, request }),
      ]);
      results[i].push(JSON.parse(stdout));
    }
  }
  const rows = lanes.map(([name], i) => ({ name, ...median(results[i]) }));
  return rows.map((row) => ({ ...row, toKernelWrite: row.perSecond / rows[1].perSecond }));
}

function median(results) {
  const sorted = results.toSorted((a, b) => a.perSecond - b.perSecond);
  return { ...sorted[sorted.length >> 1], errors: results.reduce((sum, each) => sum + each.errors, 0) };
}

function residentMbOf(pid) {
  return Math.round(Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))[1]) / 1024);
}

function print({ triggers, resolver, broadcast, dispatch }) {
  printTable(
    "Single triggers, 64 connections",
    [
      ["", (row) => row.name],
      ["x kernel write", (row) => show.ratio(row.toKernelWrite)],
      ["req/s", (row) => show.whole(row.perSecond)],
      ["p50 ms", (row) => show.ms(row.p50Ms)],
      ["p99 ms", (row) => show.ms(row.p99Ms)],
      ["errors", (row) => String(row.errors)],
    ],
    triggers,
  );
  console.log(`\nResolver, one core, without conditions: ${show.whole(resolver.perSecond)} decisions/s`);
  console.log(
    `\nBroadcast to ${show.whole(broadcast.members)} inboxes: ${show.ratio(broadcast.toRawInserts)} of raw inserts ` +
      `(${show.whole(broadcast.perSecond)} deliveries/s; raw ${show.whole(broadcast.rawPerSecond)}/s); ` +
      `at most ${broadcast.residentMbMax} MB resident, ${broadcast.residentMbBefore} MB before`,
  );
  console.log(
    `Broadcast to ${show.whole(dispatch.members)} telephones: ${show.ratio(dispatch.toBareLoop)} of the bare loop ` +
      `(${show.whole(dispatch.perSecond)} messages/s; bare ${show.whole(dispatch.barePerSecond)}/s)`,
  );
}
