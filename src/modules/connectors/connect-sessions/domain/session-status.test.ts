import assert from "node:assert/strict";
import { test } from "node:test";
import {
  hasEnded,
  nextStatus,
  type SessionStatus,
  type SessionVerb,
  sessionStatuses,
  sessionVerbs,
  statusAt,
} from "./session-status.ts";

test("every status allows exactly the verbs of the table", () => {
  const open = { complete: "completed", fail: "failed", expire: "expired", revoke: "revoked" } as const;
  const expected: Record<SessionStatus, Partial<Record<SessionVerb, SessionStatus>>> = {
    pending: { ...open, authorize: "authorizing" },
    authorizing: { ...open, authorize: "authorizing", retry: "pending" },
    completed: {},
    failed: {},
    expired: {},
    revoked: {},
  };
  for (const status of sessionStatuses) {
    for (const verb of sessionVerbs) {
      assert.equal(nextStatus(status, verb), expected[status][verb], `${status} ${verb}`);
    }
  }
});

test("a session that has ended leaves its status no more", () => {
  const ended = sessionStatuses.filter(hasEnded);
  assert.deepEqual(ended, ["completed", "failed", "expired", "revoked"]);
  for (const status of ended) for (const verb of sessionVerbs) assert.equal(nextStatus(status, verb), undefined);
});

test("an open session is expired from its time on, and an ended one keeps its status", () => {
  const expiresAt = new Date(1000);
  for (const status of sessionStatuses) {
    assert.equal(statusAt({ status, expiresAt }, 999), status);
    assert.equal(statusAt({ status, expiresAt }, 1000), hasEnded(status) ? status : "expired");
  }
});
