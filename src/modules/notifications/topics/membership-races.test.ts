import assert from "node:assert/strict";
import { test } from "node:test";
import { untilBlocked } from "../../../../test/harness/blocked-statements.ts";
import { type ContextChoice, contextFor, freshTenant } from "../../../../test/harness/context.ts";
import { ulid } from "../../../platform/ids/ulid.ts";
import { createSubscribers } from "../subscribers/index.ts";
import { subscriptionStore } from "./subscription-store.ts";
import { createTopicFixture } from "./testing/topic-fixture.ts";

const fixture = await createTopicFixture(createSubscribers);
const {
  db,
  events,
  topics,
  createTopic,
  deleteTopic,
  members,
  subscribe,
  unsubscribe,
  newSubscriber,
  manySubscribers,
} = fixture;
const { handlers } = topics;

const eventsOf = (tenantId: string) =>
  events.recorded
    .filter((event) => event.tenantId === tenantId && event.type.startsWith("topic."))
    .map(({ type, subject, data }) => [type, subject, data]);
const idsIn = async (choice: ContextChoice, key: string) =>
  (await members(choice, key)).subscriptions.map(({ subscriberId }) => subscriberId);

/** Subscribes a subscriber in a transaction that the test commits. */
async function openSubscribe(choice: ContextChoice, subscriberId: string, contextKeys: string[] = []) {
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

test("a subscriber that joins while a topic is being deleted is removed with the others", async () => {
  const choice = { tenantId: freshTenant() };
  await createTopic(choice, "news");
  const commit = await openSubscribe(choice, await newSubscriber(choice, "ada"));
  const deleting = deleteTopic(choice, "news");
  await untilBlocked(db.sql, "delete from notification_topics");
  await commit();
  await deleting;
  assert.deepEqual(eventsOf(choice.tenantId).at(-1), ["topic.deleted", "news", { count: 1 }]);
  await createTopic(choice, "news");
  assert.deepEqual(await idsIn(choice, "news"), []);
});

test("a subscriber that leaves while its context keys are being changed is removed", async () => {
  const choice = { tenantId: freshTenant() };
  await createTopic(choice, "news");
  const ada = await newSubscriber(choice, "ada");
  await subscribe(choice, ada, "news", ["a"]);
  const commit = await openSubscribe(choice, ada, ["b"]);
  const removal = unsubscribe(choice, ada, "news");
  await untilBlocked(db.sql, "update notification_subscriptions");
  await commit();
  assert.deepEqual((await removal).contextKeys, ["b"]);
  assert.deepEqual(await idsIn(choice, "news"), []);
});

test("the later of two concurrent context key changes wins", async () => {
  const choice = { tenantId: freshTenant() };
  await createTopic(choice, "news");
  const ada = await newSubscriber(choice, "ada");
  await subscribe(choice, ada, "news", ["a"]);
  const commit = await openSubscribe(choice, ada, ["b"]);
  const later = subscribe(choice, ada, "news", ["c"]);
  await untilBlocked(db.sql, "insert into notification_subscriptions");
  await commit();
  assert.deepEqual((await later).contextKeys, ["c"]);
  assert.deepEqual((await members(choice, "news")).subscriptions, [await later]);
});

test("the same subscribers added concurrently in opposite orders are all added without a deadlock", async () => {
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
