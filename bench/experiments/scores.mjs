// Scores in batches, beside inserts of the same rows without checks by the driver alone.
import { openDatabase } from "../../src/platform/db/index.ts";

const batch = 1000;
const concurrency = 4;

export async function measureScores(call, databaseUrl, experimentId, seconds) {
  const units = Array.from({ length: batch }, (_, at) => `unit-${at}`);
  const path = `/api/experiments/${experimentId}`;
  await call("POST", `${path}/assign:batch`, { units: units.map((unit) => ({ unit })) });
  let sent = 0;
  const scored = await repeat(seconds, async () => {
    const nth = sent++;
    const scores = units.map((unit) => ({ score_id: `${nth}-${unit}`, unit, metric: "revenue", value: 1 }));
    const { data } = await call("POST", `${path}/scores:batch`, { scores });
    if (data.refused > 0) throw new Error(JSON.stringify(data.results.find(({ error }) => error)));
  });
  const db = openDatabase(databaseUrl, { maxConnections: concurrency });
  try {
    await db.sql`create table raw_scores (like experiment_scores including indexes)`;
    const inserted = await repeat(seconds, async () => {
      const nth = sent++;
      await db.sql`
        insert into raw_scores
        select repeat('t', 26), repeat('e', 26), ${`${nth}-`} || unit, decode(md5(unit), 'hex'), 0, 1, 'revenue', 1, 1, 'pending', now(), now(), ''
        from unnest(${units}::text[]) as unit`;
    });
    return { scoresPerSecond: scored * batch, rawPerSecond: inserted * batch };
  } finally {
    await db.close();
  }
}

/** Repeats work concurrently; returns how often per second it was done. */
async function repeat(seconds, work) {
  let done = 0;
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
  return (done / (performance.now() - startedAt)) * 1000;
}
