import assert from "node:assert/strict";
import { test } from "node:test";
import { create } from "@bufbuild/protobuf";
import {
  CancelTopicImportRequestSchema,
  CreateTopicRequestSchema,
  GetTopicRequestSchema,
  ImportTopicSubscribersRequestSchema,
  ListTopicsRequestSchema,
  UpdateTopicRequestSchema,
} from "../../../../gen/service/api/topic_pb.ts";
import { type ContextChoice, failsWith, freshTenant, perform } from "../../../../test/harness/context.ts";
import { classifyDatabaseError } from "../../../platform/db/index.ts";
import { createValidator } from "../../../platform/validation/index.ts";
import { createSubscribers } from "../subscribers/index.ts";
import { createTopicFixture } from "./testing/topic-fixture.ts";

let nowMs: number | undefined;
const fixture = await createTopicFixture(createSubscribers, { now: () => nowMs ?? Date.now() });
const { db, events, topics, createTopic, deleteTopic, add, remove, members, subscribe, unsubscribe, subscriptions } =
  fixture;
const { newSubscriber, manySubscribers } = fixture;
const { handlers } = topics;

async function get(choice: ContextChoice, key: string) {
  return (await perform(db, choice, handlers.topics.getTopic, GetTopicRequestSchema, { key })).topic!;
}
async function update(choice: ContextChoice, key: string, request: object) {
  const message = { key, ...request };
  return (await perform(db, choice, handlers.topics.updateTopic, UpdateTopicRequestSchema, message)).topic!;
}
const list = (choice: ContextChoice, request: object = {}) =>
  perform(db, choice, handlers.topics.listTopics, ListTopicsRequestSchema, request);
const eventsOf = (tenantId: string) =>
  events.recorded
    .filter((event) => event.tenantId === tenantId && event.type.startsWith("topic."))
    .map(({ type, subject, data }) => [type, subject, data]);
const idsIn = async (choice: ContextChoice, key: string) =>
  (await members(choice, key)).subscriptions.map(({ subscriberId }) => subscriberId);

const noTopic = failsWith("NOT_FOUND", /^No such topic\.$/);
const noSubscriber = failsWith("NOT_FOUND", /^No such subscriber\.$/);

test("a key is 1 to 128 lower-case letters and digits, separated by single dots or underscores", () => {
  const check = createValidator(CreateTopicRequestSchema);
  const isValid = (key: string) => check(create(CreateTopicRequestSchema, { key })).length === 0;
  for (const key of ["a", "0", "news", "team.red_2", "a.b.c", "x".repeat(128)]) assert.ok(isValid(key), key);
  for (const key of ["", "News", "a-b", ".a", "a.", "a..b", "a._b", "a b", "ä", "a\n", "x".repeat(129)]) {
    assert.ok(!isValid(key), key);
  }
});

test("a topic's name defaults to its key, and its key is unique within its tenant", async () => {
  const choice = { tenantId: freshTenant() };
  const topic = await createTopic(choice, "team.red");
  assert.deepEqual([topic.key, topic.name, topic.description, topic.recordVersion], ["team.red", "team.red", "", 1n]);
  assert.deepEqual(await get(choice, "team.red"), topic);
  const again = createTopic(choice, "team.red");
  await assert.rejects(again, (error) => classifyDatabaseError(error)?.code === "ALREADY_EXISTS");
  const other = { tenantId: freshTenant() };
  await assert.rejects(get(other, "team.red"), noTopic);
  assert.notEqual((await createTopic(other, "team.red", { name: "Red" })).id, topic.id);
});

test("an update replaces name and description, and refuses a stale version", async () => {
  const choice = { tenantId: freshTenant() };
  const { id } = await createTopic(choice, "news", { name: "News", description: "All of them" });
  const updated = await update(choice, "news", { name: "Bulletin" });
  assert.deepEqual([updated.id, updated.name, updated.description, updated.recordVersion], [id, "Bulletin", "", 2n]);
  const late = update(choice, "news", { name: "Late", recordVersion: 1n });
  await assert.rejects(late, failsWith("VERSION_CONFLICT", /version 2/));
  await assert.rejects(update({ tenantId: freshTenant() }, "news", { name: "Theirs" }), noTopic);
  assert.equal((await update(choice, "news", { recordVersion: 2n })).name, "news");
});

test("topics are listed in key order, in pages", async () => {
  const choice = { tenantId: freshTenant() };
  await createTopic({ tenantId: freshTenant() }, "a");
  for (const key of ["b", "a_b", "a.b", "a"]) await createTopic(choice, key);
  const first = await list(choice, { pageSize: 3 });
  const second = await list(choice, { pageSize: 3, pageToken: first.nextPageToken });
  assert.deepEqual(
    [...first.topics, ...second.topics].map(({ key }) => key),
    ["a", "a.b", "a_b", "b"],
  );
  assert.deepEqual([first.totalSize, second.nextPageToken], [4, ""]);
});

test("subscribers are added once each by id or external id, and the response counts the results", async () => {
  const choice = { tenantId: freshTenant() };
  await createTopic(choice, "news");
  const ada = await newSubscriber(choice, "ada");
  const bob = await newSubscriber(choice, "bob");
  assert.deepEqual(await add(choice, "news", [ada, "ada", ada]), { added: 1, changed: 0, unchanged: 0 });
  assert.deepEqual(await add(choice, "news", ["bob", ada]), { added: 1, changed: 0, unchanged: 1 });
  assert.deepEqual(await add(choice, "news", [ada, bob]), { added: 0, changed: 0, unchanged: 2 });
  assert.deepEqual(await idsIn(choice, "news"), [ada, bob]);
  assert.deepEqual(eventsOf(choice.tenantId).slice(1), [
    ["topic.members.added", "news", { count: 1, changed: 0 }],
    ["topic.members.added", "news", { count: 1, changed: 0 }],
  ]);
});

test("an unknown or foreign subscriber is refused by its index, and no subscriber is added", async () => {
  const choice = { tenantId: freshTenant() };
  await createTopic(choice, "news");
  const ada = await newSubscriber(choice, "ada");
  const foreign = await newSubscriber({ tenantId: freshTenant() }, "eve");
  for (const name of ["nobody", foreign, "eve"]) {
    const outcome = add(choice, "news", [ada, name, "nobody else"]);
    await assert.rejects(outcome, failsWith("INVALID_ARGUMENT", /^subscriber_ids\[1\]: /));
  }
  assert.deepEqual(await idsIn(choice, "news"), []);
});

test("context keys are stored sorted without duplicates, and are replaced by adding again", async () => {
  const choice = { tenantId: freshTenant() };
  await createTopic(choice, "news");
  const ada = await newSubscriber(choice, "ada");
  const first = await subscribe(choice, ada, "news", ["b", "a", "b"]);
  assert.deepEqual([first.contextKeys, first.topicKey, first.subscriberId], [["a", "b"], "news", ada]);
  assert.deepEqual(await subscribe(choice, ada, "news", ["a", "b"]), first);
  assert.deepEqual(await add(choice, "news", [ada], ["c"]), { added: 0, changed: 1, unchanged: 0 });
  const [now] = (await members(choice, "news")).subscriptions;
  assert.deepEqual(now!.contextKeys, ["c"]);
  assert.notEqual(now!.id, first.id);
  assert.deepEqual(eventsOf(choice.tenantId).slice(1), [
    ["topic.members.added", "news", { count: 1, changed: 0 }],
    ["topic.members.added", "news", { count: 0, changed: 1 }],
  ]);
});

test("members are removed by id or external id, unknown ones are ignored, and former members can rejoin", async () => {
  const choice = { tenantId: freshTenant() };
  await createTopic(choice, "news");
  const [ada, bob, eve] = [
    await newSubscriber(choice, "ada"),
    await newSubscriber(choice, "bob"),
    await newSubscriber(choice, "eve"),
  ];
  await add(choice, "news", [ada, bob]);
  const before = (await members(choice, "news")).subscriptions[0]!;
  assert.equal(await remove(choice, "news", ["ada", ada, eve, "nobody"]), 1);
  assert.equal(await remove(choice, "news", ["ada", "nobody"]), 0);
  assert.deepEqual(await idsIn(choice, "news"), [bob]);
  assert.deepEqual(eventsOf(choice.tenantId).at(-1), ["topic.members.removed", "news", { count: 1 }]);
  assert.notEqual((await subscribe(choice, ada, "news")).id, before.id);
  assert.deepEqual(await idsIn(choice, "news"), [bob, ada]);
});

test("a subscriber is unsubscribed once, and its topics are listed in key order, in pages", async () => {
  const choice = { tenantId: freshTenant() };
  const ada = await newSubscriber(choice, "ada");
  const bob = await newSubscriber(choice, "bob");
  for (const key of ["c", "a", "b"]) {
    await createTopic(choice, key);
    await subscribe(choice, ada, key);
  }
  await subscribe(choice, bob, "a");
  const first = await subscriptions(choice, ada, { pageSize: 2 });
  const second = await subscriptions(choice, ada, { pageSize: 2, pageToken: first.nextPageToken });
  const keys = [...first.subscriptions, ...second.subscriptions].map(({ topicKey }) => topicKey);
  assert.deepEqual([keys, first.totalSize, second.nextPageToken], [["a", "b", "c"], 3, ""]);
  await assert.rejects(subscriptions(choice, bob, { pageToken: first.nextPageToken }), failsWith("INVALID_ARGUMENT"));
  assert.deepEqual(await unsubscribe(choice, ada, "b"), first.subscriptions[1]);
  await assert.rejects(unsubscribe(choice, ada, "b"), failsWith("NOT_FOUND", /^No such subscription\.$/));
  assert.equal((await subscriptions(choice, ada)).totalSize, 2);
});

test("a missing or foreign topic or subscriber is not found by any operation", async () => {
  const choice = { tenantId: freshTenant() };
  const other = { tenantId: freshTenant() };
  await createTopic(choice, "news");
  const ada = await newSubscriber(choice, "ada");
  await subscribe(choice, ada, "news");
  const eve = await newSubscriber(other, "eve");
  for (const outcome of [
    () => add(other, "news", [eve]),
    () => remove(other, "news", [eve]),
    () => members(other, "news"),
    () => deleteTopic(other, "news"),
    () => subscribe(other, eve, "news"),
    () => unsubscribe(other, eve, "news"),
  ]) {
    await assert.rejects(outcome(), noTopic);
  }
  await createTopic(other, "news");
  for (const outcome of [
    () => subscribe(other, ada, "news"),
    () => unsubscribe(other, ada, "news"),
    () => subscriptions(other, ada),
  ]) {
    await assert.rejects(outcome(), noSubscriber);
  }
  assert.equal(await remove(other, "news", [ada, "ada"]), 0);
  assert.deepEqual(await idsIn(choice, "news"), [ada]);
});

test("deleting a topic ends its subscriptions, and a new topic with the same key starts empty", async () => {
  const choice = { tenantId: freshTenant() };
  const topic = await createTopic(choice, "news");
  await createTopic(choice, "other");
  const ids = await manySubscribers(choice.tenantId, 5);
  await add(choice, "news", ids);
  await add(choice, "other", ids);
  assert.equal((await deleteTopic(choice, "news")).id, topic.id);
  assert.deepEqual(eventsOf(choice.tenantId).at(-1), ["topic.deleted", "news", { count: 5 }]);
  await assert.rejects(get(choice, "news"), noTopic);
  await assert.rejects(deleteTopic(choice, "news"), noTopic);
  const left = (await subscriptions(choice, ids[0]!)).subscriptions.map(({ topicKey }) => topicKey);
  assert.deepEqual(left, ["other"]);
  await createTopic(choice, "news");
  assert.deepEqual(await idsIn(choice, "news"), []);
  assert.equal((await members(choice, "other")).totalSize, 5);
});

test("a topic with many members is deleted at once, and its key can be used when all of them are removed", async () => {
  const choice = { tenantId: freshTenant() };
  await createTopic(choice, "large");
  const ids = await manySubscribers(choice.tenantId, 6000);
  for (let at = 0; at < ids.length; at += 1000) await add(choice, "large", ids.slice(at, at + 1000));
  await deleteTopic(choice, "large");
  assert.deepEqual(eventsOf(choice.tenantId).at(-1), ["topic.deleted", "large", { count: 6000 }]);
  const left = await db.sql<{ subscriberId: string }[]>`
    select subscriber_id from notification_subscriptions where tenant_id = ${choice.tenantId} and left_stamp is null`;
  assert.equal(left.length, 1000);
  const page = await subscriptions(choice, left[0]!.subscriberId);
  assert.deepEqual([page.subscriptions, page.totalSize], [[], 0], "nobody is subscribed to a deleted topic");
  await assert.rejects(createTopic(choice, "large"), failsWith("CONFLICT", /retry/));
  const [queued] = await db.sql<{ kind: string; payload: object }[]>`
    select kind, payload from jobs where tenant_id = ${choice.tenantId}`;
  const job = topics.jobs.find(({ kind }) => kind === queued!.kind)!;
  await job.handler({
    tenantId: choice.tenantId,
    payload: queued!.payload,
    signal: new AbortController().signal,
  } as never);
  await createTopic(choice, "large");
  assert.deepEqual((await members(choice, "large")).subscriptions, []);
});

test("ended subscriptions are deleted after seven days, current and recently ended ones are not", async () => {
  const choice = { tenantId: freshTenant() };
  await createTopic(choice, "news");
  const ids = await manySubscribers(choice.tenantId, 4);
  await add(choice, "news", ids);
  const cutoff = await topics.cutoff(db.sql);
  const weekMs = 7 * 24 * 3_600_000;
  const leftMs = Date.now();
  await remove({ ...choice, nowMs: leftMs - 1 }, "news", [ids[0]!, ids[1]!]);
  await remove({ ...choice, nowMs: leftMs + 1000 }, "news", [ids[2]!]);
  const seen = async () =>
    (await topics.membersAt(db.sql, choice.tenantId, "news", cutoff, "", 10)).map(({ subscriberId }) => subscriberId);
  const forget = async (atMs: number) => {
    nowMs = atMs;
    await topics.jobs
      .find(({ kind }) => kind === "topics.delete_left")!
      .handler({ signal: new AbortController().signal } as never);
    nowMs = undefined;
  };
  await forget(leftMs - 1 + weekMs);
  assert.deepEqual(await seen(), ids);
  await forget(leftMs + weekMs);
  assert.deepEqual(await seen(), ids.slice(2));
  assert.deepEqual(await idsIn(choice, "news"), [ids[3]]);
});

test("a cancelled import adds no further members, keeps those it added, and cannot be cancelled once it has ended", async () => {
  const choice = { tenantId: freshTenant() };
  await createTopic(choice, "news");
  const ids = await manySubscribers(choice.tenantId, 700);
  const start = async (subscriberIds: string[]) => {
    const request = { key: "news", subscriberIds };
    const { importTopicSubscribers } = handlers.topics;
    const started = await perform(db, choice, importTopicSubscribers, ImportTopicSubscribersRequestSchema, request);
    return started.topicImport!.id;
  };
  const cancel = async (importId: string, tenantId = choice.tenantId) => {
    const request = { key: "news", importId };
    const { cancelTopicImport } = handlers.topics;
    return (await perform(db, { tenantId }, cancelTopicImport, CancelTopicImportRequestSchema, request)).topicImport!;
  };
  const job = topics.jobs.find(({ kind }) => kind === "topics.import_members")!;
  const run = (importId: string, signal: AbortSignal) =>
    job.handler({ tenantId: choice.tenantId, payload: { importId }, signal } as never);

  // The first batch is added, then the node stops.
  const importId = await start(ids);
  await assert.rejects(run(importId, AbortSignal.abort()), { name: "AbortError" });
  await assert.rejects(cancel(importId, freshTenant()), failsWith("NOT_FOUND", /import/));
  const cancelled = await cancel(importId);
  assert.deepEqual([cancelled.status, cancelled.processed, cancelled.added], ["cancelled", 500, 500]);
  await run(importId, new AbortController().signal);
  assert.equal((await members(choice, "news", { pageSize: 1 })).totalSize, 500);
  assert.deepEqual((await cancel(importId)).updatedAt, cancelled.updatedAt);
  const [event, ...others] = eventsOf(choice.tenantId).filter(([type]) => type === "topic.import.cancelled");
  assert.deepEqual(event, ["topic.import.cancelled", "news", { import_id: importId, processed: 500, total: 700 }]);
  assert.deepEqual(others, []);

  const whole = await start(ids.slice(0, 3));
  await run(whole, new AbortController().signal);
  await assert.rejects(cancel(whole), failsWith("FAILED_PRECONDITION", /has completed/));
});
