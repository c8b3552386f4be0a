import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../../../../test/harness/random.ts";
import {
  type DeadLetterOperation,
  type DeadLetterState,
  type LetterStatus,
  partition,
  type SkipReason,
  skipReason,
} from "./dead-letter.ts";

/** The expected skip reason for each operation and each state of a letter that can still be retried. */
const table: Record<DeadLetterOperation, Record<DeadLetterState | "none", SkipReason | undefined>> = {
  retry: { none: "not_found", failed: undefined, retrying: "retrying", quarantined: "quarantined" },
  quarantine: { none: "not_found", failed: undefined, retrying: "retrying", quarantined: "quarantined" },
  release: { none: "not_found", failed: "not_quarantined", retrying: "retrying", quarantined: undefined },
};

const letterStatus = (state: DeadLetterState, retryCount: number): LetterStatus => ({
  queueItemId: "a",
  state,
  retryCount,
  maxRetries: 3,
});

test("every operation changes letters in one state only, and gives a reason for skipping all others", () => {
  for (const [operation, states] of Object.entries(table)) {
    for (const [state, reason] of Object.entries(states)) {
      const letter = state === "none" ? undefined : letterStatus(state as DeadLetterState, 2);
      assert.equal(skipReason(operation as DeadLetterOperation, letter), reason, `${operation} of ${state}`);
    }
  }
});

test("the maximum number of retries limits retries of failed letters, and nothing else", () => {
  for (const count of [3, 4]) {
    assert.equal(skipReason("retry", letterStatus("failed", count)), "max_retries");
    assert.equal(skipReason("retry", letterStatus("quarantined", count)), "quarantined");
    assert.equal(skipReason("quarantine", letterStatus("failed", count)), undefined);
    assert.equal(skipReason("release", letterStatus("quarantined", count)), undefined);
  }
});

test("each named letter is either changed or skipped, once, in the given order", () => {
  const ids = ["a", "b", "c", "d", "e"];
  const letters = fc.uniqueArray(
    fc.record({
      queueItemId: fc.constantFrom(...ids),
      state: fc.constantFrom<DeadLetterState>("failed", "retrying", "quarantined"),
      retryCount: fc.nat(4),
      maxRetries: fc.nat(4),
    }),
    { selector: (letter) => letter.queueItemId },
  );
  fc.assert(
    fc.property(
      fc.shuffledSubarray(ids),
      letters,
      fc.constantFrom("retry", "quarantine", "release"),
      (named, found, operation) => {
        const { changed, skipped } = partition(operation, named, found);
        const parts = [...changed, ...skipped.map((each) => each.queueItemId)];
        assert.deepEqual(new Set(parts), new Set(named));
        assert.equal(parts.length, named.length);
        const inOrder = (part: readonly string[]) => named.filter((id) => part.includes(id));
        assert.deepEqual(changed, inOrder(changed));
        for (const id of changed) assert.ok(found.some((letter) => letter.queueItemId === id));
      },
    ),
  );
});
