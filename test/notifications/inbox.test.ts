import assert from "node:assert/strict";
import { before, test } from "node:test";
import { startService, type TestService } from "../harness/service.ts";
import { openEvents } from "../wire/event-source.ts";
import { newSender, type Sender } from "./sender-fixture.ts";

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
  ] as const) {
    await stranger.refused("NOT_FOUND", method, path, method === "POST" ? {} : undefined);
  }
  assert.equal(await unread(id), 1);
});
