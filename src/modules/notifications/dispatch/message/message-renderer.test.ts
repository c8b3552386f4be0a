import assert from "node:assert/strict";
import { test } from "node:test";
import type { TenantId } from "../../../../platform/access/index.ts";
import { renderMessage } from "./message-renderer.ts";

test("each template of a message is rendered in a new event-loop turn once the current turn is used up", async () => {
  let slices = 0;
  const turns = {
    isOver: () => true,
    async next() {
      slices++;
    },
  };
  const layouts = {
    layoutFor: async () => ({ id: "layout", version: 3 }),
    wrap: (_layout: unknown, content: { body: string; text: string }) => content,
  };
  const content = {
    engine: "liquid",
    subject: "Hello {{ payload.name }}",
    title: "",
    body: "<b>{{ payload.name }}</b>",
    textBody: "{{ payload.name }}",
    data: {},
    layoutId: "",
    attachments: [],
    locales: {},
    strictVariables: false,
  };
  const message = await renderMessage(layouts as never, {
    tenantId: "tenant" as TenantId,
    channel: "email",
    content: content as never,
    values: { subscriber: {}, payload: { name: "Ann" }, workflow_key: "w", transaction_id: "t" },
    nowMs: 0,
    subscriber: { locale: "", timezone: "" } as never,
    markup: undefined,
    casing: "" as never,
    partials: { handlebars: () => undefined, liquid: () => undefined },
    turns,
  });
  assert.ok("html" in message);
  assert.deepEqual([message.subject, message.html, message.text], ["Hello Ann", "<b>Ann</b>", "Ann"]);
  // Body, text, layout, subject and data.
  assert.equal(slices, 5);
});
