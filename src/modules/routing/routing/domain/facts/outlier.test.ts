import assert from "node:assert/strict";
import { test } from "node:test";
import { applyOutcome, type ItemOutcome, type RecipientHealth, unknownHealth } from "./outlier.ts";

const config = { consecutiveFailures: 3, ejectS: 30, maxEjectedPct: 50 };
const nowMs = 1_800_000_000_000;

function after(
  outcomes: readonly ItemOutcome["status"][],
  from = unknownHealth,
  atMs = nowMs,
  share = 0.1,
): RecipientHealth {
  return outcomes.reduce((health, status) => applyOutcome(health, { status }, config, atMs, share), from);
}

test("consecutive failures and timeouts eject; a success resets the count, declined and cancelled are ignored", () => {
  const table: [ItemOutcome["status"][], boolean][] = [
    [["failure", "failure"], false],
    [["failure", "failure", "failure"], true],
    [["failure", "timeout", "failure"], true],
    [["failure", "failure", "success", "failure", "failure"], false],
    [["failure", "declined", "failure", "cancelled", "failure"], true],
    [["declined", "declined", "declined", "cancelled"], false],
  ];
  for (const [outcomes, isEjected] of table) {
    assert.equal(after(outcomes).ejectedUntilMs > nowMs, isEjected, outcomes.join(" "));
  }
});

test("each ejection without a success lasts longer, up to ten times; a success resets the duration", () => {
  let health = unknownHealth;
  let atMs = nowMs;
  const lengths: number[] = [];
  for (let nth = 0; nth < 12; nth++) {
    health = after(["failure", "failure", "failure"], health, atMs);
    lengths.push((health.ejectedUntilMs - atMs) / 30_000);
    atMs = health.ejectedUntilMs;
  }
  assert.deepEqual(lengths, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 10, 10]);
  health = after(["success", "failure", "failure", "failure"], health, atMs);
  assert.equal(health.ejectedUntilMs, atMs + 30_000);
});

test("an outcome during an ejection does not change the ejection", () => {
  const ejected = after(["failure", "failure", "failure"]);
  const during = after(["failure", "failure", "failure", "timeout", "success"], ejected, nowMs + 1000);
  assert.deepEqual([during.ejectedUntilMs, during.ejections], [ejected.ejectedUntilMs, 1]);
  const again = after(["failure", "failure"], during, nowMs + 30_000);
  assert.equal(again.ejectedUntilMs, ejected.ejectedUntilMs);
});

test("no recipient is ejected beyond the allowed share; the next failure tries again", () => {
  const notEjected = after(["failure", "failure", "failure", "failure"], unknownHealth, nowMs, 0.51);
  assert.equal(notEjected.ejectedUntilMs, 0);
  assert.ok(after(["failure"], notEjected, nowMs, 0.5).ejectedUntilMs > nowMs);
  const seven = { ...config, maxEjectedPct: 7 };
  assert.ok(applyOutcome(notEjected, { status: "failure" }, seven, nowMs, 7 / 100).ejectedUntilMs > nowMs);
});

test("0 failures disables ejection", () => {
  let health = unknownHealth;
  for (let nth = 0; nth < 100; nth++) {
    health = applyOutcome(health, { status: "failure" }, { ...config, consecutiveFailures: 0 }, nowMs, 0.1);
  }
  assert.equal(health.ejectedUntilMs, 0);
});

test("averages start with the first value and halve every ten outcomes and every five minutes", () => {
  const seen = (from: RecipientHealth, latencyMs: number, atMs = nowMs) =>
    applyOutcome(from, { status: "success", latencyMs, cost: latencyMs / 10 }, config, atMs, 0);
  const first = seen(unknownHealth, 100);
  assert.deepEqual([first.latencyMs, first.cost], [100, 10]);
  let health = first;
  for (let nth = 0; nth < 10; nth++) health = seen(health, 200);
  assert.ok(Math.abs(health.latencyMs! - 150) < 1e-9 && Math.abs(health.cost! - 15) < 1e-9);
  const later = seen(first, 200, nowMs + 5 * 60_000);
  assert.ok(later.latencyMs! > 150 && later.latencyMs! < 155);
  // A late outcome must not give the past a weight above 1.
  assert.ok(Math.abs(seen(first, 200, nowMs - 60_000).latencyMs! - seen(first, 200).latencyMs!) < 1e-9);
});

test("only successes and timeouts update the latency, so a fast failure does not look fast", () => {
  const health = applyOutcome(unknownHealth, { status: "success", latencyMs: 100 }, config, nowMs, 0);
  for (const status of ["failure", "declined", "cancelled"] as const) {
    assert.equal(applyOutcome(health, { status, latencyMs: 1 }, config, nowMs, 0).latencyMs, 100);
  }
  assert.ok(applyOutcome(health, { status: "timeout", latencyMs: 1000 }, config, nowMs, 0).latencyMs! > 100);
  assert.equal(applyOutcome(health, { status: "success" }, config, nowMs, 0).latencyMs, 100);
});
