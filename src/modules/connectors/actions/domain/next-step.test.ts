import assert from "node:assert/strict";
import { test } from "node:test";
import type { Action, AnswerClass } from "../../manifests/index.ts";
import { type AttemptResult, nextStep, type Progress } from "./next-step.ts";

type Actionish = Pick<Action, "mutation" | "retry">;

const action = (effect: Action["mutation"]["effect"], idempotency: Action["mutation"]["idempotency"]): Actionish => ({
  mutation: { effect, destructive: false, idempotency, keyIn: undefined },
  retry:
    idempotency === "none"
      ? { maxAttempts: 3, on: ["rate_limited"] }
      : { maxAttempts: 3, on: ["unavailable", "rate_limited"] },
});
const once = action("create", "none");
const keyed = action("create", "key");
const natural = action("update", "natural");
const read = action("read", "natural");

const progress: Progress = {
  ...{ nowMs: 1000, deadlineMs: 31_000, attempt: 1, isRenewed: false, mayHaveTakenEffect: false, random: 0 },
};
const result = (answerClass: AnswerClass, more: Partial<AttemptResult> = {}): AttemptResult => ({
  ...{ class: answerClass, notSent: false, mayHaveTakenEffect: false },
  ...more,
});
const lost = result("unavailable", { mayHaveTakenEffect: true });
const refused = result("unavailable", { notSent: true });

test("a write that may have arrived is never sent again, and its outcome is unknown", () => {
  for (const each of [lost, result("malformed", { mayHaveTakenEffect: true })]) {
    assert.deepEqual(nextStep(once, each, progress), { step: "end", status: "outcome_unknown" });
  }
});

test("a write that certainly did not arrive is sent again within its attempts", () => {
  assert.deepEqual(nextStep(once, refused, progress), { step: "retry", atMs: 1100 });
  assert.deepEqual(nextStep(once, refused, { ...progress, attempt: 3 }), { step: "end", status: "failed" });
});

test("a write that the provider refused because of its limits is sent again when the provider allows it", () => {
  const limited = result("rate_limited", { retryAtMs: 5000 });
  assert.deepEqual(nextStep(once, limited, progress), { step: "retry", atMs: 5000 });
  assert.deepEqual(nextStep(once, { ...limited, retryAtMs: 40_000 }, progress), { step: "end", status: "failed" });
});

test("repeatable actions are sent again after a lost answer, until their attempts are used up", () => {
  for (const each of [keyed, natural, read]) {
    assert.deepEqual(nextStep(each, lost, progress), { step: "retry", atMs: 1100 });
  }
  assert.deepEqual(nextStep(keyed, lost, { ...progress, attempt: 3 }), { step: "end", status: "outcome_unknown" });
  assert.deepEqual(nextStep(read, lost, { ...progress, attempt: 3 }), { step: "end", status: "failed" });
});

test("a change stays unknown if an earlier attempt may have taken effect, whatever the last answer is", () => {
  const earlier = { ...progress, mayHaveTakenEffect: true, isRenewed: true };
  for (const each of [result("rate_limited", { retryAtMs: 1e9 }), result("not_found"), result("auth_expired")]) {
    assert.deepEqual(nextStep(keyed, each, earlier), { step: "end", status: "outcome_unknown" });
    assert.deepEqual(nextStep(read, each, earlier), { step: "end", status: "failed" });
  }
});

test("rejected credentials are renewed once, for every kind of action", () => {
  for (const each of [once, keyed, natural, read]) {
    assert.deepEqual(nextStep(each, result("auth_expired"), progress), { step: "renew" });
    const again = nextStep(each, result("auth_expired"), { ...progress, isRenewed: true });
    assert.deepEqual(again, { step: "end", status: "failed" });
  }
});

test("refusals are final", () => {
  for (const each of ["permission_denied", "not_found", "conflict", "invalid_input", "failed"] as const) {
    for (const kind of [once, keyed, natural, read]) {
      assert.deepEqual(nextStep(kind, result(each), progress), { step: "end", status: "failed" });
    }
  }
});

test("no retry starts that could not be answered before the deadline", () => {
  assert.deepEqual(nextStep(keyed, lost, { ...progress, deadlineMs: 1120 }), {
    step: "end",
    status: "outcome_unknown",
  });
});
