import assert from "node:assert/strict";
import { test } from "node:test";
import { poolFamilies, scopeOf } from "./event-scope.ts";
import { eventTypes } from "./event-types.ts";

/** Types whose subject is the pool itself. */
const aboutPools = [/^pool\./, /^dead_letter\./, /^queue\.(paused|resumed|drained)$/];

test("every type of a pool's family names its pool in its data or as its subject", () => {
  for (const [type, [, data]] of Object.entries(eventTypes)) {
    if (!poolFamilies.has(type.split(".")[0]!)) continue;
    const named = data.split(" ").includes("pool_id");
    assert.notEqual(
      named,
      aboutPools.some((pattern) => pattern.test(type)),
      type,
    );
    const event = { type, subject: "subject", data: named ? { pool_id: "pool" } : {} };
    assert.deepEqual(scopeOf(event), { poolId: named ? "pool" : "subject" });
  }
});

test("a type whose data names a pool belongs to a pool's family", () => {
  for (const [type, [, data]] of Object.entries(eventTypes)) {
    if (data.split(" ").includes("pool_id")) assert.ok(poolFamilies.has(type.split(".")[0]!), type);
  }
});

test("events about an environment are scoped to it, and other events have no scope", () => {
  assert.deepEqual(scopeOf({ type: "environment.created", subject: "e", data: {} }), { environmentId: "e" });
  const trigger = { type: "workflow.trigger.created", subject: "t", data: { environment_id: "e" } };
  assert.deepEqual(scopeOf(trigger), { environmentId: "e" });
  assert.equal(scopeOf({ type: "member.invited", subject: "m", data: {} }), undefined);
  assert.equal(scopeOf({ type: "order.paid", subject: "p", data: { pool_id: "p" } }), undefined);
});
