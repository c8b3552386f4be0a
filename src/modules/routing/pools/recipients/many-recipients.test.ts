import assert from "node:assert/strict";
import { test } from "node:test";
import {
  BatchCreateRecipientsRequestSchema,
  GetRecipientRequestSchema,
  ListRecipientsRequestSchema,
  Recipient_Status as Status,
} from "../../../../../gen/service/api/recipient_pb.ts";
import { type ContextChoice, failsWith, perform } from "../../../../../test/harness/context.ts";
import { classifyDatabaseError } from "../../../../platform/db/index.ts";
import { ulid } from "../../../../platform/ids/ulid.ts";
import { createPoolFixture } from "../testing/pool-fixture.ts";

const { db, events, pools, handlers: all, newTenant, createPool, createRecipient } = await createPoolFixture();
const handlers = all.recipients;

async function newPool() {
  const tenantId = await newTenant();
  return { tenantId, poolId: (await createPool({ tenantId })).id };
}
async function get(choice: ContextChoice, recipientId: string) {
  return (await perform(db, choice, handlers.getRecipient, GetRecipientRequestSchema, { recipientId })).recipient!;
}
async function batch(choice: ContextChoice, poolId: string, recipients: object[]) {
  const request = { poolId, recipients };
  const response = perform(db, choice, handlers.batchCreateRecipients, BatchCreateRecipientsRequestSchema, request);
  return (await response).recipients;
}
async function list(choice: ContextChoice, poolId: string) {
  return perform(db, choice, handlers.listRecipients, ListRecipientsRequestSchema, { poolId });
}
const eventOf = (subject: string) => events.recorded.findLast((event) => event.subject === subject)!;

test("a background job pauses the active recipients of a pool and records an event for each", async () => {
  const { tenantId, poolId } = await newPool();
  const other = await createPool({ tenantId });
  const active = await createRecipient({ tenantId }, poolId);
  const alsoActive = await createRecipient({ tenantId }, poolId);
  const offline = await createRecipient({ tenantId }, poolId, { status: Status.OFFLINE });
  const elsewhere = await createRecipient({ tenantId }, other.id);
  const before = (await pools.snapshot(tenantId, poolId))!;
  const until = new Date(Date.now() + 600_000);
  const why = { reason: "zscore: latency_ms is 5000, and was 100 before", anomalyId: ulid(Date.now()), until };
  const ids = [active.id, offline.id, elsewhere.id, ulid(Date.now())].map((recipientId) => ({ recipientId, ...why }));
  const pauseAll = () =>
    db.transaction((sql) =>
      pools.pauseRecipients({ tenantId, sql, nowMs: Date.now(), afterCommit: sql.afterCommit }, poolId, ids),
    );
  assert.deepEqual(await pauseAll(), [active.id]);
  const after = (await pools.snapshot(tenantId, poolId))!;
  assert.deepEqual(
    after.recipients.map(({ status }) => status),
    ["paused", "active", "offline"],
  );
  assert.notEqual(after.digest, before.digest);
  assert.equal((await get({ tenantId }, alsoActive.id)).recordVersion, 1n);
  assert.deepEqual(eventOf(active.id), {
    tenantId,
    type: "recipient.paused",
    subject: active.id,
    data: {
      ...{ pool_id: poolId, cause: "anomaly", actor: "anomaly-detection", reason: why.reason },
      ...{ anomaly_id: why.anomalyId, until: until.toISOString() },
    },
  });
  const count = events.recorded.length;
  assert.deepEqual(await pauseAll(), []);
  assert.equal(events.recorded.length, count);
});

test("a thousand recipients are added in one call, in the given order, with an event each", async () => {
  const { tenantId, poolId } = await newPool();
  const names = Array.from({ length: 1000 }, (_, n) => `agent ${n}`);
  const created = await batch(
    { tenantId },
    poolId,
    names.map((name, n) => ({ name, weight: n, skills: { any: 3 } })),
  );
  assert.deepEqual(
    created.map(({ name }) => name),
    names,
  );
  assert.deepEqual([created[7]!.weight, created[7]!.skills], [7, { any: 3 }]);
  const recorded = events.recorded.filter((event) => event.tenantId === tenantId && event.type !== "pool.created");
  assert.deepEqual(
    recorded,
    created.map(({ id, name }) => ({
      tenantId,
      type: "recipient.created",
      subject: id,
      data: { pool_id: poolId, name },
    })),
  );
});

test("a batch of recipients is added completely or not at all", async () => {
  const { tenantId, poolId } = await newPool();
  await createRecipient({ tenantId }, poolId, { name: "taken" });
  await assert.rejects(
    batch({ tenantId }, poolId, [{ name: "new" }, { name: "taken" }]),
    (error) => classifyDatabaseError(error)?.code === "ALREADY_EXISTS",
  );
  await assert.rejects(
    batch({ tenantId }, poolId, [{ name: "a" }, { name: "b" }, { name: "a" }]),
    failsWith("INVALID_ARGUMENT", /^recipients\[2\]\.name: /),
  );
  assert.equal((await list({ tenantId }, poolId)).totalSize, 1);
});

test("a pool can have at most 50,000 recipients", async () => {
  const { tenantId, poolId } = await newPool();
  await db.sql`
    insert into recipients (tenant_id, id, pool_id, name, status, weight, capacity, priority, delivery, available_since,
      created_at, updated_at)
    select ${tenantId}, lpad(n::text, 26, '0'), ${poolId}, n::text, 'active', 1, 1, 1, '{}', now(), now(), now()
    from generate_series(1, 49999) n`;
  const full = failsWith("FAILED_PRECONDITION", /at most 50000/);
  await assert.rejects(batch({ tenantId }, poolId, [{ name: "a" }, { name: "b" }]), full);
  await createRecipient({ tenantId }, poolId);
  await assert.rejects(createRecipient({ tenantId }, poolId), full);
});
