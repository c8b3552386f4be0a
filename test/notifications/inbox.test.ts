import assert from "node:assert/strict";
import { before, test } from "node:test";
import { startService, type TestService } from "../harness/service.ts";
import { openEvents } from "../wire/event-source.ts";
import { newSender, type ResponseData, type Sender } from "./sender-fixture.ts";

let node: TestService;
let sender: Sender;
let workflow_key: string;
before(async () => {
  node = await startService();
  sender = await newSender(node);
  workflow_key = await sender.workflow({ channels: { in_app: { title: "{{ payload.n }}", body: "B" } } });
});

const inboxOf = (id: string) => `/api/v2/notification/subscribers/${id}/inbox`;
const unread = async (id: string) => (await sender.ok("GET", `${inboxOf(id)}:unread`)).data.unread_count;
const titles = async (id: string, query: string): Promise<string[]> =>
  (await sender.ok("GET", `${inboxOf(id)}?${query}`)).data.map(({ title }: ResponseData) => title);
const say = (id: string, n: number) => sender.trigger({ workflow_key, subscriber_id: id, payload: { n } });

test("messages count as unread until they are read, one by one or all together, and can be marked unread again", async () => {
  const { id } = await sender.subscriber();
  for (let n = 1; n <= 4; n++) await say(id, n);
  assert.equal(await unread(id), 4);
  const [newest] = await sender.inbox(id);
  assert.equal(newest.title, "4");
  const marked = await sender.ok("POST", `${inboxOf(id)}/${newest.id}:mark`, {});
  assert.ok(marked.data.read_at);
  assert.equal(await unread(id), 3);
  await sender.ok("POST", `${inboxOf(id)}/${newest.id}:mark`, { read: false });
  assert.equal(await unread(id), 4);
  const { data } = await sender.ok("POST", `${inboxOf(id)}:markAllRead`, {});
  assert.equal(data.marked_count, 4);
  assert.equal(await unread(id), 0);
  const listed = await sender.rest.call("GET", `${inboxOf(id)}?unread_only=true`);
  assert.deepEqual(listed.body.data, []);
});

test("reading a message marks its delivery as seen, once", async () => {
  const { id } = await sender.subscriber();
  const { outcomes } = await say(id, 1);
  const [{ delivery_id }] = outcomes;
  await sender.ok("POST", `${inboxOf(id)}/${delivery_id}:mark`, {});
  await sender.ok("POST", `${inboxOf(id)}/${delivery_id}:mark`, {});
  const seen = await sender.rest.call("GET", `/api/v2/notifications/deliveries/${delivery_id}/observations`);
  assert.deepEqual(
    seen.body.data.map(({ kind, category, verification, sequence }: Record<string, unknown>) => [
      kind,
      category,
      verification,
      sequence,
    ]),
    [["read", "engagement", "sdk", 1]],
  );
  assert.equal((await sender.delivery(delivery_id)).observation_state, "engaged");
});

test("an inbox stream sends exactly the inbox's new messages, and can be resumed", async () => {
  const { id } = await sender.subscriber();
  const other = await sender.subscriber();
  await say(id, 0);
  const url = `${node.baseUrl}${inboxOf(id)}:watch`;
  const headers = { "x-api-key": sender.key };
  const feed = await openEvents(url, headers);
  await feed.see(/: connected/);
  await say(other.id, 99);
  for (let n = 1; n <= 3; n++) await say(id, n);
  const seen = await feed.take(3);
  assert.deepEqual(
    seen.map(({ data }) => data.title),
    ["1", "2", "3"],
  );
  feed.close();
  await say(id, 4);
  const again = await openEvents(url, { ...headers, "last-event-id": seen[1]!.id });
  const rest = await again.take(2);
  assert.deepEqual(
    rest.map(({ data }) => data.title),
    ["3", "4"],
  );
  again.close();
});

test("states follow from each other: read means seen, unseen means unread, and archived messages do not count", async () => {
  const { id } = await sender.subscriber();
  for (let n = 1; n <= 3; n++) await say(id, n);
  const counts = async () => {
    const { data } = await sender.ok("GET", `${inboxOf(id)}:unread`);
    return [data.unseen_count, data.unread_count];
  };
  const [third, second, first] = await sender.inbox(id);
  const mark = async (message: { id: string }, states: object) =>
    (await sender.ok("POST", `${inboxOf(id)}/${message.id}:mark`, states)).data;
  assert.deepEqual(await counts(), [3, 3]);
  const seen = await mark(first, { seen: true });
  assert.deepEqual([seen.read_at, await counts()], [undefined, [2, 3]]);
  const read = await mark(second, { read: true });
  assert.deepEqual([read.seen_at, await counts()], [read.read_at, [1, 2]]);
  const again = await mark(second, { read: true });
  assert.equal(again.read_at, read.read_at, "the first time counts");
  const unseen = await mark(second, { seen: false });
  assert.deepEqual([unseen.read_at, await counts()], [undefined, [2, 3]]);
  await mark(third, { archived: true });
  assert.deepEqual(await counts(), [1, 2]);
  assert.deepEqual(await titles(id, ""), ["2", "1"]);
  assert.deepEqual(await titles(id, "archived=true"), ["3"]);
  assert.deepEqual(await titles(id, "unseen_only=true"), ["2"]);
  await mark(third, { archived: false });
  assert.deepEqual(await counts(), [2, 3]);
  const contradiction = { seen: false, read: true };
  await sender.refused("INVALID_ARGUMENT", "POST", `${inboxOf(id)}/${first.id}:mark`, contradiction);
});

test("many messages are marked at once: those that are named, or all", async () => {
  const { id } = await sender.subscriber();
  const other = await sender.subscriber();
  await say(other.id, 9);
  for (let n = 1; n <= 4; n++) await say(id, n);
  const [fourth, third] = await sender.inbox(id);
  const [foreign] = await sender.inbox(other.id);
  const mark = async (fields: object) => (await sender.ok("POST", `${inboxOf(id)}:mark`, fields)).data;
  const message_ids = [fourth.id, third.id, foreign.id, "01JUNKNOWN0000000000000000"];
  const some = { marked_count: 2, has_more: false, unread_count: 2, unseen_count: 2 };
  assert.deepEqual(await mark({ message_ids, read: true }), some);
  assert.deepEqual(await mark({ message_ids, read: true }), { ...some, marked_count: 0 });
  assert.equal(await unread(other.id), 1);
  assert.deepEqual(await mark({ seen: true }), { ...some, unseen_count: 0 });
  assert.equal((await mark({ archived: true })).marked_count, 4);
  assert.deepEqual(await titles(id, ""), []);
  await sender.refused("INVALID_ARGUMENT", "POST", `${inboxOf(id)}:mark`, { message_ids });
  const events = await sender.ok("GET", "/api/events?types=notification.inbox.marked&limit=100");
  const [newest] = events.data.filter(({ subject }: { subject: string }) => subject === id);
  assert.deepEqual([newest.data.count, newest.data.archived, newest.data.message_ids.length], [4, true, 4]);
  const { data } = await sender.rest
    .call("GET", `/api/v2/notifications/deliveries/${third.id}/observations`)
    .then(({ body }) => body);
  assert.deepEqual(
    data.map(({ kind }: { kind: string }) => kind),
    ["read"],
  );
});

test("a stream sends changes of states on request, in order with new messages", async () => {
  const { id } = await sender.subscriber();
  const { outcomes } = await say(id, 1);
  const headers = { "x-api-key": sender.key };
  const feed = await openEvents(`${node.baseUrl}${inboxOf(id)}:watch?changes=true`, headers);
  const plain = await openEvents(`${node.baseUrl}${inboxOf(id)}:watch`, headers);
  await Promise.all([feed.see(/: connected/), plain.see(/: connected/)]);
  const mark = (states: object) => sender.ok("POST", `${inboxOf(id)}/${outcomes[0].delivery_id}:mark`, states);
  const shape = ({ data }: { data: ResponseData }) => [data.title, !!data.read_at, !!data.archived_at];
  const sent = [];
  // One after the other: of several changes of a message, a stream that is behind sends only the last.
  for (const act of [() => mark({ read: true }), () => say(id, 2), () => mark({ archived: true })]) {
    await act();
    sent.push(...(await feed.take(1)));
  }
  assert.deepEqual(sent.map(shape), [
    ["1", true, false],
    ["2", false, false],
    ["1", true, true],
  ]);
  assert.deepEqual((await plain.take(1)).map(shape), [["2", false, false]]);
  feed.close();
  plain.close();
  const resumed = await openEvents(`${node.baseUrl}${inboxOf(id)}:watch?changes=true`, {
    ...headers,
    "last-event-id": sent[0]!.id,
  });
  assert.deepEqual((await resumed.take(2)).map(shape), [
    ["2", false, false],
    ["1", true, true],
  ]);
  resumed.close();
});

test("an unknown cursor starts a stream with a snapshot of the inbox, after which it goes on", async () => {
  const { id } = await sender.subscriber();
  for (let n = 1; n <= 3; n++) await say(id, n);
  const [, second] = await sender.inbox(id);
  await sender.ok("POST", `${inboxOf(id)}/${second.id}:mark`, { archived: true });
  const foreign = await sender.subscriber();
  await say(foreign.id, 9);
  const [unknown] = await sender.inbox(foreign.id);
  const fromFuture = "999999999999999999-1790000000000-01JUNKNOWN0000000000000000";
  for (const cursor of ["gone", unknown.id, fromFuture, "x".repeat(200)]) {
    const headers = { "x-api-key": sender.key, "last-event-id": cursor };
    const feed = await openEvents(`${node.baseUrl}${inboxOf(id)}:watch`, headers);
    const sent = await feed.take(2);
    assert.deepEqual(
      sent.map(({ data }) => [data.title, data.snapshot]),
      [
        ["1", true],
        ["3", true],
      ],
      cursor,
    );
    await say(id, 4);
    const [next] = await feed.take(1);
    assert.deepEqual([next!.data.title, next!.data.snapshot], ["4", false]);
    feed.close();
    // The rest of a snapshot can be resumed like anything else.
    const rest = await openEvents(`${node.baseUrl}${inboxOf(id)}:watch`, { ...headers, "last-event-id": sent[0]!.id });
    // The archived message is between the two.
    const [skipped, third] = await rest.take(2);
    assert.deepEqual([skipped!.data.title, third!.data.title], ["2", "3"]);
    rest.close();
    const [added] = await sender.inbox(id);
    await sender.ok("POST", `${inboxOf(id)}/${added.id}:mark`, { archived: true });
  }
});

test("a broadcast reaches inbox streams", async () => {
  const { id } = await sender.subscriber();
  const topic = await sender.topic([id]);
  const feed = await openEvents(`${node.baseUrl}${inboxOf(id)}:watch`, { "x-api-key": sender.key });
  await feed.see(/: connected/);
  await sender.trigger({ workflow_key, topic, payload: { n: 5 } });
  assert.equal((await feed.take(1))[0]!.data.title, "5");
  feed.close();
});

test("a redriven message reaches inbox streams", async () => {
  const { id } = await sender.subscriber();
  const late = await sender.workflow({ channels: { sms: { body: "Elsewhere" } } });
  const { outcomes } = await sender.trigger({ workflow_key: late, subscriber_id: id, channels: ["in_app"] });
  const { data } = await sender.rest.call("GET", "/api/v2/notifications/dead-letters").then(({ body }) => body);
  const letter = data.find((each: { delivery_id: string }) => each.delivery_id === outcomes[0].delivery_id);
  await sender.ok("PUT", `/api/v2/notification/workflows/${late}`, {
    channels: { in_app: { title: "Late", body: "B" } },
  });
  const feed = await openEvents(`${node.baseUrl}${inboxOf(id)}:watch`, { "x-api-key": sender.key });
  await feed.see(/: connected/);
  await sender.ok("POST", `/api/v2/notifications/dead-letters/${letter.id}:redrive`, {});
  assert.equal((await feed.take(1))[0]!.data.title, "Late");
  feed.close();
});

test("an inbox is visible only to its tenant", async () => {
  const { id } = await sender.subscriber();
  const { outcomes } = await say(id, 1);
  const stranger = await newSender(node);
  for (const [method, path] of [
    ["GET", inboxOf(id)],
    ["GET", `${inboxOf(id)}:unread`],
    ["GET", `${inboxOf(id)}:watch`],
    ["POST", `${inboxOf(id)}/${outcomes[0].delivery_id}:mark`],
    ["POST", `${inboxOf(id)}:markAllRead`],
    ["POST", `${inboxOf(id)}:mark`],
  ] as const) {
    const body = path === `${inboxOf(id)}:mark` ? { read: true } : {};
    await stranger.refused("NOT_FOUND", method, path, method === "POST" ? body : undefined);
  }
  assert.equal(await unread(id), 1);
});
