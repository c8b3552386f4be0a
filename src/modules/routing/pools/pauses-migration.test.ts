import assert from "node:assert/strict";
import { test } from "node:test";
import { earlierDatabase } from "../../../../test/harness/earlier-schema.ts";
import { query } from "../../../../test/harness/embedded-owner.ts";

test("after the upgrade, pools still take unaddressed items, and pauses by anomalies are known as such", async (t) => {
  const { url, upgrade } = await earlierDatabase(t, "0051");
  const id = (nth: number) => `0000000000000000000000000${nth}`;
  const [tenant, pool] = [id(0), id(9)];
  await query(
    url,
    `insert into pools (tenant_id, id, environment_id, name, strategy, status, config, created_at, updated_at)
     values ('${tenant}', '${pool}', '${id(0)}', 'p', 'priority', 'active', '{"queue": {"ageingS": 0}}', now(), now())`,
  );
  const pausedAt = "timestamptz '2026-01-01 00:00:00Z'";
  const recipient = (nth: number, status: string, updatedAt: string) =>
    `('${tenant}', '${id(nth)}', '${pool}', '${nth}', '${status}', 100, 0, 100, '{}', now(), now(), ${updatedAt})`;
  await query(
    url,
    `insert into recipients (tenant_id, id, pool_id, name, status, weight, capacity, priority, delivery, available_since,
       created_at, updated_at)
     values ${[
       recipient(1, "paused", pausedAt),
       // Changed since, for example resumed and paused by a person.
       recipient(2, "paused", "now()"),
       recipient(3, "active", pausedAt),
     ].join(", ")}`,
  );
  const anomaly = (nth: number) =>
    `('${tenant}', '${id(nth + 3)}', '${pool}', '${id(nth)}', 'zscore', 'cost', 9, 1, 2, '{auto_pause}', ${pausedAt})`;
  await query(
    url,
    `insert into anomalies (tenant_id, id, pool_id, recipient_id, method, metric, value, baseline, threshold, actions,
       detected_at)
     values ${[1, 2, 3].map(anomaly).join(", ")}`,
  );
  await upgrade();
  assert.deepEqual(await query(url, "select config from pools"), [
    { config: { queue: { ageingS: 0 }, acceptsUnaddressed: true } },
  ]);
  assert.deepEqual(await query(url, "select recipient_id, cause, actor, anomaly_id, resume_at from recipient_pauses"), [
    { recipient_id: id(1), cause: "anomaly", actor: "anomaly-detection", anomaly_id: id(4), resume_at: null },
  ]);
});
