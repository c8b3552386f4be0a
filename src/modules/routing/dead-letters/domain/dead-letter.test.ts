import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../../../../test/harness/random.ts";
import {
  type DeadLetterState,
  type DeadLetterVerb,
  partition,
  type SkipReason,
  type Standing,
  skipReason,
} from "./dead-letter.ts";

/** What each verb answers for a letter in each state that may still be put back, and for none. */
const table: Record<DeadLetterVerb, Record<DeadLetterState | "none", SkipReason | undefined>> = {
  retry: { none: "not_found", failed: undefined, retrying: "retrying", quarantined: "quarantined" },
  quarantine: { none: "not_found", failed: undefined, retrying: "retrying", quarantined: "quarantined" },
  release: { none: "not_found", failed: "not_quarantined", retrying: "retrying", quarantined: undefined },
};

const standing = (state: DeadLetterState, retryCount: number): Standing => ({
  queueItemId: "a",
  state,
  retryCount,
  maxRetries: 3,
});

test("every verb changes letters in one state only, and says of all others why it leaves them", () => {
  for (const [verb, states] of Object.entries(table)) {
    for (const [state, reason] of Object.entries(states)) {
      const letter = state === "none" ? undefined : standing(state as DeadLetterState, 2);
      assert.equal(skipReason(verb as DeadLetterVerb, letter), reason, `${verb} of ${state}`);
    }
  }
});

test("the ceiling stops retries of failed letters, and nothing else", () => {
  for (const count of [3, 4]) {
    assert.equal(skipReason("retry", standing("failed", count)), "max_retries");
    assert.equal(skipReason("retry", standing("quarantined", count)), "quarantined");
    assert.equal(skipReason("quarantine", standing("failed", count)), undefined);
    assert.equal(skipReason("release", standing("quarantined", count)), undefined);
  }
});

test("each letter that is named is either changed or skipped, once, in the order of naming", () => {
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
      (named, found, verb) => {
        const { changed, skipped } = partition(verb, named, found);
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
