import assert from "node:assert/strict";
import { test } from "node:test";
import { fail } from "../../../../errors/index.ts";
import { EffectFailure, toEffectFailure } from "./effect-failure.ts";

const lost = Object.assign(new Error("terminated"), { code: "CONNECTION_CLOSED" });

test("an effect that may have been committed has no outcome yet, so it is repeated with the same key", () => {
  assert.equal(toEffectFailure(lost, "route_rejected"), undefined);
  assert.equal(toEffectFailure(fail("CONFLICT", { cause: lost }), "route_rejected"), undefined);
  assert.equal(toEffectFailure(fail("IDEMPOTENCY_IN_PROGRESS"), "route_rejected"), undefined);
  assert.equal(toEffectFailure(new TypeError("a bug"), "route_rejected"), undefined);
});

test("a failure of the service itself uses up no attempt", () => {
  assert.equal(toEffectFailure(fail("UNAVAILABLE"), "notify_failed"), undefined);
  assert.equal(toEffectFailure(fail("TIMEOUT"), "notify_failed"), undefined);
});

test("a refused effect fails its attempt", () => {
  const codeOf = (error: unknown) => {
    const { code, retryable } = toEffectFailure(error, "notify_failed")!;
    return [code, retryable];
  };
  assert.deepEqual(codeOf(fail("NOT_FOUND")), ["notify_failed", false]);
  assert.deepEqual(codeOf(fail("RATE_LIMITED")), ["notify_failed", true]);
  assert.deepEqual(codeOf(fail("CONFLICT")), ["notify_failed", true]);
  assert.deepEqual(codeOf(new EffectFailure("pool_not_found", "none")), ["pool_not_found", false]);
});
