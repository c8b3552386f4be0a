import assert from "node:assert/strict";
import { test } from "node:test";
import { freshTenant, testDatabase } from "../../../../../test/harness/context.ts";
import { until } from "../../../../../test/harness/until.ts";
import { ulid } from "../../../../platform/ids/ulid.ts";
import { insertAcceptedBatches } from "../intake/accept-store.ts";
import { createItemSweeper } from "./item-sweeper.ts";

const db = await testDatabase();
const hourMs = 3_600_000;
const requested = { type: "t", key: "", attributesJson: "{}", requirementsJson: "{}", payloadJson: "{}", priority: 0 };
const decided = { outcome: "queued", recipientId: "", snapshotDigest: "00", seed: 0, evidenceJson: "{}" };
const noGroups = { singleton: "", debounce: "", throttle: "", concurrency: "" };

/** Enqueues an item that cannot be leased before a time; returns a reader of its state. */
async function enqueue(notBeforeMs: number, expiresAtMs = Date.now() + 24 * hourMs) {
  const [tenantId, id, poolId] = [freshTenant(), ulid(Date.now()), ulid(Date.now())];
  const item = {
    recipientId: "",
    delivery: "pull" as const,
    state: "pending" as const,
    ageingS: 60,
    dueAtMs: notBeforeMs,
    notBeforeMs,
    holdReason: "not_before",
    expiresAtMs,
    ownTtl: false,
    groups: noGroups,
    limitGroups: [],
  };
  const decision = { tenantId, id, poolId, ...requested, ...decided };
  await insertAcceptedBatches(db.sql, [{ rows: [{ decision, priority: 0, item, events: [] }], record: undefined }], 0);
  return { state: () => stateOf(id) };
}

async function stateOf(id: string): Promise<string> {
  const [row] = await db.sql<{ state: string }[]>`select state from queue_items where id = ${id}`;
  return row?.state ?? "ended";
}

/** The sweeper of a node whose clock is wrong. */
function sweeperAt(skewMs: number) {
  return sweeperBy(() => Date.now() + skewMs);
}

function sweeperBy(now: () => number) {
  return createItemSweeper({
    db,
    signals: {} as never,
    clock: { now },
    log: {} as never,
    onEnded: () => {},
    pools: {} as never,
    completion: {} as never,
    events: { recordMany: async () => {} } as never,
    wake: () => {},
    expireOffers: async () => [],
  });
}

test("a node whose clock is ahead does not release an item before it is due by the database's clock", async () => {
  const { state } = await enqueue(Date.now() + hourMs / 2);
  await sweeperAt(hourMs).sweep();
  assert.equal(await state(), "pending");
});

test("a node whose clock is behind releases an item that is due by the database's clock", async () => {
  const { state } = await enqueue(Date.now() + 150);
  await until(async () => {
    await sweeperAt(-hourMs).sweep();
    return (await state()) === "ready";
  });
});

test("a node whose clock is ahead does not expire an item that is valid by the database's clock", async () => {
  const { state } = await enqueue(Date.now() - 1000, Date.now() + hourMs / 2);
  await sweeperAt(hourMs).sweep();
  assert.equal(await state(), "ready");
});

test("a node whose clock is behind expires an item that is too old by the database's clock", async () => {
  const { state } = await enqueue(Date.now() - 2000, Date.now() - 1000);
  await sweeperAt(-hourMs).sweep();
  assert.equal(await state(), "ended");
});

test("a node whose clock is set back ends pauses as before", async () => {
  let nowMs = Date.now();
  const sweeper = sweeperBy(() => nowMs);
  await sweeper.sweep();
  nowMs -= hourMs;
  const [tenantId, poolId] = [freshTenant(), ulid(Date.now())];
  await db.sql`
    insert into queue_states (tenant_id, pool_id, paused, paused_at, resume_at)
    values (${tenantId}, ${poolId}, true, now(), now())`;
  await until(async () => {
    await sweeper.sweep();
    const [row] = await db.sql<{ paused: boolean }[]>`select paused from queue_states where pool_id = ${poolId}`;
    return !row!.paused;
  });
});

test("the database's clock decides whether a new item is ready", async () => {
  assert.equal(await (await enqueue(Date.now() - 1000)).state(), "ready");
  assert.equal(await (await enqueue(Date.now() + hourMs)).state(), "pending");
});
