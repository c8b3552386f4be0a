import assert from "node:assert/strict";
import { test } from "node:test";
import type { Json, JsonObject } from "../../src/modules/workflows/definitions/index.ts";
import type { AdvanceBudget } from "../../src/modules/workflows/runs/domain/engine/execution.ts";
import { fc } from "../harness/random.ts";
import { sized } from "../harness/run-size.ts";
import { chooser } from "./chooser.ts";
import { type Driving, drive } from "./engine-driver.ts";
import { type Scenario, scenarios } from "./random-definitions.ts";
import { interpret, type RunResult } from "./reference-interpreter.ts";
import type { Script } from "./reference-script.ts";

/** The codes of the random definitions. The messages of all other codes are the service's own and are not defined. */
const ownCodes = ["quota", "busy", "stopped", "unsigned"];

/** Leaves out the messages of the service in collected errors. */
function withoutMessages(value: Json): Json {
  const reviver = (_: string, each: Json) => {
    const { code, message, ...rest } = (each ?? {}) as JsonObject;
    return typeof code === "string" && typeof message === "string" && !ownCodes.includes(code)
      ? { code, ...rest }
      : each;
  };
  return JSON.parse(JSON.stringify(value), reviver) as Json;
}

/** The parts of a result that the engine and the reference interpreter must agree on. */
function comparable(result: Omit<RunResult, "hadTie">) {
  const { status, output, error, endedAtMs, completed, outputs, inputs, compensations } = result;
  const byKey = (values: ReadonlyMap<string, Json>) =>
    Object.fromEntries(
      [...values].sort(([a], [b]) => (a < b ? -1 : 1)).map(([key, value]) => [key, withoutMessages(value)]),
    );
  return {
    ...{ status, endedAtMs, completed, compensations, output: withoutMessages(output) },
    error: error && {
      code: error.code,
      step: error.step,
      ...(ownCodes.includes(error.code) && { message: error.message }),
    },
    outputs: byKey(outputs),
    inputs: byKey(inputs),
  };
}

const budgets: readonly (AdvanceBudget | undefined)[] = [
  undefined,
  { starts: 1, expressionSteps: 50_000, bytes: 1_000_000 },
  { starts: 2, expressionSteps: 50_000, bytes: 1_000_000 },
  { starts: 3, expressionSteps: 5, bytes: 1_000_000 },
  { starts: 1000, expressionSteps: 1, bytes: 1_000_000 },
  { starts: 1000, expressionSteps: 50_000, bytes: 10 },
];

/** Sends neighbouring events at the same time, in their order. */
function withBursts(script: Script): Script {
  const events = script.events.toSorted((a, b) => a.atMs - b.atMs);
  return { ...script, events: events.map((event, nth) => ({ ...event, atMs: events[nth - (nth % 2)]!.atMs })) };
}

test("the engine does what the language says, however a run is cut into advances", () => {
  const seen = { compared: 0, ties: 0, advances: 0, statuses: new Set<string>() };
  const check = ({ definition, script: scripted }: Scenario, seed: number) => {
    const choose = chooser(seed);
    const script = choose(3) === 0 ? withBursts(scripted) : scripted;
    const expected = interpret(definition, script);
    if (expected.hadTie) {
      seen.ties++;
      return;
    }
    const budget = budgets[choose(budgets.length)];
    const driving: Driving = { ...(budget !== undefined && { budget }), ...(choose(2) === 0 && { choose }) };
    const result = drive(definition, script, driving);
    assert.deepEqual(comparable(result), comparable(expected));
    seen.compared++;
    seen.advances += result.advances;
    seen.statuses.add(result.status);
  };
  const numRuns = sized(1500, 60_000);
  fc.assert(fc.property(scenarios, fc.nat(), check), { numRuns });
  assert.ok(seen.compared > numRuns * 0.85, `${seen.ties} of ${numRuns} runs had ties`);
  assert.equal(seen.statuses.size, 4);
});
