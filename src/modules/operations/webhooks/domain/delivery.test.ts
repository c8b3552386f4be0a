import assert from "node:assert/strict";
import { test } from "node:test";
import { type AttemptFailure, countsAgainstEndpoint, messageIdOf, outcomeOf, resultOf } from "./delivery.ts";

test("only 2xx is success; a redirect is not", () => {
  for (const status of [200, 201, 202, 204, 299]) assert.equal(resultOf(status).failure, undefined, String(status));
  for (const status of [301, 302, 304, 307, 400, 401, 404, 410, 429, 500, 503]) {
    assert.equal(resultOf(status).failure, "status", String(status));
  }
});

test("a failure is retried until the last attempt; 410 and a deleted event are never retried", () => {
  const failed = resultOf(500);
  for (let attempts = 1; attempts <= 9; attempts++) {
    assert.equal(outcomeOf(failed, attempts, 0.5).status, "pending", String(attempts));
  }
  assert.deepEqual(outcomeOf(failed, 10, 0.5), { status: "failed", endpointGone: false });
  assert.deepEqual(outcomeOf(failed, 1, 0.5), { status: "pending", waitMs: 5000 });
  assert.deepEqual(outcomeOf(resultOf(410), 1, 0.5), { status: "failed", endpointGone: true });
  const forgotten = { responseStatus: undefined, failure: "event_forgotten" } as const;
  assert.deepEqual(outcomeOf(forgotten, 1, 0.5), { status: "failed", endpointGone: false });
  assert.deepEqual(outcomeOf(resultOf(204), 10, 0.5), { status: "succeeded" });
});

test("failures on this side do not count against the endpoint", () => {
  const concerns = (failure: AttemptFailure) => countsAgainstEndpoint({ responseStatus: undefined, failure });
  assert.ok(!concerns("event_forgotten") && !concerns("secret_unreadable"));
  for (const failure of ["timeout", "dns", "connect", "tls", "denied", "connection_lost"] as const) {
    assert.ok(concerns(failure), failure);
  }
});

test("a message id identifies one event at one endpoint", () => {
  assert.equal(messageIdOf({ eventId: "E", endpointId: "P" }), messageIdOf({ eventId: "E", endpointId: "P" }));
  assert.notEqual(messageIdOf({ eventId: "E", endpointId: "P" }), messageIdOf({ eventId: "E", endpointId: "Q" }));
});
