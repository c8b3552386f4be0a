// The results of an experiment with many counted units, as its moments hold them.
import { addToMoments, emptyMoments, momentFields } from "../../src/modules/experiments/analysis/index.ts";
import { openDatabase } from "../../src/platform/db/index.ts";

const units = 1_000_000;
const shards = 16;
const variants = 2;

export async function measureResults(call, databaseUrl, { id, tenant_id: tenantId }) {
  const perShard = units / shards / variants;
  const db = openDatabase(databaseUrl, { maxConnections: 1 });
  for (let variant = 0; variant < variants; variant++) {
    for (let shard = 0; shard < shards; shard++) {
      const moments = emptyMoments();
      for (let nth = 0; nth < perShard; nth++) addToMoments(moments, { value: (nth % 10) + variant / 10 });
      const numbers = momentFields.map((field) => moments[field]);
      await db.sql`
        insert into experiment_moments (tenant_id, experiment_id, phase, variant, metric, shard, moments)
        values (${tenantId}, ${id}, 1, ${variant}, 'revenue', ${shard}, ${numbers}::float8[])`;
      await db.sql`
        insert into experiment_unit_counts (tenant_id, experiment_id, phase, variant, shard, units, mature)
        values (${tenantId}, ${id}, 1, ${variant}, ${shard}, ${perShard}, ${perShard})`;
    }
  }
  await db.close();
  const times = [];
  for (let nth = 0; nth < 200; nth++) {
    const startedAt = performance.now();
    const { data } = await call("GET", `/api/experiments/${id}/results`);
    if (data.mature_units !== units) throw new Error(`${data.mature_units} units are counted`);
    times.push(performance.now() - startedAt);
  }
  times.sort((a, b) => a - b);
  return { units, p50Ms: times[times.length >> 1], p99Ms: times[Math.floor(times.length * 0.99)] };
}
