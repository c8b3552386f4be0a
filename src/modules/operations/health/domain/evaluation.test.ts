import assert from "node:assert/strict";
import { test } from "node:test";
import type { StateCounts } from "../../../health-source.ts";
import { evaluate, type Level } from "./evaluation.ts";
import {
  combineDependencies,
  combineSources,
  type DependencyObservation,
  type NodeObservation,
  type Observation,
  type SourceObservation,
} from "./observation.ts";
import { ruleset, type SignalName } from "./ruleset.ts";

const sources: readonly SourceObservation[] = ruleset.sources.map((name) => ({ name, ageMs: 2000, skewMs: 3 }));
const dependencies: readonly DependencyObservation[] = ruleset.dependencies.map((name) => ({
  ...{ name, ageMs: 2000, state: "available" },
}));
const runs = { ended: { succeeded: 20 }, overdue: {}, letters: {} };
const tasks = { ready: 0, oldestReadyMs: 0, incompatible: 0 };
const items = { ready: 0, oldestReadyMs: 0 };

/** An observation of a healthy environment, except for some parts. */
const observed = (change: Partial<Observation> = {}): Observation => ({
  ...{ sources, dependencies, runs, tasks, items },
  ...change,
});
const ended = (counts: StateCounts) => observed({ runs: { ...runs, ended: counts } });
const overdue = (counts: StateCounts) => observed({ runs: { ...runs, overdue: counts } });
const letters = (counts: StateCounts) => observed({ runs: { ...runs, letters: counts } });
const failures = (failed: number, terminals: number) => ended({ failed, succeeded: terminals - failed });
const aged = <T extends { readonly name: string }>(all: readonly T[], name: string, change: Partial<T>) =>
  all.map((each) => (each.name === name ? { ...each, ...change } : each));
const telemetry = (ageMs: number | undefined) => observed({ sources: aged(sources, "queue_items", { ageMs }) });
const skewed = (skewMs: number) => observed({ sources: aged(sources, "workflow_runs", { skewMs }) });
const snapshot = (ageMs: number | undefined) => observed({ dependencies: aged(dependencies, "cache", { ageMs }) });

/** Each signal just below, at and just above each of its thresholds. */
const boundaries: readonly (readonly [SignalName, Observation, Level])[] = [
  ["telemetry_age", telemetry(299_999), "healthy"],
  ["telemetry_age", telemetry(300_000), "healthy"],
  ["telemetry_age", telemetry(300_001), "unknown"],
  ["source_clock_skew", skewed(29_999), "healthy"],
  ["source_clock_skew", skewed(30_000), "healthy"],
  ["source_clock_skew", skewed(30_001), "unknown"],
  ["dependency_snapshot_age", snapshot(29_999), "healthy"],
  ["dependency_snapshot_age", snapshot(30_000), "healthy"],
  ["dependency_snapshot_age", snapshot(30_001), "unknown"],
  ["workflow_failure_ratio", failures(99, 1000), "healthy"],
  ["workflow_failure_ratio", failures(100, 1000), "degraded"],
  ["workflow_failure_ratio", failures(101, 1000), "degraded"],
  ["workflow_failure_ratio", failures(249, 1000), "degraded"],
  ["workflow_failure_ratio", failures(250, 1000), "unhealthy"],
  ["workflow_failure_ratio", failures(251, 1000), "unhealthy"],
  ["workflow_failure_ratio", failures(4, 4), "not_evaluated"],
  ["workflow_failure_ratio", failures(5, 5), "unhealthy"],
  ["workflow_failure_ratio", failures(0, 6), "healthy"],
  ["idle_running_runs", overdue({}), "healthy"],
  ["idle_running_runs", overdue({ running: 1 }), "degraded"],
  ["idle_running_runs", overdue({ running: 2 }), "degraded"],
  ["idle_running_runs", overdue({ running: 2, waiting: 2 }), "degraded"],
  ["idle_running_runs", overdue({ running: 2, waiting: 3 }), "unhealthy"],
  ["idle_running_runs", overdue({ running: 2, waiting: 3, pending: 1 }), "unhealthy"],
  ["idle_running_runs", overdue({ paused: 9 }), "healthy"],
  ...([99, 100, 101, 999, 1000, 1001] as const).map(
    (ready) =>
      [
        "ready_queue_depth",
        observed({ tasks: { ...tasks, ready: 40 }, items: { ...items, ready: ready - 40 } }),
        ready < 100 ? "healthy" : ready < 1000 ? "degraded" : "unhealthy",
      ] as const,
  ),
  ...([899_999, 900_000, 900_001, 3_599_999, 3_600_000, 3_600_001] as const).flatMap((oldestReadyMs) => {
    const level = oldestReadyMs < 900_000 ? "healthy" : oldestReadyMs < 3_600_000 ? "degraded" : "unhealthy";
    return [
      ["oldest_ready_item", observed({ items: { ...items, oldestReadyMs } }), level],
      ["oldest_ready_item", observed({ tasks: { ...tasks, oldestReadyMs } }), level],
    ] as const;
  }),
  ...([0, 1, 2, 9, 10, 11] as const).map(
    (incompatible) =>
      [
        "incompatible_attempts",
        observed({ tasks: { ...tasks, incompatible } }),
        incompatible < 1 ? "healthy" : incompatible < 10 ? "degraded" : "unhealthy",
      ] as const,
  ),
  ...([0, 1, 2, 99, 100, 101] as const).map(
    (open) =>
      [
        "workflow_dead_letters",
        letters({ open, replayed: 500, quarantined: 500, discarded: 500 }),
        open < 1 ? "healthy" : open < 100 ? "degraded" : "unhealthy",
      ] as const,
  ),
];

test("each signal changes its level exactly at its thresholds, and decides the verdict alone", () => {
  for (const [name, observation, level] of boundaries) {
    const { signals, verdict } = evaluate(observation);
    const signal = signals.find((each) => each.name === name)!;
    assert.equal(signal.level, level, `${name} with ${JSON.stringify(observation)}`);
    assert.equal(verdict, level === "not_evaluated" ? "healthy" : level, name);
    const others = signals.filter((each) => each !== signal).map((each) => each.level);
    assert.deepEqual(new Set(others), new Set(["healthy"]), name);
  }
  assert.deepEqual(new Set(boundaries.map(([name]) => name)), new Set(Object.keys(ruleset.signals)));
});

test("data that is missing, stale, skewed, unavailable or unclassified makes the verdict unknown, with its own code", () => {
  const dependency = (state: string) => observed({ dependencies: aged(dependencies, "database", { state }) });
  const table: readonly (readonly [Observation, readonly string[]])[] = [
    [telemetry(undefined), ["TELEMETRY_MISSING"]],
    [telemetry(301_000), ["TELEMETRY_STALE"]],
    [skewed(31_000), ["SOURCE_CLOCK_SKEWED"]],
    [snapshot(undefined), ["DEPENDENCY_SNAPSHOT_MISSING"]],
    [snapshot(31_000), ["DEPENDENCY_SNAPSHOT_STALE"]],
    [dependency("unavailable"), ["DEPENDENCY_UNAVAILABLE"]],
    [dependency("constructor"), ["STATE_UNCLASSIFIED"]],
    [observed({ runs: undefined }), ["SOURCE_UNAVAILABLE"]],
    [observed({ tasks: undefined }), ["SOURCE_UNAVAILABLE"]],
    [observed({ items: undefined }), ["SOURCE_UNAVAILABLE"]],
    [ended({ succeeded: 20, suspended: 1 }), ["STATE_UNCLASSIFIED"]],
    [overdue({ suspended: 1 }), ["STATE_UNCLASSIFIED"]],
    [letters({ suspended: 1 }), ["STATE_UNCLASSIFIED"]],
    [
      observed({ sources: sources.map((each) => ({ ...each, ageMs: undefined })) }),
      // The clocks of sources that never reported are unknown too.
      ["TELEMETRY_MISSING"],
    ],
  ];
  for (const [observation, codes] of table) {
    const { verdict, confidence, codes: found } = evaluate(observation);
    assert.deepEqual([verdict, confidence, found], ["unknown", "none", codes], JSON.stringify(observation));
  }
});

test("unknown outweighs unhealthy, which outweighs degraded; all findings stay listed", () => {
  const unhealthy = { ...observed(), items: { ready: 1000, oldestReadyMs: 0 } };
  const both = { ...unhealthy, runs: { ...runs, letters: { open: 1 } } };
  const codes = ["READY_QUEUE_DEPTH_UNHEALTHY", "WORKFLOW_DEAD_LETTERS_DEGRADED"];
  assert.deepEqual([evaluate(both).verdict, evaluate(both).codes], ["unhealthy", codes]);
  const stale = evaluate({ ...both, sources: aged(sources, "workflow_runs", { ageMs: 300_001 }) });
  assert.deepEqual([stale.verdict, stale.codes], ["unknown", ["TELEMETRY_STALE", ...codes]]);
});

test("confidence is high if all signals were evaluated and medium with a small sample", () => {
  assert.equal(evaluate(observed()).confidence, "high");
  assert.equal(evaluate(failures(0, 4)).confidence, "medium");
  assert.equal(evaluate(ended({})).confidence, "medium", "an idle environment is healthy");
  assert.equal(evaluate(ended({})).verdict, "healthy");
});

test("failed and timed-out runs are failures; cancelled ones only count as ended", () => {
  const value = (counts: StateCounts) =>
    evaluate(ended(counts)).signals.find(({ name }) => name === "workflow_failure_ratio")!;
  assert.equal(value({ failed: 1, timed_out: 1, cancelled: 4, succeeded: 4 }).value, 20);
  assert.deepEqual(value({ cancelled: 5 }).evidence, [
    { name: "failed_runs", value: 0 },
    { name: "ended_runs", value: 5 },
  ]);
});

test("the newest heartbeat of any node counts, and the clock of every node with a current heartbeat", () => {
  const beat = (name: string, ageMs: number, skewMs: number): NodeObservation => ({
    ...{ kind: "source", name, state: "alive", ageMs, skewMs },
  });
  const combined = combineSources([
    beat("workflow_runs", 400_000, 5),
    beat("workflow_runs", 1000, -20),
    beat("workflow_tasks", 1000, 10),
    beat("workflow_tasks", 2000, -40_000),
    beat("workflow_tasks", 300_001, 90_000),
    beat("queue_items", 300_001, -70_000),
  ]);
  const [future] = combineSources([beat("workflow_runs", -31_000, 0)]);
  assert.equal(future!.skewMs, 31_000, "the clock of the database has moved back");
  assert.deepEqual(combined, [
    { name: "workflow_runs", ageMs: 1000, skewMs: 20 },
    { name: "workflow_tasks", ageMs: 1000, skewMs: 40_000 },
    { name: "queue_items", ageMs: 300_001, skewMs: 70_000 },
  ]);
  assert.deepEqual(
    combineSources([]).map(({ ageMs }) => ageMs),
    [undefined, undefined, undefined],
  );
});

test("the worst recent state of a dependency counts; the state of a node that is gone does not", () => {
  const seen = (name: string, ageMs: number, state: string): NodeObservation => ({
    ...{ kind: "dependency", name, state, ageMs, skewMs: 0 },
  });
  const combined = combineDependencies([
    seen("database", 1000, "available"),
    seen("database", 30_001, "unavailable"),
    seen("cache", 1000, "available"),
    seen("cache", 30_000, "unavailable"),
    seen("queue", 500, "unavailable"),
    seen("queue", 900, "exploded"),
  ]);
  assert.deepEqual(combined, [
    { name: "database", ageMs: 1000, state: "available" },
    { name: "cache", ageMs: 1000, state: "unavailable" },
    { name: "queue", ageMs: 500, state: "exploded" },
  ]);
});
