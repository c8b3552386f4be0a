import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { digestOfRules, ruleset, rulesetDigest, type SignalRule } from "./ruleset.ts";

const runbooks = new URL("../../../../../docs/runbooks/", import.meta.url);
const rules: readonly SignalRule[] = Object.values(ruleset.signals);
const codes = [...new Set(rules.flatMap((rule) => Object.values(rule.codes)))];

test("version 1 of the ruleset never changes", () => {
  assert.equal(ruleset.version, "v1");
  assert.equal(digestOfRules(ruleset), rulesetDigest, "a change of the rules needs a new version");
});

test("every rule is part of the digest, and the wording is not", () => {
  const { signals, steps } = ruleset;
  const digestWith = (changes: object) => digestOfRules({ ...ruleset, ...changes });
  assert.notEqual(digestWith({ idleRunS: 299 }), rulesetDigest);
  assert.notEqual(
    digestWith({ signals: { ...signals, idle_running_runs: { ...signals.idle_running_runs, degradedAt: 2 } } }),
    rulesetDigest,
  );
  assert.notEqual(
    digestWith({ steps: { ...steps, TELEMETRY_STALE: ["other", steps.TELEMETRY_STALE[1]] } }),
    rulesetDigest,
  );
  const reworded = {
    signals: { ...signals, telemetry_age: { ...signals.telemetry_age, title: "Age" } },
    steps: { ...steps, TELEMETRY_STALE: [steps.TELEMETRY_STALE[0], "Restart it."] },
  };
  assert.equal(digestWith(reworded), rulesetDigest);
});

test("the thresholds are those of the specification", () => {
  const thresholds = Object.entries(ruleset.signals).map(([name, rule]: [string, SignalRule]) => [
    ...[name, rule.degradedAt, rule.unhealthyAt, rule.unknownAbove, rule.unit],
  ]);
  assert.deepEqual(thresholds, [
    ["telemetry_age", undefined, undefined, 300, "seconds"],
    ["source_clock_skew", undefined, undefined, 30_000, "milliseconds"],
    ["dependency_snapshot_age", undefined, undefined, 30, "seconds"],
    ["workflow_failure_ratio", 10, 25, undefined, "percent"],
    ["idle_running_runs", 1, 5, undefined, "count"],
    ["ready_queue_depth", 100, 1000, undefined, "count"],
    ["oldest_ready_item", 900, 3600, undefined, "seconds"],
    ["incompatible_attempts", 1, 10, undefined, "count"],
    ["workflow_dead_letters", 1, 100, undefined, "count"],
  ]);
  assert.equal(ruleset.signals.workflow_failure_ratio.sampleMin, 5);
  assert.equal(ruleset.idleRunS, 300);
});

test("every code has a next step, and every step belongs to a code", () => {
  assert.deepEqual(codes.toSorted(), Object.keys(ruleset.steps).toSorted());
});

test("every step has a runbook that names its codes", () => {
  for (const [code, [runbook]] of Object.entries(ruleset.steps)) {
    assert.ok(readFileSync(new URL(`${runbook}.md`, runbooks), "utf8").includes(`\`${code}\``), `${runbook}: ${code}`);
  }
});
