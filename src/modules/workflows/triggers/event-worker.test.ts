import assert from "node:assert/strict";
import { test } from "node:test";
import { until } from "../../../../test/harness/until.ts";
import {
  dies,
  instant,
  type StageTenant,
  startTriggerFixture,
  value,
  waiting,
} from "../../../../test/workflows/trigger-fixture.ts";
import { fail } from "../../../errors/index.ts";

/** Tenants that may start no more runs today. */
const exhausted = new Set<string>();
const fixture = await startTriggerFixture({
  async takeQuota(tenantId) {
    if (exhausted.has(tenantId)) throw fail("QUOTA_EXCEEDED", { public: "The daily quota is exceeded." });
    return undefined;
  },
});
const node = await fixture.manualNode();
const follow = (tenantId: StageTenant["tenantId"]) => fixture.followToEnd(tenantId, node);

async function tenantWith(...documents: { key: string }[]): Promise<StageTenant> {
  const tenant = await fixture.tenant();
  for (const document of documents) await fixture.publish(tenant.tenantId, document);
  return tenant;
}

test("a run starts for each event of a matching type whose condition is true, with the event in its input", async () => {
  const { tenantId } = await tenantWith(instant);
  await fixture.emit(tenantId, "order.paid", { amount: 500 });
  const { id } = await fixture.create(tenantId, {
    event: { types: ["order.*", "invoice.sent"], condition: "event.data.amount > 100" },
    input: value({ amount: "=event.data.amount", at: "=event.time", what: "=event.type + ':' + event.subject" }),
    runKey: "=event.id",
  });
  const paid = await fixture.emit(tenantId, "order.paid", { amount: 200 }, "o1");
  await fixture.emit(tenantId, "order.paid", { amount: 5 });
  await fixture.emit(tenantId, "orders.paid", { amount: 200 });
  const sent = await fixture.emit(tenantId, "invoice.sent", { amount: 300 });
  await follow(tenantId);
  const runs = await fixture.runsOf(tenantId);
  assert.deepEqual(runs.map(({ runKey }) => runKey).sort(), [paid, sent]);
  const { at, ...input } = runs.find(({ runKey }) => runKey === paid)!.state.input as Record<string, string>;
  assert.deepEqual(input, { amount: 200, what: "order.paid:o1" });
  assert.ok(Math.abs(Date.parse(at!) - fixture.clock.now()) < 60_000);
  assert.equal(runs[0]!.origin.via, "event");
  assert.notEqual((await fixture.get(tenantId, id)).lastRunId, "");
});

test("events start exactly one run each, with many events, several nodes and nodes that die", async () => {
  const { tenantId } = await tenantWith(instant);
  await fixture.create(tenantId, { event: { types: ["order.paid"] }, runKey: "=event.id" });
  const ids: string[] = [];
  for (let round = 0; round < 5; round++) {
    ids.push(...(await Promise.all(Array.from({ length: 90 }, () => fixture.emit(tenantId, "order.paid")))));
    // Each of these nodes starts the runs of a batch and dies before it stores the position.
    await node.shards.stop();
    const dying = await fixture.manualNode({ beforeWrite: dies });
    await until(() => dying.shards.owned().size === 16);
    await assert.rejects(
      until(async () => {
        await dying.eventWorker.follow(tenantId);
        return false;
      }),
      /died/,
    );
    await dying.shards.stop();
    node.shards.start();
    await until(() => node.shards.owned().size === 16);
    if (round % 2 === 1) await Promise.all([follow(tenantId), follow(tenantId)]);
  }
  await follow(tenantId);
  assert.deepEqual((await fixture.runsOf(tenantId)).map(({ runKey }) => runKey).sort(), ids.sort());
  // Followed from the start again, as after a restore of an old position.
  await fixture.db.sql`update workflow_trigger_cursors set stamp = '0', id = '' where tenant_id = ${tenantId}`;
  await follow(tenantId);
  assert.equal((await fixture.runsOf(tenantId)).length, ids.length);
});

test("a firing whose record has expired is recognised by its run", async () => {
  const { tenantId } = await tenantWith(instant);
  await fixture.create(tenantId, { event: { types: ["order.paid"] } });
  await fixture.emit(tenantId, "order.paid");
  await follow(tenantId);
  await fixture.db.sql`delete from idempotency_records where tenant_id = ${tenantId}`;
  await fixture.db.sql`update workflow_trigger_cursors set stamp = '0', id = '' where tenant_id = ${tenantId}`;
  fixture.advance(3_600_000);
  await follow(tenantId);
  assert.equal((await fixture.runsOf(tenantId)).length, 1);
});

test("a trigger gets events of its own environment and of none", async () => {
  const { tenantId, production, sandbox } = await tenantWith(instant);
  await fixture.create(tenantId, { environmentId: production, event: { types: ["workflow.trigger.deleted"] } });
  const entry = (environmentId?: string) => ({
    ...({ tenantId, type: "workflow.trigger.deleted", subject: "x" } as const),
    data: environmentId === undefined ? {} : { environment_id: environmentId },
  });
  await fixture.events.recordMany(fixture.db.sql, [entry(production), entry(sandbox), entry()], fixture.clock.now());
  await follow(tenantId);
  assert.equal((await fixture.runsOf(tenantId)).length, 2);
});

test("a condition that fails counts as false, which the trigger shows", async () => {
  const { tenantId } = await tenantWith(instant);
  const { id } = await fixture.create(tenantId, { event: { types: ["order.*"], condition: "event.data.amount > 1" } });
  for (let nth = 0; nth < 25; nth++) await fixture.emit(tenantId, "order.paid");
  await follow(tenantId);
  const trigger = await fixture.get(tenantId, id);
  assert.match(trigger.lastError, /condition failed/);
  assert.equal(trigger.consecutiveFailures, 0);
  assert.ok(trigger.enabled);
  assert.equal((await fixture.runsOf(tenantId)).length, 0);
});

test("runs of a definition do not trigger the same definition", async () => {
  const { tenantId } = await tenantWith(instant, { ...instant, key: "other" });
  await fixture.create(tenantId, { event: { types: ["workflow.run.*"] } });
  await fixture.create(tenantId, { event: { types: ["order.paid"] } });
  await fixture.create(tenantId, { definition: "other", event: { types: ["order.refunded"] } });
  await fixture.emit(tenantId, "order.paid");
  for (let round = 0; round < 3; round++) await follow(tenantId);
  assert.equal((await fixture.runsOf(tenantId)).length, 1);
  // Two events of the other run: started and succeeded.
  await fixture.emit(tenantId, "order.refunded");
  for (let round = 0; round < 3; round++) await follow(tenantId);
  assert.equal((await fixture.runsOf(tenantId)).length, 4);
});

test("a chain of triggers that start each other's runs ends", async () => {
  const { tenantId } = await tenantWith(instant, { ...instant, key: "other" });
  const { id } = await fixture.create(tenantId, { event: { types: ["order.paid", "workflow.run.succeeded"] } });
  await fixture.create(tenantId, { definition: "other", event: { types: ["workflow.run.succeeded"] } });
  await fixture.emit(tenantId, "order.paid");
  await until(async () => {
    await follow(tenantId);
    return (await fixture.eventsOf(tenantId, "workflow.trigger.failed")).length > 0;
  });
  await follow(tenantId);
  const runs = await fixture.runsOf(tenantId);
  assert.deepEqual(
    runs.map(({ origin }) => (origin.trigger as { depth: number }).depth).sort(),
    [1, 2, 3, 4, 5, 6, 7, 8],
  );
  const trigger = await fixture.get(tenantId, id);
  assert.match(trigger.lastError, /in a row/);
});

test("a start that the quota refuses is shown and recorded, and does not count towards disabling", async () => {
  const { tenantId, production } = await tenantWith(instant);
  const { id, name } = await fixture.create(tenantId, { event: { types: ["order.paid"] } });
  exhausted.add(tenantId);
  for (let nth = 0; nth < 30; nth++) await fixture.emit(tenantId, "order.paid");
  await follow(tenantId);
  const trigger = await fixture.get(tenantId, id);
  assert.match(trigger.lastError, /daily quota/);
  assert.equal(trigger.consecutiveFailures, 0);
  assert.ok(trigger.enabled);
  const failures = await fixture.eventsOf(tenantId, "workflow.trigger.failed");
  assert.equal(
    failures.reduce((sum, { data }) => sum + (data.count as number), 0),
    30,
  );
  assert.equal(failures[0]!.subject, id);
  assert.equal(failures[0]!.environmentId, production);
  assert.equal(failures[0]!.data.name, name);
  assert.equal(failures[0]!.data.code, "quota_exceeded");
  exhausted.delete(tenantId);
  await fixture.emit(tenantId, "order.paid");
  await follow(tenantId);
  assert.equal((await fixture.get(tenantId, id)).lastError, "");
  assert.equal((await fixture.runsOf(tenantId)).length, 1);
});

test("a trigger is disabled after 20 permanent failures in a row", async () => {
  const { tenantId } = await tenantWith();
  const { id, recordVersion } = await fixture.create(tenantId, { event: { types: ["order.paid"] } });
  for (let nth = 0; nth < 19; nth++) await fixture.emit(tenantId, "order.paid");
  await follow(tenantId);
  const failing = await fixture.get(tenantId, id);
  assert.equal(failing.consecutiveFailures, 19);
  assert.match(failing.lastError, /no published workflow definition "instant"/);
  assert.ok(failing.enabled);
  await fixture.emit(tenantId, "order.paid");
  await follow(tenantId);
  const disabled = await fixture.get(tenantId, id);
  assert.equal(disabled.enabled, false);
  assert.equal(disabled.disabledReason, "failing");
  assert.ok(disabled.recordVersion > recordVersion);
  const [event] = await fixture.eventsOf(tenantId, "workflow.trigger.disabled");
  assert.equal(event!.subject, id);
  assert.equal(event!.data.consecutive_failures, 20);
  // Enabled again, it starts with a clean slate and with events from now on.
  await fixture.publish(tenantId, instant);
  await fixture.emit(tenantId, "order.paid");
  const enabled = await fixture.update(tenantId, { triggerId: id, enabled: true });
  assert.equal(enabled.consecutiveFailures, 0);
  await fixture.emit(tenantId, "order.paid");
  await follow(tenantId);
  assert.equal((await fixture.runsOf(tenantId)).length, 1);
});

test("an input that does not match the schema is a permanent failure, and a success ends the count", async () => {
  const strict = { ...instant, input_schema: { type: "object", required: ["n"] } };
  const { tenantId } = await tenantWith(strict);
  const { id } = await fixture.create(tenantId, { event: { types: ["order.paid"] }, input: value("=event.data") });
  await fixture.emit(tenantId, "order.paid");
  await fixture.emit(tenantId, "order.paid");
  await follow(tenantId);
  const failing = await fixture.get(tenantId, id);
  assert.equal(failing.consecutiveFailures, 2);
  assert.match(failing.lastError, /does not match the schema/);
  await fixture.emit(tenantId, "order.paid", { n: 1 });
  await follow(tenantId);
  assert.equal((await fixture.get(tenantId, id)).consecutiveFailures, 0);
});

test("an event whose run key is in use starts no run", async () => {
  const { tenantId } = await tenantWith(waiting);
  const { id } = await fixture.create(tenantId, {
    definition: "waiting",
    event: { types: ["order.paid"] },
    runKey: "=event.subject",
  });
  for (const subject of ["a", "a", "b"]) await fixture.emit(tenantId, "order.paid", {}, subject);
  await follow(tenantId);
  await fixture.emit(tenantId, "order.paid", {}, "a");
  await follow(tenantId);
  assert.deepEqual((await fixture.runsOf(tenantId)).map(({ runKey }) => runKey).sort(), ["a", "b"]);
  assert.ok((await fixture.get(tenantId, id)).lastSkippedAt !== undefined);
});

test("a pinned version is started", async () => {
  const { tenantId } = await tenantWith(instant);
  await fixture.create(tenantId, { event: { types: ["order.paid"] }, version: 1 });
  const { id } = await fixture.create(tenantId, { event: { types: ["order.paid"] }, version: 7 });
  await fixture.emit(tenantId, "order.paid");
  await follow(tenantId);
  assert.equal((await fixture.runsOf(tenantId)).length, 1);
  assert.match((await fixture.get(tenantId, id)).lastError, /no version 7/);
});
