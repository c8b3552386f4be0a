import assert from "node:assert/strict";
import { test } from "node:test";
import type { Principal, TenantId } from "../../platform/access/index.ts";
import { createConfirmations } from "./confirmation.ts";
import type { Tool } from "./tools.ts";

const principal: Principal = {
  ...{ tenantId: "t" as TenantId, subject: "key:1", kind: "api_key", roles: [], scopes: new Set() },
  environmentMode: "any",
};
const subject = { tool: { name: "cancel" } as Tool, args: { id: "1", deep: { b: 1, a: 2 } }, principal };

test("a state is valid for the call that it was issued for, on every node with the secret, until it expires", () => {
  let nowMs = 1_000_000;
  const now = () => nowMs;
  const secret = Buffer.alloc(32, 1);
  const state = createConfirmations(secret, now).issue(subject);
  const other = createConfirmations(secret, now);
  assert.ok(other.verify(subject, state));
  assert.ok(other.verify({ ...subject, args: { deep: { a: 2, b: 1 }, id: "1" } }, state), "the order does not matter");
  nowMs += 10 * 60_000;
  assert.ok(other.verify(subject, state));
  nowMs += 1;
  assert.ok(!other.verify(subject, state));
});

test("a state is not valid for another tool, caller, tenant, arguments or secret", () => {
  const confirmations = createConfirmations(Buffer.alloc(32, 1), () => 0);
  const state = confirmations.issue(subject);
  const others = [
    { ...subject, tool: { name: "delete" } as Tool },
    { ...subject, args: { id: "2" } },
    { ...subject, principal: { ...principal, subject: "key:2" } },
    { ...subject, principal: { ...principal, kind: "user" as const } },
    { ...subject, principal: { ...principal, tenantId: "u" as TenantId } },
  ];
  for (const other of others) assert.ok(!confirmations.verify(other, state));
  assert.ok(!createConfirmations(Buffer.alloc(32, 2), () => 0).verify(subject, state));
  for (const wrong of [undefined, 7, {}, "", "0.", `${state}A`]) assert.ok(!confirmations.verify(subject, wrong));
});
