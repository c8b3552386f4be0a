import assert from "node:assert/strict";
import { test } from "node:test";
import { priorityWorthS } from "../../pools/index.ts";
import { rankOf } from "./queue-item.ts";

test("in a strict order a higher priority precedes any age, and equal priorities keep their order of arrival", () => {
  const worthS = priorityWorthS({ order: "strict_priority", ageingS: 60 });
  const [nowMs, yearsMs] = [Date.UTC(2026, 0), 50 * 365 * 86_400_000];
  const inOrder = [
    rankOf(nowMs, 1000, worthS),
    rankOf(nowMs + 1, 1000, worthS),
    rankOf(nowMs, 999, worthS),
    rankOf(nowMs + yearsMs, 1, worthS),
    rankOf(nowMs, 0, worthS),
    rankOf(nowMs - yearsMs, -999, worthS),
    rankOf(nowMs - yearsMs, -1000, worthS),
  ];
  assert.deepEqual(
    inOrder.toSorted((one, other) => one - other),
    inOrder,
  );
  assert.ok(inOrder.every(Number.isSafeInteger), "ranks are exact");
});

test("by arrival the priority is worth nothing, otherwise the configured time", () => {
  assert.equal(priorityWorthS({ order: "arrival", ageingS: 60 }), 0);
  assert.equal(priorityWorthS({ order: "aged_priority", ageingS: 60 }), 60);
});
