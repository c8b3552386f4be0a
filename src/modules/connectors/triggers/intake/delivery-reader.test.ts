import assert from "node:assert/strict";
import { test } from "node:test";
import { compileManifest, type Trigger } from "../../manifests/index.ts";
import { challengeReply, eventsOf, readDelivery } from "./delivery-reader.ts";
import type { Delivery } from "./verification.ts";

function triggerOf(more: object): Trigger {
  const { provider, violations } = compileManifest({
    ...{ manifest: 1, key: "acme", version: "1.0.0", name: "Acme", category: "generic", description: "A test." },
    ...{ docs_url: "https://acme.example", hosts: ["acme.example"], base_url: "https://acme.example" },
    auth: { none: {} },
    actions: {},
    triggers: {
      "item.changed": {
        ...{ title: "Changed", description: "Something changed.", kind: "webhook" },
        verify: { kind: "token", header: "x-token" },
        ...more,
      },
    },
  } as never);
  assert.ok(provider, JSON.stringify(violations));
  return provider.triggers.get("item.changed")!;
}

const read = (body: unknown, more: Partial<Delivery> = {}) =>
  readDelivery({
    ...{ method: "POST", headers: {}, url: "https://x.example/hook", ...more },
    rawBody: Buffer.from(typeof body === "string" ? body : JSON.stringify(body)),
  });

test("a delivery becomes one event with the manifest's type, key and output", () => {
  const trigger = triggerOf({
    events: [
      { when: 'headers["x-event"] == "issues"', type: "issue.changed" },
      { when: "body.kind in input.kinds", type: "other.changed" },
    ],
    dedup: 'headers["x-id"]',
    output: { number: "/issue/number", absent: "/nothing" },
  });
  const body = { kind: "b", issue: { number: 7 } };
  const headers = { "x-event": "issues", "x-id": "d-1" };
  assert.deepEqual(eventsOf(trigger, read(body, { headers }), { kinds: [] }), [
    { type: "issue.changed", key: "d-1", payload: { number: 7 } },
  ]);
  assert.deepEqual(eventsOf(trigger, read(body), { kinds: ["b"] }), [
    { type: "other.changed", key: undefined, payload: { number: 7 } },
  ]);
  assert.deepEqual(eventsOf(trigger, read(body), { kinds: ["a"] }), []);
});

test("without filters everything is an event, and without an output its body is the payload", () => {
  assert.deepEqual(eventsOf(triggerOf({}), read({ a: [1] }), {}), [
    { type: "item.changed", key: undefined, payload: { a: [1] } },
  ]);
});

test("a batch becomes an event per item, and a body without its list is malformed", () => {
  const trigger = triggerOf({
    ...{ items: "/events", dedup: "item.id", output: { id: "/id" } },
    events: [{ when: 'item.kind != "noise"', type: "item.changed" }],
  });
  const body = {
    events: [
      { id: 1, kind: "a" },
      { id: 2, kind: "noise" },
      { id: 3, kind: "b" },
    ],
  };
  assert.deepEqual(
    eventsOf(trigger, read(body), {})!.map(({ key, payload }) => [key, payload]),
    [
      ["1", { id: 1 }],
      ["3", { id: 3 }],
    ],
  );
  assert.equal(eventsOf(trigger, read({ events: {} }), {}), undefined);
  assert.equal(eventsOf(trigger, read("no JSON"), {}), undefined);
  assert.equal(read("[".repeat(100_000) + "]".repeat(100_000)).body, null);
  assert.equal(eventsOf(trigger, read({ events: new Array(1001).fill({ id: 1 }) }), {}), undefined);
});

test("forms are read as objects, and a form with JSON as its only member payload as that JSON", () => {
  const headers = { "content-type": "application/x-www-form-urlencoded; charset=utf-8" };
  assert.deepEqual(read("a=1&b=x%20y", { headers }).body, { a: "1", b: "x y" });
  assert.deepEqual(read(`payload=${encodeURIComponent('{"a":1}')}`, { headers }).body, { a: 1 });
  assert.deepEqual(read("payload=text", { headers }).body, { payload: "text" });
});

test("challenges are answered from the body, the query, a header or as JSON, and nothing else is a challenge", () => {
  const inBody = triggerOf({ challenge: { when: 'body.type == "url_verification"', respond: { text: "/challenge" } } });
  assert.equal(challengeReply(inBody, read({ type: "url_verification", challenge: "c1" }), {})?.body, "c1");
  assert.equal(challengeReply(inBody, read({ type: "event" }), {}), undefined);
  assert.equal(challengeReply(inBody, read("x"), {}), undefined);
  assert.equal(challengeReply(inBody, read({ type: "url_verification", challenge: "c".repeat(5000) }), {}), undefined);
  const inQuery = triggerOf({
    challenge: { when: 'query["hub.mode"] == "subscribe"', respond: { query: "hub.challenge" } },
  });
  const url = "https://x.example/hook?hub.mode=subscribe&hub.challenge=42";
  assert.deepEqual(challengeReply(inQuery, read("", { url, method: "GET" }), {}), {
    contentType: "text/plain; charset=utf-8",
    body: "42",
  });
  const asJson = triggerOf({
    challenge: { when: "has(body.challenge)", respond: { json: { challenge: "/challenge" } } },
  });
  assert.deepEqual(challengeReply(asJson, read({ challenge: "c2" }), {}), {
    contentType: "application/json",
    body: '{"challenge":"c2"}',
  });
});
