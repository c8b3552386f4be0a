import assert from "node:assert/strict";
import { test } from "node:test";
import { createRouter } from "./router.ts";
import { parseTemplate } from "./template.ts";

const templates = [
  "GET /api/pools",
  "POST /api/pools",
  "GET /api/pools/{pool_id}",
  "PATCH /api/pools/{pool_id}",
  "POST /api/pools/{pool_id}:set_enabled",
  "GET /api/queues/admission-groups",
  "GET /api/queues/{pool_id}/status",
  "POST /api/queues/{pool_id}/groups/{kind}/{group_id}:clear",
  "GET /api/queues/{pool_id}/groups/{kind}/{group_id}",
  "POST /api/keys:verify",
  "GET /api/events/subscribe",
  "GET /api/events/{filter.event_id}",
];
const router = createRouter(
  templates.map((template) => {
    const [verb, path] = template.split(" ") as [string, string];
    return { verb, path, target: template };
  }),
);

// Path variables stay encoded here. They are decoded with the rest of the request, after authentication.
const found: readonly (readonly [request: string, template: string, variables: Record<string, string>])[] = [
  ["GET /api/pools", "GET /api/pools", {}],
  ["HEAD /api/pools", "GET /api/pools", {}],
  ["GET /api/pools/p1", "GET /api/pools/{pool_id}", { pool_id: "p1" }],
  ["GET /api/pools/a%20b%2Fc", "GET /api/pools/{pool_id}", { pool_id: "a%20b%2Fc" }],
  ["POST /api/pools/p1:set_enabled", "POST /api/pools/{pool_id}:set_enabled", { pool_id: "p1" }],
  ["GET /api/pools/urn:x:1", "GET /api/pools/{pool_id}", { pool_id: "urn:x:1" }],
  ["GET /api/pools/p1%3Aset_enabled", "GET /api/pools/{pool_id}", { pool_id: "p1%3Aset_enabled" }],
  ["GET /api/queues/admission-groups", "GET /api/queues/admission-groups", {}],
  // The router backtracks from a literal without a match to the variable.
  ["GET /api/queues/admission-groups/status", "GET /api/queues/{pool_id}/status", { pool_id: "admission-groups" }],
  [
    "POST /api/queues/q/groups/throttle/g1:clear",
    "POST /api/queues/{pool_id}/groups/{kind}/{group_id}:clear",
    { pool_id: "q", kind: "throttle", group_id: "g1" },
  ],
  ["POST /api/keys:verify", "POST /api/keys:verify", {}],
  ["GET /api/events/subscribe", "GET /api/events/subscribe", {}],
  ["GET /api/events/e1", "GET /api/events/{filter.event_id}", { "filter.event_id": "e1" }],
];
for (const [request, template, variables] of found) {
  test(`${request} matches ${template}`, () => {
    const [verb, path] = request.split(" ") as [string, string];
    const match = router.find(verb, path);
    assert.ok(match !== undefined && "target" in match);
    assert.equal(match.target, template);
    assert.deepEqual(Object.fromEntries(match.variables), variables);
  });
}

test("a path without a template has no match", () => {
  for (const path of [
    "/",
    "/api",
    "/api/pools/",
    "/api/pools/p1/x",
    "/api/pool",
    "/api//pools",
    "/api/queues//status",
  ]) {
    assert.equal(router.find("GET", path), undefined, path);
  }
});

test("a path with another method returns the allowed methods", () => {
  assert.deepEqual(router.find("DELETE", "/api/pools/p1"), { allow: ["GET", "PATCH"] });
});

test("two operations with the same path stop the start, even if their variables have different names", () => {
  const routes = [
    { verb: "GET", path: "/a/{x}", target: 1 },
    { verb: "GET", path: "/a/{y}", target: 2 },
  ];
  assert.throws(() => createRouter(routes), /have the same path/);
});

test("a template that does not match the grammar stops the start", () => {
  for (const path of ["a", "/{x=**}", "/a/*", "/a//b", "/a/{X}", "/a/{x}y", "/a:", "/a/{x"]) {
    assert.throws(() => parseTemplate(path), /not a path template/, path);
  }
});
