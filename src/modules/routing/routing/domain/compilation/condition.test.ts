import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../../../../../test/harness/random.ts";
import { decide } from "../decision-engine.ts";
import { LivePool } from "../facts/live-pool.ts";
import { item, pool } from "../testing/arbitrary.ts";
import { at, itemOf, poolOf } from "../testing/fixtures.ts";
import { Condition } from "./condition.ts";

const rowFor = (condition: Condition, attributes: Record<string, unknown>, key = "") =>
  condition.rowFor({ type: "t", key, attributes, requirements: { skills: {} }, priority: 0 });

test("items with equal values in the fields that a condition reads share its results, others never do", () => {
  const condition = new Condition("recipient.attributes.region == item.attributes.region", 100);
  const eu = rowFor(condition, { region: "eu", other: 1 });
  assert.equal(rowFor(condition, { region: "eu", other: 2 }, "key"), eu);
  for (const region of ["us", 1, null, true, ["eu"], { eu: 1 }, undefined, "1", "null", "true", '["eu"]']) {
    assert.notEqual(rowFor(condition, { region }), eu, String(region));
  }
  assert.notEqual(rowFor(condition, { region: 1 }), rowFor(condition, { region: "1" }));
  assert.notEqual(rowFor(condition, { region: null }), rowFor(condition, {}));
  assert.notEqual(rowFor(condition, {}), eu);
  assert.equal(rowFor(condition, {}), rowFor(condition, { other: 1 }));
  assert.equal(rowFor(condition, { region: ["eu", 1] }), rowFor(condition, { region: ["eu", 1] }));
  assert.notEqual(rowFor(condition, { region: ["a", "b"] }), rowFor(condition, { region: ['a","b'] }));
});

test("results are shared only if the cache key covers everything that a condition reads", () => {
  const never = [
    "recipient.id == item.key && now > timestamp('2020-01-01T00:00:00Z')",
    "item.attributes[recipient.id] == 1",
    "item.attributes['a.b'] == recipient.id",
    'item.attributes[r"a.b"] == recipient.id',
    "item.attributes['\\x61'] == recipient.id",
    "item.attributes['''a.b'''] == recipient.id",
    "item.attributes[?'a.b'] == optional.of(recipient.id)",
    "item.attributes // why\n['a.b'] == recipient.id",
    "item.attributes == recipient.attributes",
    "item == recipient",
  ];
  for (const source of never) {
    const condition = new Condition(source, 100);
    assert.ok(condition.expression !== undefined, source);
    assert.notEqual(rowFor(condition, { a: { b: 1 } }), rowFor(condition, { a: { b: 1 } }), source);
  }
  for (const source of ["recipient.id in ['a.b', item.key]", "item.attributes['a'] == recipient.id"]) {
    const condition = new Condition(source, 100);
    assert.equal(rowFor(condition, { a: 1 }), rowFor(condition, { a: 1 }), source);
  }
});

test("long values are not cached, and the cache stays within its memory limit", () => {
  const condition = new Condition("item.attributes.text == recipient.id", 4);
  assert.notEqual(rowFor(condition, { text: "x".repeat(300) }), rowFor(condition, { text: "x".repeat(300) }));
  const first = rowFor(condition, { text: "first" });
  for (let page = 0; page < 4; page++) first.set(page * 256, 1);
  assert.equal(rowFor(condition, { text: "first" }), first);
  rowFor(condition, { text: "second" });
  assert.notEqual(rowFor(condition, { text: "first" }), first);
  const cached = rowFor(condition, { text: "cached" });
  for (let nth = 0; nth < 250; nth++) rowFor(condition, { text: `other ${nth}` });
  assert.equal(rowFor(condition, { text: "cached" }), cached);
  for (let nth = 250; nth < 600; nth++) rowFor(condition, { text: `other ${nth}` });
  assert.notEqual(rowFor(condition, { text: "cached" }), cached);
});

test("caching never changes a decision", () => {
  fc.assert(
    fc.property(pool, fc.array(item, { minLength: 2, maxLength: 12 }), (parts, items) => {
      const warm = poolOf(parts);
      for (const [nth, one] of items.entries()) {
        const decision = decide(warm, new LivePool(warm), one, at(nth));
        const cold = poolOf(parts);
        const { observed: _, ...fresh } = decide(cold, new LivePool(cold), one, at(nth));
        const { observed: __, ...remembered } = decision;
        assert.deepEqual(remembered, fresh);
      }
    }),
    { numRuns: 300 },
  );
});

test("a condition is evaluated only for recipients that are drawn", () => {
  const evaluated = new Set<unknown>();
  const recipients = Array.from({ length: 5000 }, (_, nth) => ({
    attributes: Object.defineProperty({}, "even", {
      get() {
        evaluated.add(nth);
        return nth % 2 === 0;
      },
    }),
  }));
  for (const strategy of [
    "weighted_random",
    "round_robin",
    "least_loaded",
    "priority",
    "sticky_hash",
    "longest_idle",
  ] as const) {
    evaluated.clear();
    const compiled = poolOf({
      strategy,
      recipients,
      rules: [{ condition: "recipient.attributes.even", action: { type: "require" } }],
    });
    assert.equal(decide(compiled, new LivePool(compiled), itemOf({ key: "k" }), at(3)).outcome, "routed");
    assert.ok(evaluated.size < 100, `${strategy}: ${evaluated.size}`);
  }
});
