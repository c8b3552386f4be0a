import assert from "node:assert/strict";
import { test } from "node:test";
import type { GuardrailTests } from "../../../experiments/index.ts";
import type { KeyOutcome } from "../../../promotable-artifacts.ts";
import type { CandidateArtifact } from "./candidate.ts";
import { overallVerdict, scoreCanary, scoreGuardrails, waiveMissingTraffic } from "./candidate-scores.ts";

const artifact = { kind: "routing", targetId: "leads" } as CandidateArtifact;

/** Tests that find nothing significant. */
const undecided = (excludes: boolean): GuardrailTests => {
  const test = () => ({ result: "undecided" as const, p: 0.07 });
  return {
    ...{ testFailureShare: test, testMean: test, compareFailures: test, compareMeans: test },
    excludesLoss: () => excludes,
  };
};

function outcomesOf(side: "canary" | "baseline", keys: number, failures: number): KeyOutcome[] {
  return Array.from({ length: keys }, (_, at) => ({ side, success: at >= failures, latencyMs: null }) as KeyOutcome);
}

test("a canary passes only if it has enough keys and excludes a loss beyond its margin", () => {
  const outcomes = [...outcomesOf("canary", 20, 5), ...outcomesOf("baseline", 136, 0)];
  const score = (keysMin: number, excludes: boolean) =>
    scoreCanary(
      [{ artifact, outcomes, gauges: {} }],
      { canaryShare: 0.13, keysMin, margin: 0.05 },
      undecided(excludes),
    );
  assert.equal(overallVerdict(score(20, true)), "passed");
  assert.match(score(21, true)[0]!.reason, /20 of the 21 keys/);
  const [open] = score(20, false);
  assert.equal(open!.verdict, "inconclusive");
  assert.match(open!.reason, /may still succeed 5 points less often than the baseline: it needs more keys/);
});

test("a waiver covers targets without outcomes, not metrics that no target has", () => {
  const evidence = [{ artifact, outcomes: [], gauges: {} }];
  const waived = (metric: "success" | "queue_depth") => {
    const scores = scoreGuardrails([{ metric, limit: 0.9 }], evidence, undecided(false));
    return overallVerdict(waiveMissingTraffic(scores, "It is new."));
  };
  assert.equal(waived("success"), "passed");
  assert.equal(waived("queue_depth"), "inconclusive");
});
