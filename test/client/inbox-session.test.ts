import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { createInbox, type Inbox } from "../../clients/typescript/src/inbox/inbox-session.ts";
import { until } from "../harness/until.ts";

const message = (id: string, fields: object = {}) => ({ id, title: id, created_at: "2026-03-02T10:00:00Z", ...fields });
const json = (body: object, status = 200) =>
  new Response(JSON.stringify(body), { status, headers: { "content-type": "application/json" } });
const page = (ids: readonly string[], next_cursor = "") =>
  json({ data: ids.map((id) => message(id)), total: ids.length, total_capped: false, next_cursor });
const refusal = () => json({ errorCode: "UNAUTHENTICATED", title: "", detail: "", retryable: false, status: 401 }, 401);

/** A request of the inbox, by the verb of its path; `list` has none. */
interface Sent {
  readonly verb: string;
  readonly query: URLSearchParams;
  readonly headers: Headers;
  readonly token: string;
  readonly body: { readonly message_ids?: readonly string[] };
}

type Answer = (sent: Sent) => Response | Promise<Response>;

/** An inbox of a service that answers as told: with an empty list, no counts and a silent stream by default. */
function startInbox(t: TestContext, answers: Readonly<Record<string, Answer>> = {}, expires_at?: string) {
  const sent: Sent[] = [];
  const streams: { signal: AbortSignal; send(text: string): void; end(): void }[] = [];
  let tokens = 0;

  function openStream(signal: AbortSignal): Response {
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        const send = (text: string) => controller.enqueue(Buffer.from(text));
        streams.push({ signal, send, end: () => controller.close() });
        signal.addEventListener("abort", () => controller.error(signal.reason));
      },
    });
    return new Response(body, { headers: { "content-type": "text/event-stream" } });
  }

  const inbox = createInbox({
    ...{ baseUrl: "http://127.0.0.1", subscriberId: "ada", pageSize: 2, backoff: { initialMs: 1, maxMs: 1 } },
    getToken: async () => ({ token: `sst_${++tokens}`, ...(expires_at !== undefined && { expires_at }) }),
    fetch: async (url, init) => {
      const { pathname, searchParams: query } = new URL(String(url));
      const verb = pathname.split(":")[1] ?? "list";
      const headers = new Headers(init?.headers);
      const token = headers.get("authorization")!.replace("Bearer ", "");
      const request = { verb, query, headers, token, body: JSON.parse(String(init?.body ?? "{}")) };
      sent.push(request);
      const answer = answers[verb];
      if (answer !== undefined) return answer(request);
      if (verb === "watch") return openStream(init!.signal!);
      return verb === "list" ? page([]) : json({ data: { unread_count: 0, unseen_count: 0 } });
    },
  });
  t.after(() => inbox.stop());
  inbox.start();
  return { inbox, streams, sentTo: (verb: string) => sent.filter((each) => each.verb === verb) };
}

const event = (cursor: string, data: object) => `id: ${cursor}\ndata: ${JSON.stringify(data)}\n\n`;
const idsOf = ({ state }: Inbox) => state.messages.map(({ id }) => id);
const isReady = ({ state }: Inbox) => state.status === "ready" && state.isLive;

test("a message that arrives while the list is being loaded stays in the list", async (t) => {
  const { promise: listed, resolve: respondWithList } = Promise.withResolvers<Response>();
  const { inbox, streams, sentTo } = startInbox(t, { list: () => listed });
  await until(() => sentTo("list").length === 1);
  streams[0]!.send(event("1", message("02")));
  await until(() => inbox.state.messages.length === 1);
  // The service read the list before the message was stored.
  respondWithList(page(["01"]));
  await until(() => inbox.state.status === "ready");
  assert.deepEqual(idsOf(inbox), ["02", "01"]);
});

test("a changed message replaces the one that is shown, and the counts are loaded again", async (t) => {
  const counts = [2, 1];
  const { inbox, streams } = startInbox(t, {
    list: () => page(["02", "01"]),
    unread: () => json({ data: { unread_count: counts[0]!, unseen_count: counts.shift()! - 1 } }),
  });
  await until(() => isReady(inbox));
  assert.deepEqual([inbox.state.unreadCount, inbox.state.unseenCount], [2, 1]);
  streams[0]!.send(event("1", message("01", { read_at: "2026-03-02T11:00:00Z" })));
  await until(() => inbox.state.unreadCount === 1);
  assert.deepEqual([idsOf(inbox), inbox.state.unseenCount], [["02", "01"], 0]);
  assert.ok(inbox.state.messages[1]!.read_at !== undefined);
});

test("an inbox follows again where it was, after the end of its stream and after a stop, which closes the stream", async (t) => {
  const { inbox, streams, sentTo } = startInbox(t, { list: () => page(["01"]) });
  const live: boolean[] = [];
  inbox.subscribe(() => inbox.state.isLive !== live.at(-1) && live.push(inbox.state.isLive));
  await until(() => isReady(inbox));
  streams[0]!.send(event("c1", message("02")));
  await until(() => inbox.state.messages.length === 2);
  // The connection is lost; then the service ends the stream.
  streams[0]!.end();
  await until(() => streams.length === 2 && inbox.state.isLive);
  streams[1]!.send("event: end\ndata: {}\n\n");
  await until(() => streams.length === 3 && inbox.state.isLive);
  inbox.stop();
  assert.equal(streams[2]!.signal.aborted, true);
  inbox.start();
  await until(() => streams.length === 4 && inbox.state.isLive);
  assert.deepEqual(
    sentTo("watch").map(({ query, headers }) => headers.get("last-event-id") ?? query.get("cursor")),
    [null, "c1", "c1", "c1"],
  );
  assert.deepEqual(live, [true, false, true, false, true, false, true]);
  assert.equal(sentTo("list").length, 1, "nothing was missed, so nothing is loaded again");
});

test("an inbox that is stopped and started at once in its first stream loads the list again", async (t) => {
  const { inbox, streams, sentTo } = startInbox(t);
  await until(() => isReady(inbox));
  streams[0]!.send(event("c1", message("01")));
  await until(() => inbox.state.messages.length === 1);
  inbox.stop();
  inbox.start();
  await until(() => streams.length === 2 && inbox.state.isLive);
  assert.equal(sentTo("watch")[1]!.query.get("cursor"), null);
  await until(() => sentTo("list").length === 2);
});

test("when the service does not know the cursor any more, the list is loaded again, once, and replaces everything", async (t) => {
  const lists = [["01"], ["03", "02"]];
  const { inbox, streams, sentTo } = startInbox(t, { list: () => page(lists.shift()!) });
  await until(() => isReady(inbox));
  // A snapshot is older than the list that is loaded because of it.
  for (const id of ["00", "01", "02"]) streams[0]!.send(event("s", message(id, { snapshot: true })));
  await until(() => idsOf(inbox).join() === "03,02");
  streams[0]!.send(event("1", message("04")));
  await until(() => inbox.state.messages.length === 3);
  assert.deepEqual([idsOf(inbox), sentTo("list").length], [["04", "03", "02"], 2]);
});

test("older messages continue the list, and none is shown twice", async (t) => {
  const { inbox, sentTo } = startInbox(t, {
    list: ({ query }) => (query.has("cursor") ? page(["02", "01"]) : page(["03", "02"], "p2")),
  });
  await until(() => isReady(inbox));
  assert.equal(inbox.state.hasMore, true);
  await inbox.loadMore();
  assert.deepEqual([idsOf(inbox), inbox.state.hasMore], [["03", "02", "01"], false]);
  assert.deepEqual(
    sentTo("list").map(({ query }) => query.get("cursor")),
    [null, "p2"],
  );
});

test("a view shows its own messages, whatever arrives late for an earlier one", async (t) => {
  const { promise: late, resolve: respondLate } = Promise.withResolvers<void>();
  const { inbox } = startInbox(t, {
    list: ({ query }) => {
      if (query.get("unread_only") === "true") return late.then(() => page(["03"]));
      return page([query.get("archived") === "true" ? "02" : "01"]);
    },
  });
  await until(() => isReady(inbox));
  assert.deepEqual(idsOf(inbox), ["01"]);
  const unread = inbox.show("unread");
  await inbox.show("archived");
  respondLate();
  await unread;
  assert.deepEqual([inbox.state.view, idsOf(inbox)], ["archived", ["02"]]);
  await inbox.show("unread");
  assert.deepEqual(idsOf(inbox), ["03"]);
});

test("marking everything repeats the call until nothing is left, and shows the last counts", async (t) => {
  let left = 3;
  const { inbox, sentTo } = startInbox(t, {
    list: () => page(["02", "01"]),
    mark: () => json({ data: { unread_count: --left, unseen_count: 0, has_more: left > 0 } }),
  });
  await until(() => isReady(inbox));
  await inbox.mark("all", { read: true });
  assert.deepEqual([sentTo("mark").length, inbox.state.unreadCount], [3, 0]);
  assert.ok(inbox.state.messages.every(({ read_at }) => read_at !== undefined));
  await inbox.mark([], { read: true });
  assert.equal(sentTo("mark").length, 3, "no messages are not all messages");
});

test("a refused token is replaced once, and one that is about to expire before it is refused", async (t) => {
  const refuseFirst = ({ token }: Sent) => (token === "sst_1" ? refusal() : page(["01"]));
  const { inbox, sentTo } = startInbox(t, { list: refuseFirst });
  await until(() => isReady(inbox));
  assert.deepEqual(idsOf(inbox), ["01"]);
  assert.deepEqual(
    sentTo("list").map(({ token }) => token),
    ["sst_1", "sst_2"],
  );

  const expiring = startInbox(t, { list: () => page([]) }, new Date(Date.now() + 5_000).toISOString());
  await until(() => isReady(expiring.inbox));
  await expiring.inbox.show("all");
  const used = expiring.sentTo("list").map(({ token }) => token);
  assert.equal(new Set(used).size, 2);
  const lasting = startInbox(t, {}, new Date(Date.now() + 3_600_000).toISOString());
  await until(() => isReady(lasting.inbox));
  await lasting.inbox.show("all");
  assert.deepEqual(
    lasting.sentTo("list").map(({ token }) => token),
    ["sst_1", "sst_1"],
  );
});
