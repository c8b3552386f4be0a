import assert from "node:assert/strict";
import { test } from "node:test";
import { type AttemptFailure, concernsEndpoint, messageIdOf, resultOf, verdictOn } from "./delivery.ts";

test("only 2xx is success; a redirect is none", () => {
  for (const status of [200, 201, 202, 204, 299]) assert.equal(resultOf(status).failure, undefined, String(status));
  for (const status of [301, 302, 304, 307, 400, 401, 404, 410, 429, 500, 503]) {
    assert.equal(resultOf(status).failure, "status", String(status));
  }
});

test("a failure is tried again until the last attempt, 410 and a forgotten event never", () => {
  const failed = resultOf(500);
  for (let attempts = 1; attempts <= 9; attempts++) {
    assert.equal(verdictOn(failed, attempts, 0.5).status, "pending", String(attempts));
  }
  assert.deepEqual(verdictOn(failed, 10, 0.5), { status: "failed", endpointGone: false });
  assert.deepEqual(verdictOn(failed, 1, 0.5), { status: "pending", waitMs: 5000 });
  assert.deepEqual(verdictOn(resultOf(410), 1, 0.5), { status: "failed", endpointGone: true });
  const forgotten = { responseStatus: undefined, failure: "event_forgotten" } as const;
  assert.deepEqual(verdictOn(forgotten, 1, 0.5), { status: "failed", endpointGone: false });
  assert.deepEqual(verdictOn(resultOf(204), 10, 0.5), { status: "succeeded" });
});

test("what went wrong on this side is not held against the endpoint", () => {
  const concerns = (failure: AttemptFailure) => concernsEndpoint({ responseStatus: undefined, failure });
  assert.ok(!concerns("event_forgotten") && !concerns("secret_unreadable"));
  for (const failure of ["timeout", "dns", "connect", "tls", "denied", "connection_lost"] as const) {
    assert.ok(concerns(failure), failure);
  }
});

test("a message's id is that of one event at one endpoint", () => {
  assert.equal(messageIdOf({ eventId: "E", endpointId: "P" }), messageIdOf({ eventId: "E", endpointId: "P" }));
  assert.notEqual(messageIdOf({ eventId: "E", endpointId: "P" }), messageIdOf({ eventId: "E", endpointId: "Q" }));
});
