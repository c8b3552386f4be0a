import assert from "node:assert/strict";
import { test } from "node:test";
import { untilBlocked } from "../../../../../test/harness/blocked-statements.ts";
import { freshTenant, testDatabase } from "../../../../../test/harness/context.ts";
import type { TenantId } from "../../../../platform/access/index.ts";
import { classifyDatabaseError } from "../../../../platform/db/index.ts";
import { ulid } from "../../../../platform/ids/ulid.ts";
import { createEmptyGroup, insertMissingGroupsSql, type OwnedGroup } from "../../admission/index.ts";
import type { PoolId } from "../../pools/index.ts";
import { closeEmptyQueue } from "../close-queue.ts";
import type { AcceptRequest } from "./accept-request.ts";
import { insertAcceptedBatches } from "./accept-store.ts";
import { createAcceptor } from "./acceptor.ts";

const db = await testDatabase();
const poolId = ulid(Date.now());

/** A call that queues items. */
function requestOf(tenantId: TenantId, ids: readonly string[]): AcceptRequest {
  return {
    tenantId,
    nowMs: Date.now(),
    items: ids.map((id) => ({ id, poolId, admission: undefined, push: false })),
    claim: undefined,
    toBatch: () => ({
      rows: ids.map((id) => ({
        decision: {
          tenantId,
          id,
          poolId,
          type: "t",
          key: "",
          attributesJson: "{}",
          requirementsJson: "{}",
          payloadJson: "{}",
          priority: 0,
          outcome: "queued",
          recipientId: "",
          snapshotDigest: "00",
          seed: 0,
          evidenceJson: "{}",
        },
        priority: 0,
        item: {
          recipientId: "",
          delivery: "pull" as const,
          state: "ready" as const,
          ageingS: 0,
          dueAtMs: undefined,
          holdReason: "",
          expiresAtMs: Date.now() + 3_600_000,
          ownTtl: false,
          groups: { singleton: "", debounce: "", throttle: "", concurrency: "" },
          limitGroups: [],
        },
        events: [],
      })),
      record: undefined,
    }),
  };
}

test("a call with one item does not wait for the statement of a call with many items", async () => {
  const acceptor = createAcceptor({ db, constrained: {} as never, wake: () => {} });
  const ids = Array.from({ length: 500 }, () => ulid(Date.now()));
  const tenantId = freshTenant();
  let held: Promise<unknown> | undefined;
  await db.transaction(async (sql) => {
    // An insert of the same id waits until this transaction ends.
    await insertAcceptedBatches(sql, [requestOf(tenantId, [ids[499]!]).toBatch([])], 0);
    held = acceptor.accept(requestOf(tenantId, ids));
    held.catch(() => {});
    await untilBlocked(db.sql);
    assert.equal(await acceptor.accept(requestOf(freshTenant(), [ulid(Date.now())])), "accepted");
  });
  await assert.rejects(held!, /duplicate key .* "queue_items_pkey"/);
});

const itemsOf = (tenantId: TenantId) => db.sql`select id from queue_items where tenant_id = ${tenantId}`;

test("the queue of a deleted pool takes no items, and calls to other pools in the same statement are accepted", async () => {
  const acceptor = createAcceptor({ db, constrained: {} as never, wake: () => {} });
  const [deleted, other] = [freshTenant(), freshTenant()];
  assert.equal(await db.transaction((sql) => closeEmptyQueue(sql, deleted, poolId as PoolId)), true);
  const results = await Promise.allSettled(
    [other, deleted, other].map((tenantId) => acceptor.accept(requestOf(tenantId, [ulid(Date.now())]))),
  );
  const shown = results.map((each) =>
    each.status === "fulfilled" ? each.value : classifyDatabaseError(each.reason)?.code,
  );
  assert.deepEqual(shown, ["accepted", "CONFLICT", "accepted"]);
  assert.equal((await itemsOf(deleted)).length, 0);
});

test("a queue is not closed before a statement that queues an item in it has ended", async () => {
  const tenantId = freshTenant();
  let closing: Promise<boolean> | undefined;
  await db.transaction(async (sql) => {
    await insertAcceptedBatches(sql, [requestOf(tenantId, [ulid(Date.now())]).toBatch([])], 7);
    closing = db.transaction((tx) => closeEmptyQueue(tx, tenantId, poolId as PoolId));
    await untilBlocked(db.sql);
  });
  assert.equal(await closing, false, "the pool has an item");
});

test("an item that is queued while its pool is deleted is refused", async () => {
  const acceptor = createAcceptor({ db, constrained: {} as never, wake: () => {} });
  const tenantId = freshTenant();
  let accepting: Promise<unknown> | undefined;
  await db.transaction(async (sql) => {
    assert.equal(await closeEmptyQueue(sql, tenantId, poolId as PoolId), true);
    accepting = acceptor.accept(requestOf(tenantId, [ulid(Date.now())]));
    accepting.catch(() => {});
    await untilBlocked(db.sql);
  });
  await assert.rejects(accepting!, { constraint: "queue_depths_closed" });
  assert.equal((await itemsOf(tenantId)).length, 0);
});

test("a statement that waits for a group holds no counts, so that it deadlocks with nobody", async () => {
  const tenantId = freshTenant();
  const group = { kind: "concurrency", groupId: "g" } as const;
  const owned: OwnedGroup = {
    ...{ tenantId, ...group, environmentId: "e", poolId, stored: false },
    state: createEmptyGroup(group),
  };
  const [first, limited] = [0, 0].map(() => requestOf(tenantId, [ulid(Date.now())]).toBatch([]));
  await insertAcceptedBatches(db.sql, [first!], 3);
  const [row] = limited!.rows;
  const waiting = { ...limited!, rows: [{ ...row!, item: { ...row!.item!, limitGroups: [owned] } }] };
  let accepting: Promise<unknown> | undefined;
  await db.transaction(async (sql) => {
    await insertMissingGroupsSql(sql, [owned], Date.now());
    accepting = insertAcceptedBatches(db.sql, [waiting], 3);
    accepting.catch(() => {});
    await untilBlocked(db.sql);
    await sql`update queue_depths set depth = depth + 1 where tenant_id = ${tenantId} and pool_id = ${poolId}`;
  });
  await accepting;
  assert.equal((await itemsOf(tenantId)).length, 2);
});

test("counts follow the pools of the items; an item that is only tracked is not part of the depth", async () => {
  const [tenantId, another] = [freshTenant(), ulid(Date.now())];
  const { rows } = requestOf(
    tenantId,
    [0, 1, 2, 3].map(() => ulid(Date.now())),
  ).toBatch([]);
  const [one, two, moved, tracked] = rows;
  const batches = [
    { rows: [one!, { ...moved!, decision: { ...moved!.decision, poolId: another } }], record: undefined },
    { rows: [two!, { ...tracked!, item: { ...tracked!.item!, state: "leased" as const } }], record: undefined },
  ];
  await insertAcceptedBatches(db.sql, batches, 0);
  const counts = await db.sql`
    select d.pool_id, d.depth, c.accepted from queue_depths d join queue_daily_counts c using (tenant_id, pool_id, shard)
    where d.tenant_id = ${tenantId} order by d.depth`;
  assert.deepEqual(
    [...counts],
    [
      { poolId: another, depth: 1, accepted: 1 },
      { poolId, depth: 2, accepted: 3 },
    ],
  );
});

test("items of one statement keep their own values, whether all have the same ones or not", async () => {
  const [tenantId, other] = [freshTenant(), freshTenant()];
  const { rows } = requestOf(
    tenantId,
    [0, 1].map(() => ulid(Date.now())),
  ).toBatch([]);
  const [plain, changed] = rows;
  const ofOther = requestOf(other, [ulid(Date.now())]).toBatch([]);
  const different = {
    ...changed!,
    priority: 7,
    decision: {
      ...changed!.decision,
      ...{ requirementsJson: '{"skill":"de"}', priority: 7, recipientId: "r", snapshotDigest: "ff" },
    },
    item: { ...changed!.item!, recipientId: "r", delivery: "push" as const },
  };
  const batches = [{ rows: [plain!, different], record: undefined }, ofOther];
  await insertAcceptedBatches(db.sql, batches, 0);
  const stored = await db.sql`
    select tenant_id, id, pool_id, delivery, recipient_id, decided_for, priority, decided_priority, requirements,
      encode(snapshot_digest, 'hex') as digest
    from queue_items where tenant_id = any(${[tenantId, other]}) order by id`;
  const expected = batches.flatMap((batch) =>
    batch.rows.map(({ decision, item }) => ({
      ...{ tenantId: decision.tenantId, id: decision.id, poolId, delivery: item!.delivery },
      ...{ recipientId: decision.recipientId, decidedFor: decision.recipientId },
      ...{ priority: decision.priority, decidedPriority: decision.priority },
      ...{ requirements: JSON.parse(decision.requirementsJson), digest: decision.snapshotDigest },
    })),
  );
  assert.deepEqual(
    [...stored],
    expected.toSorted((a, b) => (a.id < b.id ? -1 : 1)),
  );
});

test("a statement without calls, because each of them repeats an earlier one, adds nothing", async () => {
  assert.deepEqual(await insertAcceptedBatches(db.sql, [], 0), new Set());
});
