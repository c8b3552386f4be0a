import assert from "node:assert/strict";
import { test } from "node:test";
import { Failure } from "../../../../errors/index.ts";
import { defaultRetry, parseDefinition } from "../../definitions/index.ts";
import { createPlan, type Plan } from "../domain/engine/plan.ts";
import { simulateRun } from "./simulated-run.ts";
import { fromSimulation } from "./simulation-message.ts";
import { checkNames } from "./simulation-service.ts";

function planOf(steps: readonly object[]): Plan {
  const { definition } = parseDefinition({ dsl: "1", key: "k", timeout: "1d", steps } as never);
  return createPlan(definition!, "", 0, defaultRetry);
}

/** Runs work to its end; returns its result and how often it could be interrupted. */
function count<T>(work: Generator<void, T>): { readonly result: T; readonly pauses: number } {
  for (let pauses = 0; ; pauses++) {
    const step = work.next();
    if (step.done === true) return { result: step.value, pauses };
  }
}

test("the path of a large map is simulated and converted in many slices of the event loop", () => {
  const plan = planOf([
    { id: "m", map: { in: "=input", max_items: 10_000, steps: [{ id: "t", transform: "=item" }] } },
  ]);
  const input = Array.from({ length: 9000 }, (_, at) => at);
  const script = { input, run: {}, startedAtMs: 1, stubs: new Map(), events: [], decisions: [] };
  const simulated = count(simulateRun(plan, { ...script, timeMsMax: Number.POSITIVE_INFINITY }));
  assert.ok(simulated.pauses >= 9);
  const { result, pauses } = count(fromSimulation(simulated.result));
  assert.equal(pauses, 9001);
  assert.deepEqual([result.path.length, result.path[9000]!.step], [9001, "t[8999]"]);
});

test("unknown names are checked in slices of the event loop, and only the first 100 are reported", () => {
  const plan = planOf(
    Array.from({ length: 500 }, (_, at) => ({ id: `${"a".repeat(60)}${at}`, task: { queue: "q", type: "t" } })),
  );
  const stubs = new Map(
    Array.from({ length: 1000 }, (_, at) => [`${"a".repeat(57)}x${at}`, { outcomes: [], afterMs: 0 }]),
  );
  const work = checkNames(plan, { stubs, decisions: [] });
  let pauses = 0;
  assert.throws(
    () => {
      while (work.next().done !== true) pauses++;
    },
    (error) => error instanceof Failure && error.violations?.length === 100,
  );
  assert.equal(pauses, 99);
});
