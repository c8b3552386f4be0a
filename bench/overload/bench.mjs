// Goodput at 1, 2, 5 and 10 times the saturating load, with and without limits.
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { measureCases } from "../measured-cases.mjs";
import { callOk } from "../notifications/call.mjs";
import { authorized } from "../routing/ours/service.mjs";
import { printTable, show } from "../routing/report.mjs";

const run = promisify(execFile);
const load = join(import.meta.dirname, "../load.mjs");
/** The number of connections, each with one request in flight, that saturates the service. */
const connectionsAtOnce = 64;
const offered = [1, 2, 5, 10];

const variants = [
  { name: "no limits", settings: {} },
  {
    name: `max_concurrent_requests=${connectionsAtOnce}`,
    settings: { "api.max_concurrent_requests": connectionsAtOnce },
  },
  { name: "tenant_rps=500", settings: { "ratelimit.tenant_rps": 500, "ratelimit.burst_s": 1 } },
];

export async function bench({ seconds }) {
  const measured = await measureCases(variants, async (port, { name }) => {
    const loads = await measure(port, Math.min(seconds, 2));
    const peak = Math.max(...loads.map(({ goodPerSecond }) => goodPerSecond));
    return loads.map((row) => ({ limits: name, ...row, ofPeak: row.goodPerSecond / peak }));
  });
  const rows = measured.flat();
  print(rows);
  return { rows };
}

async function measure(port, seconds) {
  const { data: pool } = await callOk(port, "POST", "/api/pools", {
    name: `overload-${Date.now()}`,
    strategy: "round_robin",
    config: { queue: { max_depth: 100_000_000 } },
  });
  const body = JSON.stringify({ pool_id: pool.id, type: "order", key: "k", payload: { order: 4711 } });
  const request = { method: "POST", path: "/api/route", headers: authorized, body };
  const send = async (connections) => {
    const { stdout } = await run(process.execPath, [load, JSON.stringify({ port, connections, seconds, request })]);
    return JSON.parse(stdout);
  };
  // Warm-up: the first seconds of a process are slower.
  await send(connectionsAtOnce);
  const rows = [];
  for (const times of offered) {
    const connections = connectionsAtOnce * times;
    const { perSecond, p50Ms, p99Ms, count, errors } = await send(connections);
    const goodPerSecond = count === 0 ? 0 : (perSecond * Math.max(0, count - errors)) / count;
    rows.push({
      times,
      connections,
      goodPerSecond,
      refusedPerSecond: Math.max(0, perSecond - goodPerSecond),
      p50Ms,
      p99Ms,
    });
  }
  return rows;
}

function print(rows) {
  printTable(
    "Goodput under overload (aim: 90 % of its peak at ten times the load)",
    [
      ["limits", (row) => row.limits],
      ["load", (row) => `${row.times}x`],
      ["connections", (row) => String(row.connections)],
      ["good/s", (row) => show.whole(row.goodPerSecond)],
      ["of peak", (row) => show.percent(row.ofPeak)],
      ["refused/s", (row) => show.whole(row.refusedPerSecond)],
      ["p50 ms", (row) => show.ms(row.p50Ms)],
      ["p99 ms", (row) => show.ms(row.p99Ms)],
    ],
    rows,
  );
}
