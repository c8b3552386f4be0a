import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { freshDatabase, type TestDatabase } from "../../../../test/harness/postgres.ts";
import { type Database, openDatabase } from "../../../platform/db/index.ts";
import { lowestUlid, ulid } from "../../../platform/ids/ulid.ts";
import { deleteExpiredNotificationsJob } from "./retention-job.ts";

const dayMs = 86_400_000;
const nowMs = Date.now();
const tenantId = ulid(nowMs);
let created = 0;
let database: TestDatabase;
let db: Database;
before(async () => {
  database = await freshDatabase();
  db = openDatabase(database.url, { maxConnections: 2 });
});
after(async () => {
  await db.close();
  await database.drop();
});

/** Stores a delivery of some days ago with an observation, an inbox message, an outbox message and a dead letter. */
async function storeDelivery(daysAgo: number, status: string): Promise<string> {
  const at = new Date(nowMs - daysAgo * dayMs);
  const id = lowestUlid(at.getTime()).slice(0, -1) + String(created++);
  const subscriberId = id;
  const { sql } = database;
  await sql`
    insert into notification_deliveries (tenant_id, id, transaction_id, workflow_key, subscriber_id, channel, status,
      preference_reason_code, resolver_version, queued_at)
    values (${tenantId}, ${id}, ${id}, 'w', ${subscriberId}, 'in_app', ${status}, 'allowed_default', 'v', ${at})`;
  await sql`
    insert into notification_inbox (tenant_id, subscriber_id, id, workflow_key, body, created_at)
    values (${tenantId}, ${subscriberId}, ${id}, 'w', 'B', ${at})`;
  await sql`
    insert into notification_outbox (tenant_id, id, workflow_key, channel, recipient, body, created_at)
    values (${tenantId}, ${id}, 'w', 'sms', 'r', 'B', ${at})`;
  await sql`
    insert into notification_observations (tenant_id, delivery_id, sequence, kind, category, occurred_at, received_at,
      adapter_key, adapter_version, verification, provider_event_id, evidence_digest)
    values (${tenantId}, ${id}, 1, 'read', 'engagement', ${at}, ${at}, 'inbox', '1', 'sdk', ${id}, '')`;
  await sql`
    insert into notification_broadcasts (tenant_id, transaction_id, workflow_key, topic_key, cutoff, manifest, status,
      created_at, updated_at)
    values (${tenantId}, ${id}, 'w', 't', '', '{}', ${status === "sent" ? "completed" : "expanding"}, ${at}, ${at})`;
  await sql`
    insert into notification_payloads (tenant_id, transaction_id, body, digest, created_at, expires_at)
    values (${tenantId}, ${id}, '{}', '', ${at}, ${new Date(at.getTime() + 7 * dayMs)})`;
  await sql`
    insert into notification_dead_letters (tenant_id, id, kind, delivery_id, transaction_id, failure_phase, failure_code,
      attempts, first_failed_at, last_failed_at, payload_digest, payload_expires_at, status)
    values (${tenantId}, ${id}, 'delivery', ${id}, ${id}, 'render', 'syntax_error', 1, ${at}, ${at}, '',
      ${new Date(at.getTime() + 7 * dayMs)}, 'open')`;
  return id;
}

async function idsIn(table: string, column = "id"): Promise<string[]> {
  const rows = await database.sql`select ${database.sql(column)} as id from ${database.sql(table)} order by 1`;
  return rows.map(({ id }) => id);
}

test("an ended delivery older than its retention is deleted with all its records, and one in progress is not", async () => {
  const [, inProgress, recent, fresh] = [
    await storeDelivery(40, "sent"),
    await storeDelivery(40, "queued"),
    await storeDelivery(10, "sent"),
    await storeDelivery(1, "sent"),
  ];
  const clock = { now: () => nowMs };
  const job = deleteExpiredNotificationsJob({
    db,
    clock,
    retentionDays: 30,
    observationRetentionDays: 7,
    platformTenantId: () => tenantId,
  });
  const { signal } = new AbortController();
  await job.handler({ tenantId, id: ulid(nowMs), payload: {}, attempt: 1, signal });
  const retained = [inProgress, recent, fresh].sort();
  for (const table of ["notification_deliveries", "notification_inbox", "notification_outbox"]) {
    assert.deepEqual(await idsIn(table), retained, table);
  }
  assert.deepEqual(
    await idsIn("notification_observations", "delivery_id"),
    [fresh],
    "observations are stored for a week",
  );
  assert.deepEqual(await idsIn("notification_broadcasts", "transaction_id"), retained);
  assert.deepEqual(await idsIn("notification_payloads", "transaction_id"), [fresh]);
  const letters = await database.sql`select id, status from notification_dead_letters order by id`;
  assert.deepEqual(
    letters.map(({ id, status }) => [id, status]),
    [
      [recent, "expired"],
      [fresh, "open"],
    ],
  );
});
