import assert from "node:assert/strict";
import { test } from "node:test";
import { type IntentAction, type IntentStatus, nextStatus, statusAt } from "./intent.ts";

const expiresAt = new Date(10_000);

const table: Record<IntentStatus, Record<Exclude<IntentAction, "expire">, string>> = {
  prepared: { upload: "uploaded", commit: "OBJECT_NOT_UPLOADED", abort: "aborted" },
  uploaded: { upload: "repeat", commit: "committed", abort: "aborted" },
  committed: { upload: "repeat", commit: "repeat", abort: "OBJECT_INTENT_ENDED" },
  aborted: { upload: "OBJECT_INTENT_ENDED", commit: "OBJECT_INTENT_ENDED", abort: "repeat" },
  expired: { upload: "OBJECT_INTENT_ENDED", commit: "OBJECT_INTENT_ENDED", abort: "OBJECT_INTENT_ENDED" },
};

for (const [status, actions] of Object.entries(table)) {
  for (const [action, expected] of Object.entries(actions)) {
    test(`${action} of an object that is ${status}: ${expected}`, () => {
      const next = () => nextStatus({ status: status as IntentStatus, expiresAt }, action as IntentAction, 9999);
      if (expected.startsWith("OBJECT_")) assert.throws(next, { code: expected });
      else assert.equal(next(), expected);
    });
  }
}

test("an intent expires on time, unless it has ended", () => {
  const at = (status: IntentStatus, nowMs: number) => statusAt({ status, expiresAt }, nowMs);
  assert.equal(at("uploaded", 9999), "uploaded");
  assert.equal(at("uploaded", 10_000), "expired");
  assert.equal(at("prepared", 10_000), "expired");
  assert.equal(at("committed", 10_000), "committed");
  assert.equal(at("aborted", 10_000), "aborted");
});
