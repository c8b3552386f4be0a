import assert from "node:assert/strict";
import { test } from "node:test";
import {
  DeletePoolRequestSchema,
  GetPoolRequestSchema,
  ListPoolsRequestSchema,
  SetPoolEnabledRequestSchema,
  Pool_Status as Status,
  UpdatePoolRequestSchema,
} from "../../../../gen/service/api/pool_pb.ts";
import { type ContextChoice, failsWith, perform } from "../../../../test/harness/context.ts";
import { classifyDatabaseError } from "../../../platform/db/index.ts";
import { ulid } from "../../../platform/ids/ulid.ts";
import { createPoolFixture } from "./testing/pool-fixture.ts";

const { db, events, pools, handlers, newTenant, environmentId, createPool, createRecipient, createRule, putItem } =
  await createPoolFixture();

async function update(choice: ContextChoice, poolId: string, change: object) {
  const response = perform(db, choice, handlers.pools.updatePool, UpdatePoolRequestSchema, { poolId, ...change });
  return (await response).pool!;
}
async function get(choice: ContextChoice, poolId: string) {
  return (await perform(db, choice, handlers.pools.getPool, GetPoolRequestSchema, { poolId })).pool!;
}
async function setEnabled(choice: ContextChoice, poolId: string, enabled: boolean) {
  const request = { poolId, enabled };
  return (await perform(db, choice, handlers.pools.setPoolEnabled, SetPoolEnabledRequestSchema, request)).pool!;
}
async function remove(choice: ContextChoice, poolId: string) {
  return (await perform(db, choice, handlers.pools.deletePool, DeletePoolRequestSchema, { poolId })).pool!;
}
async function list(choice: ContextChoice, request = {}) {
  return perform(db, choice, handlers.pools.listPools, ListPoolsRequestSchema, request);
}
const eventOf = (subject: string) => events.recorded.findLast((event) => event.subject === subject)!;

test("a new pool is active in production, chooses by weight and returns all config defaults", async () => {
  const tenantId = await newTenant();
  const pool = await createPool({ tenantId }, { name: "sales" });
  assert.equal(pool.environmentId, await environmentId(tenantId, "production"));
  assert.deepEqual([pool.strategy, pool.status, pool.recordVersion], ["weighted_random", Status.ACTIVE, 1n]);
  assert.deepEqual([pool.recipientIds, pool.recipientCount, pool.ruleIds, pool.ruleCount], [[], 0, [], 0]);
  assert.equal(pool.config!.lease!.durationS, 30);
  assert.deepEqual(pool.config!.anomaly!.actions, ["alert", "log"]);
  assert.equal(pool.config!.admission!.singleton, undefined);
  assert.deepEqual(await get({ tenantId }, pool.id), pool);
  assert.deepEqual(eventOf(pool.id), {
    tenantId,
    type: "pool.created",
    subject: pool.id,
    data: { name: "sales", strategy: "weighted_random", environment_id: pool.environmentId },
  });
});

test("a pool returns the ids and counts of its members", async () => {
  const tenantId = await newTenant();
  const { id } = await createPool({ tenantId });
  const first = await createRecipient({ tenantId }, id);
  const second = await createRecipient({ tenantId }, id);
  const rule = await createRule({ tenantId }, id);
  for (const pool of [await get({ tenantId }, id), (await list({ tenantId })).pools[0]!]) {
    assert.deepEqual([pool.recipientIds, pool.recipientCount], [[first.id, second.id], 2]);
    assert.deepEqual([pool.ruleIds, pool.ruleCount], [[rule.id], 1]);
  }
});

test("a name is unique within its environment and free again after its pool is archived", async () => {
  const tenantId = await newTenant();
  const { id } = await createPool({ tenantId }, { name: "one" });
  const again = () => createPool({ tenantId }, { name: "one" });
  await assert.rejects(again(), (error) => {
    const refusal = classifyDatabaseError(error);
    assert.equal(refusal?.code, "ALREADY_EXISTS");
    const message = "is taken by another record with the same environment_id";
    assert.deepEqual(refusal.violations, [{ field: "name", rule: "unique", message }]);
    return true;
  });
  await createPool({ tenantId }, { name: "one", environmentId: await environmentId(tenantId, "staging") });
  await remove({ tenantId }, id);
  await again();
});

test("a pool of another tenant and an unknown pool are not found by any operation", async () => {
  const { id } = await createPool({ tenantId: await newTenant() });
  const choice = { tenantId: await newTenant() };
  const none = failsWith("NOT_FOUND", /^No such pool\.$/);
  for (const poolId of [id, ulid(Date.now()), "no id at all"]) {
    await assert.rejects(get(choice, poolId), none);
    await assert.rejects(update(choice, poolId, { name: "mine" }), none);
    await assert.rejects(setEnabled(choice, poolId, false), none);
    await assert.rejects(remove(choice, poolId), none);
  }
});

test("an environment of another tenant is not found; a disabled one accepts no new pools", async () => {
  const tenantId = await newTenant();
  const foreign = await environmentId(await newTenant(), "staging");
  await assert.rejects(createPool({ tenantId }, { environmentId: foreign }), failsWith("NOT_FOUND", /environment/));
  await assert.rejects(list({ tenantId }, { environmentId: foreign }), failsWith("NOT_FOUND", /environment/));
  const staging = await environmentId(tenantId, "staging");
  await db.sql`update environments set status = 'disabled' where tenant_id = ${tenantId} and id = ${staging}`;
  await assert.rejects(
    createPool({ tenantId }, { environmentId: staging }),
    failsWith("FAILED_PRECONDITION", /staging/),
  );
});

test("an update changes only the fields present, and each config field separately", async () => {
  const tenantId = await newTenant();
  const { id } = await createPool({ tenantId }, { description: "first", config: { lease: { durationS: 90 } } });
  const changed = await update({ tenantId }, id, {
    strategy: "priority",
    config: { lease: { heartbeatS: 45 }, admission: { singleton: { key: "item.key" } } },
  });
  assert.deepEqual([changed.description, changed.strategy, changed.recordVersion], ["first", "priority", 2n]);
  assert.deepEqual([changed.config!.lease!.durationS, changed.config!.lease!.heartbeatS], [90, 45]);
  assert.equal(changed.config!.admission!.singleton!.ttlS, 86_400);
  assert.deepEqual(eventOf(id).data, { fields: ["strategy", "config"] });
  const reset = await update({ tenantId }, id, {
    resetConfig: ["lease", "admission.singleton"],
    config: { lease: { durationS: 20 } },
  });
  assert.deepEqual([reset.config!.lease!.durationS, reset.config!.lease!.heartbeatS], [20, 10]);
  assert.equal(reset.config!.admission!.singleton, undefined);
});

test("a list in a config stays until it is replaced or reset", async () => {
  const tenantId = await newTenant();
  const config = { fallback: { steps: [{ afterS: 5 }] }, anomaly: { methods: ["iqr"] } };
  const { id } = await createPool({ tenantId }, { config });
  const other = { fallback: { onNoMatch: "reject" }, anomaly: { enabled: false } };
  const updated = await update({ tenantId }, id, { config: other });
  assert.deepEqual([updated.config!.fallback!.steps.length, updated.config!.anomaly!.methods], [1, ["iqr"]]);
  const reset = await update({ tenantId }, id, { resetConfig: ["fallback.steps"] });
  assert.deepEqual([reset.config!.fallback!.steps, reset.config!.fallback!.onNoMatch], [[], "reject"]);
});

test("concurrent changes of different config sections are all applied", async () => {
  const tenantId = await newTenant();
  const { id } = await createPool({ tenantId });
  await Promise.all([
    update({ tenantId }, id, { config: { lease: { durationS: 99 } } }),
    update({ tenantId }, id, { config: { queue: { maxDepth: 7 } } }),
    update({ tenantId }, id, { config: { dlq: { maxRetries: 1 } } }),
  ]);
  const { config, recordVersion } = await get({ tenantId }, id);
  assert.deepEqual([config!.lease!.durationS, config!.queue!.maxDepth, config!.dlq!.maxRetries], [99, 7, 1]);
  assert.equal(recordVersion, 4n);
});

test("an update of an outdated version is rejected and reports the current version", async () => {
  const tenantId = await newTenant();
  const { id } = await createPool({ tenantId });
  await update({ tenantId }, id, { description: "second", recordVersion: 1n });
  await assert.rejects(
    update({ tenantId }, id, { name: "x", recordVersion: 1n }),
    failsWith("VERSION_CONFLICT", /version 2/),
  );
  assert.equal((await get({ tenantId }, id)).recordVersion, 2n);
});

test("a config with an invalid expression is rejected with its field and position", async () => {
  const tenantId = await newTenant();
  const refusals: [config: object, field: RegExp][] = [
    [{ selection: { hashKey: "item.key +" } }, /^config\.selection\.hash_key: line 1, column \d+: /],
    [{ selection: { hashKey: "recipient.id" } }, /^config\.selection\.hash_key: .*recipient/],
    [
      { fallback: { steps: [{ afterS: 9 }, { afterS: 3, condition: "item.(" }] } },
      /^config\.fallback\.steps\[1\]\.condition: /,
    ],
    [{ fallback: { steps: [{ condition: "1 + 1" }] } }, /^config\.fallback\.steps\[0\]\.condition: .*bool/],
    [{ admission: { concurrency: { key: "recipient.id", limit: 1 } } }, /^config\.admission\.concurrency\.key: /],
    [{ lease: { heartbeatS: 30 } }, /config\.lease\.heartbeat_s/],
  ];
  const { id } = await createPool({ tenantId });
  for (const [config, text] of refusals) {
    await assert.rejects(createPool({ tenantId }, { config }), failsWith("INVALID_ARGUMENT", text));
    await assert.rejects(update({ tenantId }, id, { config }), failsWith("INVALID_ARGUMENT", text));
  }
  assert.equal((await get({ tenantId }, id)).recordVersion, 1n);
});

test("items are redirected to another pool of the same environment only", async () => {
  const tenantId = await newTenant();
  const { id } = await createPool({ tenantId });
  const elsewhere = await createPool({ tenantId }, { environmentId: await environmentId(tenantId, "staging") });
  const foreign = await createPool({ tenantId: await newTenant() });
  const archived = await createPool({ tenantId });
  await remove({ tenantId }, archived.id);
  const redirect = (redirectPoolId: string) =>
    update({ tenantId }, id, { config: { fallback: { onNoMatch: "redirect_pool", redirectPoolId } } });
  for (const wrong of [id, elsewhere.id, foreign.id, archived.id, ulid(Date.now())]) {
    await assert.rejects(redirect(wrong), failsWith("INVALID_ARGUMENT", /^config\.fallback\.redirect_pool_id: /));
  }
  const other = await createPool({ tenantId });
  assert.equal((await redirect(other.id)).config!.fallback!.redirectPoolId, other.id);
  // The target may be archived; other changes stay possible.
  await remove({ tenantId }, other.id);
  assert.equal((await update({ tenantId }, id, { description: "still" })).description, "still");
});

test("a pool can be disabled and enabled; enabling an active pool changes nothing", async () => {
  const tenantId = await newTenant();
  const { id } = await createPool({ tenantId });
  assert.equal((await setEnabled({ tenantId }, id, false)).status, Status.DISABLED);
  assert.equal(eventOf(id).type, "pool.disabled");
  assert.equal((await setEnabled({ tenantId }, id, true)).status, Status.ACTIVE);
  assert.equal(eventOf(id).type, "pool.enabled");
  const recorded = events.recorded.length;
  assert.equal((await setEnabled({ tenantId }, id, true)).recordVersion, 3n);
  assert.equal(events.recorded.length, recorded);
});

test("an archived pool can be read but not changed", async () => {
  const tenantId = await newTenant();
  const { id } = await createPool({ tenantId });
  const archived = await remove({ tenantId }, id);
  assert.deepEqual([archived.status, eventOf(id).type], [Status.ARCHIVED, "pool.archived"]);
  assert.deepEqual(await get({ tenantId }, id), archived);
  assert.deepEqual(await remove({ tenantId }, id), archived, "archiving again changes nothing");
  const refused = failsWith("FAILED_PRECONDITION", /archived/);
  await assert.rejects(update({ tenantId }, id, { name: "back" }), refused);
  await assert.rejects(setEnabled({ tenantId }, id, true), refused);
  await assert.rejects(createRecipient({ tenantId }, id), refused);
  await assert.rejects(createRule({ tenantId }, id), refused);
});

test("a pool with queued or leased items cannot be archived", async () => {
  const tenantId = await newTenant();
  for (const state of ["pending", "held", "ready", "leased"]) {
    const { id } = await createPool({ tenantId });
    const item = ulid(Date.now());
    await putItem(tenantId, id, item, state);
    await assert.rejects(remove({ tenantId }, id), failsWith("FAILED_PRECONDITION", /drain/));
    assert.equal((await get({ tenantId }, id)).status, Status.ACTIVE);
    await db.sql`delete from queue_items where tenant_id = ${tenantId} and id = ${item}`;
    assert.equal((await remove({ tenantId }, id)).status, Status.ARCHIVED);
  }
});

test("a list filters the caller's pools by status and environment; archived ones only on request", async () => {
  const tenantId = await newTenant();
  await createPool({ tenantId: await newTenant() });
  const staging = await environmentId(tenantId, "staging");
  const one = await createPool({ tenantId });
  const off = await createPool({ tenantId }, { status: Status.DISABLED });
  const staged = await createPool({ tenantId }, { environmentId: staging });
  const archived = await createPool({ tenantId });
  await remove({ tenantId }, archived.id);
  const ids = async (request: object) => (await list({ tenantId }, request)).pools.map(({ id }) => id);
  assert.deepEqual(await ids({}), [one.id, off.id, staged.id]);
  assert.deepEqual(await ids({ status: Status.DISABLED }), [off.id]);
  assert.deepEqual(await ids({ status: Status.ARCHIVED }), [archived.id]);
  assert.deepEqual(await ids({ environmentId: staging }), [staged.id]);
  const first = await list({ tenantId }, { pageSize: 2 });
  const second = await list({ tenantId }, { pageSize: 2, pageToken: first.nextPageToken });
  assert.deepEqual(
    [...first.pools, ...second.pools].map(({ id }) => id),
    [one.id, off.id, staged.id],
  );
  assert.deepEqual([first.totalSize, second.totalSize, second.nextPageToken], [3, 3, ""]);
  await assert.rejects(
    list({ tenantId }, { pageToken: first.nextPageToken, environmentId: staging }),
    failsWith("INVALID_ARGUMENT", /page_token/),
  );
});

test("a caller restricted to some environments cannot read or change pools of others", async () => {
  const tenantId = await newTenant();
  const production = await environmentId(tenantId, "production");
  const staging = await environmentId(tenantId, "staging");
  const live = await createPool({ tenantId });
  const trial = await createPool({ tenantId }, { environmentId: staging });
  const cases = [
    { environmentMode: "production_only", own: live, other: trial, forbidden: staging },
    { environmentMode: "non_production_only", own: trial, other: live, forbidden: production },
  ] as const;
  for (const { environmentMode, own, other, forbidden } of cases) {
    const choice = { tenantId, environmentMode };
    assert.deepEqual(
      (await list(choice)).pools.map(({ id }) => id),
      [own.id],
    );
    assert.equal((await get(choice, own.id)).id, own.id);
    const denied = failsWith("PERMISSION_DENIED");
    await assert.rejects(get(choice, other.id), denied);
    await assert.rejects(update(choice, other.id, { name: "mine" }), denied);
    await assert.rejects(setEnabled(choice, other.id, false), denied);
    await assert.rejects(remove(choice, other.id), denied);
    await assert.rejects(list(choice, { environmentId: forbidden }), denied);
    await assert.rejects(createPool(choice, { environmentId: forbidden }), denied);
    await assert.rejects(createRecipient(choice, other.id), denied);
    await assert.rejects(createRule(choice, other.id), denied);
  }
});

test("the names and ids that belong to pools of any environment are found, without archived pools", async () => {
  const tenantId = await newTenant();
  const sales = await createPool({ tenantId }, { name: "sales" });
  const staging = await environmentId(tenantId, "staging");
  const support = await createPool({ tenantId }, { name: "support", environmentId: staging });
  const old = await createPool({ tenantId }, { name: "old" });
  await remove({ tenantId }, old.id);
  const wanted = ["sales", support.id, "support", "old", old.id, "nothing"];
  const found = await pools.findPools(db.sql, tenantId, wanted);
  assert.deepEqual(
    wanted.filter((name) => found.has(name)),
    ["sales", support.id, "support"],
  );
  assert.equal((await pools.findPools(db.sql, await newTenant(), ["sales", sales.id])).size, 0);
});
