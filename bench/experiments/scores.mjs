// Scores in batches, beside inserts of the same rows without checks by the driver alone.
import { readFileSync } from "node:fs";
import { openDatabase } from "../../src/platform/db/index.ts";
import { cpuMs, databaseCpuMs } from "../workflows/processes.mjs";

const batch = 1000;
const concurrency = 4;
const warmupBatches = 20;

export async function measureScores({ call, databaseUrl, experimentId, seconds, pid }) {
  const units = Array.from({ length: batch }, (_, at) => `unit-${at}`);
  const path = `/api/experiments/${experimentId}`;
  await call("POST", `${path}/assign:batch`, { units: units.map((unit) => ({ unit })) });
  const db = openDatabase(databaseUrl, { maxConnections: concurrency });
  let sent = 0;
  const score = async () => {
    const nth = sent++;
    const scores = units.map((unit) => ({ score_id: `${nth}-${unit}`, unit, metric: "revenue", value: 1 }));
    const { data } = await call("POST", `${path}/scores:batch`, { scores });
    if (data.refused > 0) throw new Error(JSON.stringify(data.results.find(({ error }) => error)));
  };
  const insert = async () => {
    const nth = sent++;
    await db.sql`
      insert into raw_scores
      select repeat('t', 26), repeat('e', 26), ${`${nth}-`} || unit, decode(md5(unit), 'hex'), 0, 1, 'revenue', 1, 1,
        'pending', now(), now()
      from unnest(${units}::text[]) as unit`;
  };
  try {
    await db.sql`create table raw_scores (like experiment_scores including indexes)`;
    const postmaster = await findPostmaster(db.sql);
    return {
      scores: await repeat(score, { seconds, pid, postmaster }),
      raw: await repeat(insert, { seconds, pid, postmaster }),
    };
  } finally {
    await db.close();
  }
}

/** Repeats work concurrently; returns the rows per second, and the CPU time per row. */
async function repeat(work, { seconds, pid, postmaster }) {
  for (let nth = 0; nth < warmupBatches; nth++) await work();
  const cpu = () => ({ own: process.cpuUsage(), service: cpuMs([pid]), database: databaseCpuMs(postmaster) });
  let done = 0;
  const before = cpu();
  const startedAt = performance.now();
  const untilMs = startedAt + seconds * 1000;
  await Promise.all(
    Array.from({ length: concurrency }, async () => {
      while (performance.now() < untilMs) {
        await work();
        done++;
      }
    }),
  );
  const tookMs = performance.now() - startedAt;
  const after = cpu();
  const rows = done * batch;
  const own = process.cpuUsage(before.own);
  return {
    perSecond: (rows / tookMs) * 1000,
    callerUs: (own.user + own.system) / rows,
    serviceUs: ((after.service - before.service) * 1000) / rows,
    databaseUs: ((after.database - before.database) * 1000) / rows,
  };
}

async function findPostmaster(sql) {
  const [{ pid }] = await sql`select pg_backend_pid() as pid`;
  return Number(/^PPid:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))[1]);
}
