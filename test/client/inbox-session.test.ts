import assert from "node:assert/strict";
import { test } from "node:test";
import { createInbox } from "../../clients/typescript/src/inbox/inbox-session.ts";
import { until } from "./until.ts";

const message = (id: string) => ({ id, title: id, created_at: "2026-03-02T10:00:00Z" });
const json = (body: object) => new Response(JSON.stringify(body), { headers: { "content-type": "application/json" } });

test("a message that arrives while the list is being loaded stays in the list", async (t) => {
  const { promise: listed, resolve: respondWithList } = Promise.withResolvers<Response>();
  let stream: ReadableStreamDefaultController<Uint8Array> | undefined;
  const isAsked = { list: false };
  const inbox = createInbox({
    baseUrl: "http://127.0.0.1",
    subscriberId: "ada",
    getToken: async () => ({ token: "sst_token" }),
    fetch: async (url, init) => {
      const { pathname } = new URL(String(url));
      if (pathname.endsWith(":unread")) return json({ data: { unread_count: 2, unseen_count: 2 } });
      if (!pathname.endsWith(":watch")) {
        isAsked.list = true;
        return listed;
      }
      const body = new ReadableStream<Uint8Array>({
        start(controller) {
          stream = controller;
          init?.signal?.addEventListener("abort", () => controller.close());
        },
      });
      return new Response(body, { headers: { "content-type": "text/event-stream" } });
    },
  });
  t.after(() => inbox.stop());
  inbox.start();
  await until(async () => isAsked.list);
  stream!.enqueue(Buffer.from(`id: 1\ndata: ${JSON.stringify(message("02"))}\n\n`));
  await until(async () => inbox.state.messages.length === 1);
  // The service read the list before the message was stored.
  respondWithList(json({ data: [message("01")], next_cursor: "" }));
  await until(async () => inbox.state.status === "ready");
  assert.deepEqual(
    inbox.state.messages.map(({ id }) => id),
    ["02", "01"],
  );
});
