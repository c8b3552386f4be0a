import assert from "node:assert/strict";
import { test } from "node:test";
import type { CompiledExperiment } from "../assignments/index.ts";
import { createScoreCheck } from "./score-check.ts";

test("the check of scores can be interrupted after each of them, valid or not", () => {
  const design = { metrics: [{ key: "m", type: "mean" }], variants: [{ key: "on" }], scoreWindowS: 0 };
  const compiled = { experiment: { tenantId: "t", id: "e", endedAt: null, design } } as unknown as CompiledExperiment;
  const check = createScoreCheck(
    { unitHash: () => "hash", recallReceipt: () => undefined },
    { open: () => "malformed" as const },
  );
  const input = { receipt: "", unit: "u", value: 1, denominator: undefined, observedAtMs: undefined };
  const inputs = Array.from({ length: 50 }, (_, at) => ({
    ...input,
    ...{ scoreId: `s${at}`, metric: at % 2 === 0 ? "m" : "?" },
  }));
  const work = check(compiled, inputs, 1);
  let pauses = 0;
  let step = work.next();
  for (; step.done !== true; step = work.next()) pauses++;
  assert.deepEqual([pauses, step.value.valid.length], [50, 25]);
});
