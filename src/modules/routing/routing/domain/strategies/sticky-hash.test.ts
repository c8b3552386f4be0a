import assert from "node:assert/strict";
import { test } from "node:test";
import { decide } from "../decision-engine.ts";
import { LivePool } from "../facts/live-pool.ts";
import { at, itemOf, nowMs, poolOf, type RecipientParts, tally } from "../testing/fixtures.ts";

const keys = Array.from({ length: 20_000 }, (_, nth) => `customer-${nth}`);

/** The recipient of each key, each with its own seed. */
function places(recipients: readonly RecipientParts[], prepare?: (live: LivePool) => void): Map<string, string> {
  const pool = poolOf({ strategy: "sticky_hash", recipients });
  const live = new LivePool(pool);
  prepare?.(live);
  return new Map(keys.map((key, nth) => [key, decide(pool, live, itemOf({ key }), at(nth)).recipientId]));
}

const ten = Array.from({ length: 10 }, (_, nth) => ({ id: `r${nth}`, weight: 50 + 20 * nth }));

test("a key stays with its recipient, whatever the seed and the order of recipients", () => {
  const before = places(ten);
  assert.deepEqual(places(ten), before);
  assert.deepEqual(places(ten.toReversed()), before);
});

test("removing, pausing or filling a recipient moves only its own keys, and spreads them by weight", () => {
  const before = places(ten);
  const own = keys.filter((key) => before.get(key) === "r4");
  assert.ok(own.length > 0);
  const after = [
    places(ten.filter(({ id }) => id !== "r4")),
    places(ten.map((recipient) => (recipient.id === "r4" ? { ...recipient, status: "paused" as const } : recipient))),
    places(
      ten.map((recipient) => ({ ...recipient, capacity: 1 })),
      (live) => live.assigned("r4", nowMs),
    ),
  ];
  for (const moved of after) {
    for (const key of keys) {
      if (before.get(key) === "r4") assert.notEqual(moved.get(key), "r4");
      else assert.equal(moved.get(key), before.get(key));
    }
    assert.equal(new Set(own.map((key) => moved.get(key))).size, 9);
  }
});

test("adding a recipient moves only its own share of keys", () => {
  const before = places(ten);
  const after = places([...ten, { id: "new", weight: 140 }]);
  const moved = keys.filter((key) => after.get(key) !== before.get(key));
  for (const key of moved) assert.equal(after.get(key), "new");
  const share = 140 / (140 + ten.reduce((sum, { weight }) => sum + weight, 0));
  assert.ok(Math.abs(moved.length / keys.length - share) < 0.01, `${moved.length} moved`);
});

test("more weight only adds keys, less weight only removes keys", () => {
  const before = places(ten);
  const heavier = places(ten.map((recipient) => (recipient.id === "r2" ? { ...recipient, weight: 300 } : recipient)));
  for (const key of keys) {
    if (heavier.get(key) !== before.get(key)) assert.equal(heavier.get(key), "r2");
  }
});

test("keys are spread by weight", () => {
  const counts = tally([...places(ten).values()].map((recipientId) => ({ recipientId }) as never));
  const total = ten.reduce((sum, { weight }) => sum + weight, 0);
  for (const { id, weight } of ten) {
    const expected = (keys.length * weight) / total;
    assert.ok(Math.abs(counts[id]! - expected) < 5 * Math.sqrt(expected), `${id}: ${counts[id]} of ${expected}`);
  }
});

test("the hash key of the pool is used; if it fails or is empty, the key of the item is", () => {
  const recipients = ten;
  const byAccount = poolOf({
    strategy: "sticky_hash",
    recipients,
    config: { selection: { hashKey: "item.attributes.account" } },
  });
  const plain = poolOf({ strategy: "sticky_hash", recipients });
  const live = new LivePool(byAccount);
  const chosen = (key: string, attributes: Record<string, unknown>, nth: number) =>
    decide(byAccount, live, itemOf({ key, attributes }), at(nth));
  const byKey = (key: string) => decide(plain, new LivePool(plain), itemOf({ key }), at(1)).recipientId;
  for (let nth = 0; nth < 30; nth++) {
    assert.equal(chosen(`k${nth}`, { account: "acme" }, nth).recipientId, byKey("acme"));
    assert.equal(chosen(`k${nth}`, { account: "" }, nth).recipientId, byKey(`k${nth}`));
    const without = chosen(`k${nth}`, {}, nth);
    assert.equal(without.recipientId, byKey(`k${nth}`));
    assert.ok(without.trace.some(({ result }) => result === "hash_key_failed"));
    assert.equal(chosen("", { account: 42 }, nth).recipientId, byKey("42"));
  }
});

test("items without a key do not all go to one recipient", () => {
  const pool = poolOf({ strategy: "sticky_hash", recipients: ten });
  const live = new LivePool(pool);
  assert.equal(
    new Set(Array.from({ length: 300 }, (_, nth) => decide(pool, live, itemOf(), at(nth)).recipientId)).size,
    10,
  );
});
