import assert from "node:assert/strict";
import { test } from "node:test";
import type { Json } from "../../../../platform/document/index.ts";
import { accountWith, actionWith, compile } from "../testing/manifest-documents.ts";
import { renderRequest } from "./request/render-request.ts";
import { readResponse } from "./response/read-response.ts";

const nowMs = Date.parse("2027-01-31T12:00:00Z");

function bodyFor(json: Json, input: Json): Json {
  const properties = { id: { type: "string" }, name: { type: "string" }, note: { type: "string" } };
  const provider = compile(
    actionWith({
      mutation: { effect: "create" },
      input: { type: "object", properties, additionalProperties: false },
      request: { method: "POST", path: "/items", json },
    }),
  );
  const { request } = provider.actions.get("item.get")!;
  const rendered = renderRequest(provider, request!, { input, account: accountWith(), nowMs });
  assert.ok("body" in rendered, JSON.stringify(rendered));
  return JSON.parse(String(rendered.body)) as Json;
}

test("an object within a body is dropped when all its members are absent, at any depth", () => {
  const json = { id: "{input.id}", assignee: { name: "{input.name}" }, deep: { inner: { note: "{input.note}" } } };
  assert.deepEqual(bodyFor(json, { id: "1" }), { id: "1" });
  assert.deepEqual(bodyFor(json, { id: "1", name: "Ada" }), { id: "1", assignee: { name: "Ada" } });
  assert.deepEqual(bodyFor(json, { id: "1", note: "x" }), { id: "1", deep: { inner: { note: "x" } } });
});

test("objects that are empty in the manifest and the body itself stay", () => {
  assert.deepEqual(bodyFor({ filter: { past_week: {} } }, {}), { filter: { past_week: {} } });
  assert.deepEqual(bodyFor({ name: "{input.name}" }, {}), {});
});

function listWith(paginate: Json, body: Json) {
  const provider = compile(actionWith({ paginate, output: { items: "/items" } }));
  const answer = { status: 200, headers: {}, body: Buffer.from(JSON.stringify(body)) };
  return readResponse(provider, provider.actions.get("item.get")!, answer, { nowMs });
}

test("a list that the provider may leave out is empty when it is absent", () => {
  const paginate = { kind: "cursor", items: "/items", items_optional: true, cursor: "/next", param: "page" };
  assert.deepEqual(listWith(paginate, { estimate: 0 }), { class: "ok", output: { items: [] } });
  assert.deepEqual(listWith(paginate, { items: [1] }), { class: "ok", output: { items: [1] } });
  assert.equal(listWith(paginate, { items: "none" }).class, "malformed");
  assert.equal(listWith(paginate, "none").class, "malformed");
});

test("an absent list is malformed unless the manifest allows it", () => {
  const paginate = { kind: "cursor", items: "/items", cursor: "/next", param: "page" };
  assert.equal(listWith(paginate, { estimate: 0 }).class, "malformed");
});
