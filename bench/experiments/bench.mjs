// Experiments: exposures beside route accepts, repeats beside reads, scores beside raw inserts, results of many units, and
// assignment in process beside GrowthBook's SDK.
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { startEmbedded } from "../../src/platform/db/embedded/embedded.ts";
import { callOk } from "../notifications/call.mjs";
import { authorized, startService } from "../routing/ours/service.mjs";
import { printTable, show } from "../routing/report.mjs";
import { measureInProcess } from "./in-process.mjs";
import { measureResults } from "./results.mjs";
import { measureScores } from "./scores.mjs";

const run = promisify(execFile);
const load = join(import.meta.dirname, "../load.mjs");
const uniqueText = "unit-0000000000000000";

export async function bench({ seconds, rounds }) {
  const dataDir = mkdtempSync(join(tmpdir(), "switchyard-bench-"));
  const database = await startEmbedded({ dataDir });
  let us;
  try {
    us = await startService({ databaseUrl: database.url });
    const call = (method, path, body) => callOk(us.port, method, path, body);
    const start = async (key) => {
      const variants = [
        { key: "control", weight: 1 },
        { key: "treatment", weight: 1 },
      ];
      const draft = { key, variants, metrics: [{ key: "revenue", type: "mean" }] };
      const { data } = await call("POST", "/api/experiments", draft);
      await call("POST", `/api/experiments/${data.id}/start`, {});
      return data;
    };
    const { data: pool } = await call("POST", "/api/pools", { name: "bench" });
    await call("POST", `/api/pools/${pool.id}/recipients`, { name: "r" });
    const calls = await measureCalls(us, (await start("calls")).id, pool.id, { seconds, rounds });
    const { id: experimentId } = await start("scores");
    const scores = await measureScores({ call, databaseUrl: database.url, experimentId, seconds, pid: us.pid });
    const results = await measureResults(call, database.url, await start("results"));
    const inProcess = await measureInProcess();
    print({ calls, scores, results, inProcess });
    return { calls, scores, results, inProcess };
  } finally {
    await us?.stop();
    await database.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
}

async function measureCalls({ port, pid }, experimentId, poolId, { seconds, rounds }) {
  const post = (path, body) => ({ method: "POST", path, headers: authorized, body: JSON.stringify(body) });
  const assign = `/api/experiments/${experimentId}/assign`;
  const route = { pool_id: poolId, type: "task", key: uniqueText };
  const lanes = [
    ["first exposure", { ...post(assign, { unit: uniqueText }), uniqueText }],
    ["route accept", { ...post("/api/route", route), uniqueText }],
    ["repeated exposure", post(assign, { unit: "the same" })],
    ["authenticated read", { method: "GET", path: `/api/pools/${poolId}`, headers: authorized }],
  ];
  const measured = lanes.map(() => []);
  for (let round = 0; round < rounds; round++) {
    for (const [at, [, request]] of lanes.entries()) {
      const { stdout } = await run(process.execPath, [
        load,
        JSON.stringify({ port, pid, connections: 64, seconds, request }),
      ]);
      measured[at].push(JSON.parse(stdout));
    }
  }
  return lanes.map(([name], at) => ({ name, ...median(measured[at]) }));
}

function median(results) {
  const sorted = results.toSorted((a, b) => a.perSecond - b.perSecond);
  return { ...sorted[sorted.length >> 1], errors: results.reduce((sum, each) => sum + each.errors, 0) };
}

const columns = [
  ["", (row) => row.name],
  ["req/s", (row) => show.whole(row.perSecond)],
  ["p50 ms", (row) => show.ms(row.p50Ms)],
  ["p99 ms", (row) => show.ms(row.p99Ms)],
  ["CPU µs", (row) => show.whole(row.cpuUs)],
  ["errors", (row) => String(row.errors)],
];

function print({ calls, scores, results, inProcess }) {
  const [first, route, repeat, read] = calls.map(({ perSecond }) => perSecond);
  printTable("Over HTTP, 64 connections", columns, calls);
  console.log(`First exposure / route accept: ${(first / route).toFixed(2)} (target 1.3)`);
  console.log(`Repeat / authenticated read: ${(repeat / read).toFixed(2)} (target 0.8)`);
  const cpuUs = ({ callerUs, serviceUs, databaseUs }) => callerUs + serviceUs + databaseUs;
  const shown = (rows) => `${show.whole(rows.perSecond)}/s, ${cpuUs(rows).toFixed(1)} µs of CPU time each`;
  console.log(`Scores in batches of 1000: ${shown(scores.scores)}; raw inserts: ${shown(scores.raw)}`);
  console.log(
    `Scores / raw inserts: ${(scores.scores.perSecond / scores.raw.perSecond).toFixed(2)} by rate, ` +
      `${(cpuUs(scores.raw) / cpuUs(scores.scores)).toFixed(2)} by CPU time (target 0.35)`,
  );
  console.log(`Results of ${show.whole(results.units)} units: ${show.ms(results.p50Ms)} ms p50 (target 50)`);
  console.log(
    `Assignment in process: ${inProcess.oursUs.toFixed(2)} µs; GrowthBook's SDK ${inProcess.growthbookUs.toFixed(2)} µs`,
  );
}
