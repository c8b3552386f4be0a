import assert from "node:assert/strict";
import { test } from "node:test";
import {
  PauseTriggerSubscriptionRequestSchema,
  ResumeTriggerSubscriptionRequestSchema,
} from "../../../gen/service/api/trigger_subscription_pb.ts";
import { maintainTriggersJob } from "../../../src/modules/connectors/triggers/retention-job.ts";
import type { TenantId } from "../../../src/platform/access/index.ts";
import { until } from "../../harness/until.ts";
import { itemChanged, type ListedItem, startListProvider } from "./list-provider.ts";
import { startTriggerFixture, triggerProvider } from "./trigger-fixture.ts";

const provider = await startListProvider(10);
const fixture = await startTriggerFixture({
  providers: [triggerProvider(provider.port, { "item.changed": itemChanged })],
});
const { db } = fixture;
const { handler: maintain } = maintainTriggersJob({
  ...{ db, clock: fixture.clock, retentionDays: 30, platformTenantId: () => "" },
});
const prune = () => maintain({ tenantId: "", id: "", payload: {}, attempt: 1, signal: new AbortController().signal });
// It creates partitions, which needs a lock that background work may hold for too long.
await prune();
fixture.start();

const item = (id: string, ageS = 0): ListedItem & { note: string } => ({
  id,
  updated_at: new Date(Date.now() - ageS * 1000).toISOString(),
  note: "n",
});

/** A subscription whose first scan is complete. */
async function readySubscription(tenantId: TenantId, connectionId?: string) {
  const connection = connectionId ?? (await fixture.connection(tenantId));
  const { id } = await fixture.subscribe(tenantId, { triggerKey: "acme.item.changed", connectionId: connection });
  await fixture.waitFor(tenantId, id, ({ readyAt }) => readyAt !== undefined);
  return id;
}

/** Polls now, whatever the interval, until one more scan is complete. */
async function poll(id: string): Promise<void> {
  const [before] = await db.sql<{ at: string }[]>`
    select coalesce(scanned_at::text, '') as at from connector_trigger_subscriptions where id = ${id}`;
  const unfinished = db.sql`id = ${id} and not paused and (coalesce(scanned_at::text, '') = ${before!.at} or scan is not null)`;
  await until(async () => {
    await db.sql`update connector_trigger_subscriptions set poll_due_at = now() where ${unfinished} and poll_claim = ''`;
    fixture.signals.wake("connector.triggers");
    return (await db.sql`select from connector_trigger_subscriptions where ${unfinished}`).length === 0;
  });
}

/** The ids of the items for which there are events, in order. */
async function received(tenantId: TenantId, id: string): Promise<string[]> {
  const rows = await db.sql<{ id: string }[]>`
    select payload->>'id' as id from connector_trigger_events where tenant_id = ${tenantId} and subscription_id = ${id}`;
  return rows.map((row) => row.id).sort();
}

test("the items of the first scan are no events; later ones are, once each, however often they are shown", async () => {
  const tenantId = await fixture.tenant();
  provider.state.items = [item("old-1"), item("old-2")];
  const id = await readySubscription(tenantId);
  assert.deepEqual(await received(tenantId, id), []);
  provider.state.items = [item("new-1"), ...provider.state.items];
  await poll(id);
  assert.deepEqual(await received(tenantId, id), ["new-1"]);
  provider.state.items = [...provider.state.items, ...provider.state.items, item("new-2", 300)];
  await poll(id);
  await poll(id);
  assert.deepEqual(await received(tenantId, id), ["new-1", "new-2"]);
  const [first] = await fixture.eventsOf(tenantId, id);
  assert.deepEqual([first!.type, first!.replays], ["item.changed", 0]);
  await fixture.waitFor(tenantId, id, ({ lastEventAt }) => lastEventAt !== undefined);
});

test("another version of an item is another event", async () => {
  const tenantId = await fixture.tenant();
  provider.state.items = [item("a", 20)];
  const id = await readySubscription(tenantId);
  const second = item("a", 10);
  provider.state.items = [second];
  await poll(id);
  provider.state.items = [item("a", 5), second];
  await poll(id);
  assert.deepEqual(await received(tenantId, id), ["a", "a"]);
});

test("a scan looks back from the start of the last complete scan", async () => {
  const tenantId = await fixture.tenant();
  provider.state.items = [];
  const id = await readySubscription(tenantId);
  const [row] = await db.sql<{ at: Date }[]>`
    select scanned_at as at from connector_trigger_subscriptions where id = ${id}`;
  await poll(id);
  assert.equal(provider.seen.since.at(-1), new Date(row!.at.getTime() - 600_000).toISOString());
});

test("a list with more pages than a poll reads is read to its end, page by page", async () => {
  const tenantId = await fixture.tenant();
  provider.state.items = [];
  const id = await readySubscription(tenantId);
  const ids = Array.from({ length: 234 }, (_, nth) => `long-${nth}`);
  provider.state.items = ids.map((each) => item(each));
  await poll(id);
  assert.deepEqual(await received(tenantId, id), [...ids].sort());
});

test("a failure in the middle of a list loses and doubles nothing, and is shown without credentials until a scan succeeds", async () => {
  const tenantId = await fixture.tenant();
  provider.state.items = [];
  const id = await readySubscription(tenantId);
  const ids = Array.from({ length: 45 }, (_, nth) => `cut-${nth}`);
  provider.state.items = ids.map((each) => item(each));
  const body = { message: "bad cursor of token-of-the-account" };
  provider.state.interrupt = (page) => (page === 2 ? { status: 400, body } : undefined);
  await db.sql`update connector_trigger_subscriptions set poll_due_at = now() where id = ${id}`;
  const failing = await fixture.waitFor(tenantId, id, ({ status }) => status === "failing");
  assert.match(failing.lastError, /bad cursor of (?!token-of-the-account)/);
  assert.equal(failing.polling!.failures, 1);
  assert.equal((await received(tenantId, id)).length, 20);
  provider.state.interrupt = undefined;
  await poll(id);
  assert.deepEqual(await received(tenantId, id), [...ids].sort());
  await fixture.waitFor(tenantId, id, ({ status, lastError }) => status === "active" && lastError === "");
  const types = await fixture.logged(tenantId);
  assert.deepEqual(
    types.filter((type) => type.startsWith("connector.trigger.")),
    ["connector.trigger.created", "connector.trigger.failing", "connector.trigger.recovered"],
  );
});

test("a rate limit delays every poll of the connection", async () => {
  const tenantId = await fixture.tenant();
  const connectionId = await fixture.connection(tenantId);
  provider.state.items = [];
  const [id, other] = [
    await readySubscription(tenantId, connectionId),
    await readySubscription(tenantId, connectionId),
  ];
  provider.state.interrupt = () => ({ status: 429, headers: { "retry-after": "1200" }, body: { message: "too fast" } });
  await db.sql`update connector_trigger_subscriptions set poll_due_at = now() where id = ${id}`;
  await fixture.waitFor(tenantId, id, ({ polling }) => polling!.failures === 1);
  provider.state.interrupt = undefined;
  for (const each of [id, other]) {
    const { polling } = await fixture.get(tenantId, each);
    assert.ok(Number(polling!.nextPollAt!.seconds) * 1000 > Date.now() + 1_100_000, each);
  }
});

test("the polls of one connection never run at the same time", async () => {
  const tenantId = await fixture.tenant();
  const connectionId = await fixture.connection(tenantId);
  provider.state.items = [];
  const ids = [];
  for (let nth = 0; nth < 5; nth++) ids.push(await readySubscription(tenantId, connectionId));
  provider.seen.concurrentMax = 0;
  provider.state.interrupt = () => new Promise((resolve) => setImmediate(resolve, undefined));
  await db.sql`update connector_trigger_subscriptions set poll_due_at = now() where id = any(${ids})`;
  const from = provider.seen.pages;
  await until(() => provider.seen.pages >= from + 5);
  assert.equal(provider.seen.concurrentMax, 1);
  provider.state.interrupt = undefined;
});

test("what happens while a subscription is paused is not received, also after it is resumed", async () => {
  const tenantId = await fixture.tenant();
  provider.state.items = [];
  const id = await readySubscription(tenantId);
  const { pauseTriggerSubscription, resumeTriggerSubscription } = fixture.triggers.handlers;
  await fixture.call(
    pauseTriggerSubscription,
    PauseTriggerSubscriptionRequestSchema,
    { subscriptionId: id },
    { tenantId },
  );
  assert.equal((await fixture.get(tenantId, id)).status, "paused");
  provider.state.items = [item("meanwhile")];
  await fixture.call(
    resumeTriggerSubscription,
    ResumeTriggerSubscriptionRequestSchema,
    { subscriptionId: id },
    { tenantId },
  );
  await fixture.waitFor(tenantId, id, ({ readyAt }) => readyAt !== undefined);
  provider.state.items = [item("meanwhile"), ...provider.state.items, item("after")];
  await poll(id);
  assert.deepEqual(
    (await received(tenantId, id)).filter((each) => each === "after"),
    ["after"],
  );
});

test("a node whose claim was taken over stores nothing of its page", async () => {
  const tenantId = await fixture.tenant();
  provider.state.items = [];
  const id = await readySubscription(tenantId);
  provider.state.items = [item("stolen")];
  const reached = Promise.withResolvers<void>();
  const continued = Promise.withResolvers<void>();
  provider.state.interrupt = async () => {
    reached.resolve();
    await continued.promise;
    return undefined;
  };
  await db.sql`update connector_trigger_subscriptions set poll_due_at = now() where id = ${id}`;
  await reached.promise;
  await db.sql`update connector_trigger_subscriptions set poll_claim = 'another node' where id = ${id}`;
  provider.state.interrupt = undefined;
  continued.resolve();
  const metric = async () => /connector_trigger_polls_total\{result="lost"\} 1/.test(await fixture.metrics.render());
  await until(metric);
  assert.deepEqual(await received(tenantId, id), []);
  await db.sql`update connector_trigger_subscriptions set poll_claim = '' where id = ${id}`;
  await poll(id);
  assert.deepEqual(await received(tenantId, id), ["stolen"]);
});

test("keys are deleted only when no scan can find their items again", async () => {
  const tenantId = await fixture.tenant();
  provider.state.items = [];
  const id = await readySubscription(tenantId);
  provider.state.items = [item("kept"), item("gone")];
  await poll(id);
  const keys = async () =>
    (await db.sql`select from connector_trigger_dedup_keys where subscription_id = ${id}`).length;
  // A subscription that was not polled for 20 days looks back over all that time.
  await db.sql`update connector_trigger_dedup_keys set seen_at = seen_at - interval '20 days' where subscription_id = ${id}`;
  await db.sql`
    update connector_trigger_subscriptions set scanned_at = scanned_at - interval '20 days' where id = ${id}`;
  await prune();
  assert.equal(await keys(), 2);
  // A complete scan that finds one of them keeps it, and the other one is out of reach.
  provider.state.items = [provider.state.items[0]!];
  await poll(id);
  await prune();
  assert.equal(await keys(), 1);
  await poll(id);
  assert.deepEqual(await received(tenantId, id), ["gone", "kept"]);
});
