import assert from "node:assert/strict";
import { test } from "node:test";
import { type ContextChoice, contextFor, freshTenant } from "../../../../test/harness/context.ts";
import { until } from "../../../../test/harness/embedded-owner.ts";
import { ulid } from "../../../platform/ids/ulid.ts";
import { createSubscribers } from "../subscribers/index.ts";
import { subscriptionStore } from "./subscription-store.ts";
import { createTopicFixture } from "./testing/topic-fixture.ts";

const bench = await createTopicFixture(createSubscribers);
const { db, events, topics, createTopic, deleteTopic, members, attach, detach, newSubscriber, manySubscribers } = bench;
const { handlers } = topics;

const eventsOf = (tenantId: string) =>
  events.recorded
    .filter((event) => event.tenantId === tenantId && event.type.startsWith("topic."))
    .map(({ type, subject, data }) => [type, subject, data]);
const idsIn = async (choice: ContextChoice, key: string) =>
  (await members(choice, key)).subscriptions.map(({ subscriberId }) => subscriberId);

/** Attaches a subscriber in a transaction that ends when it is told to. */
async function attaching(choice: ContextChoice, subscriberId: string, contextKeys: string[] = []) {
  const { promise: mayCommit, resolve: commit } = Promise.withResolvers<void>();
  const { promise: isAttached, resolve: attached } = Promise.withResolvers<void>();
  const done = db.transaction(async (sql) => {
    const handler = handlers.subscriptions.upsertSubscription as (...given: unknown[]) => Promise<unknown>;
    await handler(contextFor(db, { ...choice, sql }), { subscriberId, topicKey: "news", contextKeys });
    attached();
    await mayCommit;
  });
  await isAttached;
  return async () => {
    commit();
    await done;
  };
}

/** Waits until a statement waits for somebody else's lock. */
async function untilWaiting(statement: string): Promise<void> {
  await until(async () => {
    const waiting = await db.sql`
      select from pg_stat_activity where wait_event_type = 'Lock' and query like ${`%${statement}%`}
        and datname = current_database()`;
    return waiting.length === 1;
  });
}

test("whoever joins while a topic is being deleted is out of it with the others", async () => {
  const choice = { tenantId: freshTenant() };
  await createTopic(choice, "news");
  const commit = await attaching(choice, await newSubscriber(choice, "ada"));
  const deleting = deleteTopic(choice, "news");
  await untilWaiting("delete from notification_topics");
  await commit();
  await deleting;
  assert.deepEqual(eventsOf(choice.tenantId).at(-1), ["topic.deleted", "news", { count: 1 }]);
  await createTopic(choice, "news");
  assert.deepEqual(await idsIn(choice, "news"), []);
});

test("whoever leaves while their context keys are being changed is out", async () => {
  const choice = { tenantId: freshTenant() };
  await createTopic(choice, "news");
  const ada = await newSubscriber(choice, "ada");
  await attach(choice, ada, "news", ["a"]);
  const commit = await attaching(choice, ada, ["b"]);
  const leaving = detach(choice, ada, "news");
  await untilWaiting("update notification_subscriptions");
  await commit();
  assert.deepEqual((await leaving).contextKeys, ["b"]);
  assert.deepEqual(await idsIn(choice, "news"), []);
});

test("of two who change context keys at once the later one has it", async () => {
  const choice = { tenantId: freshTenant() };
  await createTopic(choice, "news");
  const ada = await newSubscriber(choice, "ada");
  await attach(choice, ada, "news", ["a"]);
  const commit = await attaching(choice, ada, ["b"]);
  const later = attach(choice, ada, "news", ["c"]);
  await untilWaiting("insert into notification_subscriptions");
  await commit();
  assert.deepEqual((await later).contextKeys, ["c"]);
  assert.deepEqual((await members(choice, "news")).subscriptions, [await later]);
});

test("the same subscribers added in opposite orders at once are all added, and nobody waits in a ring", async () => {
  const choice = { tenantId: freshTenant() };
  await createTopic(choice, "news");
  const topic = { tenantId: choice.tenantId, key: "news" };
  for (let round = 0; round < 5; round++) {
    const wanted = (await manySubscribers(choice.tenantId, 400)).map((id) => ({
      id: ulid(Date.now()),
      subscriberId: id,
    }));
    const again = wanted.map(({ subscriberId }) => ({ id: ulid(Date.now()), subscriberId })).reverse();
    const joined = await Promise.all(
      [wanted, again].map((each) => subscriptionStore(db.sql).join(topic, each, [`round ${round}`], new Date())),
    );
    assert.equal(joined.flat().length, wanted.length);
  }
});
