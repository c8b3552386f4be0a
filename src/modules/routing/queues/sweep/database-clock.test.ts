import assert from "node:assert/strict";
import { test } from "node:test";
import { freshTenant, testDatabase } from "../../../../../test/harness/context.ts";
import { ulid } from "../../../../platform/ids/ulid.ts";
import { insertParcels } from "../intake/accept-store.ts";
import { createSweeping } from "./item-sweeper.ts";

const db = await testDatabase();
const hourMs = 3_600_000;
const asked = { type: "t", key: "", attributesJson: "{}", requirementsJson: "{}", payloadJson: "{}", priority: 0 };
const decided = { outcome: "queued", recipientId: "", snapshotDigest: "00", seed: 0, evidenceJson: "{}" };
const noGroups = { singleton: "", debounce: "", throttle: "", concurrency: "" };

/** Puts an item on the queue that is not to be handed out before a time; answers with what became of it. */
async function enqueue(notBeforeMs: number) {
  const [tenantId, id, poolId] = [freshTenant(), ulid(Date.now()), ulid(Date.now())];
  const item = {
    recipientId: "",
    delivery: "pull" as const,
    state: "pending" as const,
    ageingS: 60,
    dueAtMs: notBeforeMs,
    notBeforeMs,
    holdReason: "not_before",
    expiresAtMs: Date.now() + 24 * hourMs,
    ownTtl: false,
    groups: noGroups,
    limitGroups: [],
  };
  const decision = { tenantId, id, poolId, ...asked, ...decided };
  await insertParcels(db.sql, [{ rows: [{ decision, priority: 0, item, events: [] }], record: undefined }], 0);
  return { state: () => stateOf(id) };
}

async function stateOf(id: string): Promise<string> {
  const [row] = await db.sql<{ state: string }[]>`select state from queue_items where id = ${id}`;
  return row!.state;
}

/** The sweep of a node whose clock is off. */
function sweepingAt(skewMs: number) {
  return createSweeping({
    db,
    clock: { now: () => Date.now() + skewMs },
    log: {} as never,
    pools: {} as never,
    finishing: {} as never,
    events: { recordMany: async () => ({ wake: () => {} }) } as never,
    wake: () => {},
  });
}

test("an item whose time has not come by the database's clock is not released by a node whose clock is ahead", async () => {
  const { state } = await enqueue(Date.now() + hourMs / 2);
  await sweepingAt(hourMs).sweep();
  assert.equal(await state(), "pending");
});

test("an item whose time has come by the database's clock is released by a node whose clock is behind", async () => {
  const { state } = await enqueue(Date.now() + 150);
  while ((await state()) === "pending") await sweepingAt(-hourMs).sweep();
  assert.equal(await state(), "ready");
});

test("whether an item can be handed out at once is decided by the database's clock", async () => {
  assert.equal(await (await enqueue(Date.now() - 1000)).state(), "ready");
  assert.equal(await (await enqueue(Date.now() + hourMs)).state(), "pending");
});
