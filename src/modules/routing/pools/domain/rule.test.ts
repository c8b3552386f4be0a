import assert from "node:assert/strict";
import { test } from "node:test";
import { Failure } from "../../../../errors/index.ts";
import { type ActionInput, conditionVariables, positionOf, type RuleId, toAction } from "./rule.ts";

const empty: ActionInput = {
  ...{ type: "", recipientId: "", poolId: "", holdS: 0, reason: "", experimentKey: "", retryAfterS: 0 },
};

function brokenFields(input: Partial<ActionInput>): string[] {
  try {
    toAction({ ...empty, ...input });
    return [];
  } catch (error) {
    assert.ok(error instanceof Failure && error.code === "INVALID_ARGUMENT");
    return error.violations.map(({ field }) => field);
  }
}

test("an action has its type and the fields that belong to it", () => {
  const cases: [Partial<ActionInput>, object][] = [
    [
      { type: "route", recipientId: "r" },
      { type: "route", recipientId: "r" },
    ],
    [{ type: "require" }, { type: "require" }],
    [{ type: "prefer" }, { type: "prefer" }],
    [
      { type: "set_priority", priority: 0 },
      { type: "set_priority", priority: 0 },
    ],
    [
      { type: "redirect_pool", poolId: "p" },
      { type: "redirect_pool", poolId: "p" },
    ],
    [
      { type: "hold", holdS: 5 },
      { type: "hold", holdS: 5 },
    ],
    [{ type: "reject" }, { type: "reject", reason: "" }],
    [
      { type: "reject", reason: "no" },
      { type: "reject", reason: "no" },
    ],
    [
      { type: "reject", retryAfterS: 30 },
      { type: "reject", reason: "", retryAfterS: 30 },
    ],
    [
      { type: "assign_experiment", experimentKey: "e" },
      { type: "assign_experiment", experimentKey: "e" },
    ],
  ];
  for (const [input, action] of cases) assert.deepEqual(toAction({ ...empty, ...input }), action);
});

test("a missing field and a field of another action type are reported", () => {
  assert.deepEqual(brokenFields({ type: "route" }), ["action.recipient_id"]);
  assert.deepEqual(brokenFields({ type: "set_priority" }), ["action.priority"]);
  assert.deepEqual(brokenFields({ type: "redirect_pool", recipientId: "r" }), [
    "action.recipient_id",
    "action.pool_id",
  ]);
  assert.deepEqual(brokenFields({ type: "hold" }), ["action.hold_s"]);
  assert.deepEqual(brokenFields({ type: "assign_experiment" }), ["action.experiment_key"]);
  const others = {
    recipientId: "r",
    priority: 0,
    poolId: "p",
    holdS: 1,
    reason: "x",
    experimentKey: "e",
    retryAfterS: 1,
  };
  assert.deepEqual(brokenFields({ type: "prefer", ...others }), [
    "action.recipient_id",
    "action.priority",
    "action.pool_id",
    "action.hold_s",
    "action.reason",
    "action.experiment_key",
    "action.retry_after_s",
  ]);
});

test("only actions that evaluate each recipient may use the recipient variable", () => {
  for (const type of ["require", "prefer"] as const) assert.ok("recipient" in conditionVariables(type));
  for (const type of ["route", "hold", "reject", "set_priority", "redirect_pool", "assign_experiment"] as const) {
    assert.deepEqual(Object.keys(conditionVariables(type)), ["item", "pool", "now"]);
  }
});

test("rules are ordered by priority, then creation time, then id", () => {
  const at = (priority: number, createdMs: number, id: string) =>
    positionOf({ priority, createdAt: new Date(createdMs), id: id as RuleId });
  const inOrder = [
    at(-1_000_000, 9, "b"),
    at(-5, 9, "b"),
    at(0, 9, "b"),
    at(9, 9, "b"),
    at(100, 8, "z"),
    at(100, 9, "a"),
    at(100, 9, "b"),
    at(1_000_000, 0, "a"),
  ];
  assert.deepEqual(inOrder.toSorted(), inOrder);
});
