import { createHash } from "node:crypto";
import { canonicalJson } from "../../../../platform/crypto/index.ts";

/** The unit of a signal's value and thresholds. All are whole numbers. */
export type Unit = "count" | "percent" | "seconds" | "milliseconds";

/** The rule of one signal. Thresholds at which a level begins include their value; a limit does not. */
export interface SignalRule {
  readonly title: string;
  readonly unit: Unit;
  readonly degradedAt?: number;
  readonly unhealthyAt?: number;
  readonly unknownAbove?: number;
  /** The signal is not evaluated with a smaller sample. */
  readonly sampleMin?: number;
  /** The code of each finding of the signal. */
  readonly codes: Readonly<Record<string, string>>;
}

/** A way out of a finding. */
type Step = readonly [runbook: string, action: string];

/** The codes of a signal with two thresholds. */
function levels<C extends string>(prefix: C) {
  return { degraded: `${prefix}_DEGRADED`, unhealthy: `${prefix}_UNHEALTHY` } as const;
}

const unclassified = "STATE_UNCLASSIFIED";
const unavailable = "SOURCE_UNAVAILABLE";

/**
 * Version 1 of the ruleset. It never changes: another threshold, classification or runbook is a new version. Its digest is part
 * of every report. Titles and actions are wording, which may change.
 */
export const ruleset = {
  version: "v1",
  signals: {
    telemetry_age: {
      title: "Telemetry age",
      unit: "seconds",
      unknownAbove: 300,
      codes: { missing: "TELEMETRY_MISSING", stale: "TELEMETRY_STALE" },
    },
    source_clock_skew: {
      title: "Source clock skew",
      unit: "milliseconds",
      unknownAbove: 30_000,
      codes: { missing: "TELEMETRY_MISSING", skewed: "SOURCE_CLOCK_SKEWED" },
    },
    dependency_snapshot_age: {
      title: "Dependency snapshot age",
      unit: "seconds",
      unknownAbove: 30,
      codes: {
        missing: "DEPENDENCY_SNAPSHOT_MISSING",
        stale: "DEPENDENCY_SNAPSHOT_STALE",
        unclassified,
        unavailable: "DEPENDENCY_UNAVAILABLE",
      },
    },
    workflow_failure_ratio: {
      title: "Workflow failure ratio",
      unit: "percent",
      degradedAt: 10,
      unhealthyAt: 25,
      sampleMin: 5,
      codes: { ...levels("WORKFLOW_FAILURES"), unclassified, unavailable },
    },
    idle_running_runs: {
      title: "Recoverable runs idle for 5 minutes",
      unit: "count",
      degradedAt: 1,
      unhealthyAt: 5,
      codes: { ...levels("IDLE_RUNS"), unclassified, unavailable },
    },
    ready_queue_depth: {
      title: "Ready queue depth",
      unit: "count",
      degradedAt: 100,
      unhealthyAt: 1000,
      codes: { ...levels("READY_QUEUE_DEPTH"), unavailable },
    },
    oldest_ready_item: {
      title: "Oldest ready item",
      unit: "seconds",
      degradedAt: 900,
      unhealthyAt: 3600,
      codes: { ...levels("OLDEST_READY_ITEM"), unavailable },
    },
    incompatible_attempts: {
      title: "Incompatible active attempts",
      unit: "count",
      degradedAt: 1,
      unhealthyAt: 10,
      codes: { ...levels("INCOMPATIBLE_ATTEMPTS"), unavailable },
    },
    workflow_dead_letters: {
      title: "Unreplayed workflow dead letters",
      unit: "count",
      degradedAt: 1,
      unhealthyAt: 100,
      codes: { ...levels("WORKFLOW_DEAD_LETTERS"), unclassified, unavailable },
    },
  },
  /** A run is idle if it should have continued this long ago. */
  idleRunS: 300,
  sources: ["workflow_runs", "workflow_tasks", "queue_items"],
  dependencies: ["database", "cache", "queue"],
  states: {
    endedRun: { succeeded: "success", failed: "failure", timed_out: "failure", cancelled: "neutral" },
    overdueRun: { pending: "recoverable", running: "recoverable", waiting: "recoverable", paused: "held" },
    letter: { open: "unreplayed", replayed: "settled", quarantined: "set_aside", discarded: "settled" },
    dependency: { available: "usable", not_configured: "usable", unavailable: "unusable" },
  },
  /** Next step for each code, the most important first. */
  steps: {
    TELEMETRY_MISSING: [
      "restore-telemetry",
      "Start a node with the role worker or all. No background work of a source has reported.",
    ],
    TELEMETRY_STALE: [
      "restore-telemetry",
      "Find out why the background work of a source has stopped, and restart its node.",
    ],
    SOURCE_CLOCK_SKEWED: ["synchronize-clocks", "Synchronize the clocks of the nodes and of the database."],
    DEPENDENCY_SNAPSHOT_MISSING: [
      "restore-dependency-checks",
      "Start a node with the role worker or all. No node checks the dependencies.",
    ],
    DEPENDENCY_SNAPSHOT_STALE: [
      "restore-dependency-checks",
      "Restart the nodes that check the dependencies. They have stopped doing so.",
    ],
    DEPENDENCY_UNAVAILABLE: ["restore-a-dependency", "Restore the dependency that does not respond."],
    SOURCE_UNAVAILABLE: ["restore-a-source", "Check the database. The state of a source could not be read."],
    STATE_UNCLASSIFIED: [
      "classify-a-state",
      "Complete the upgrade. Another version stores a state that this version does not know.",
    ],
    WORKFLOW_FAILURES_UNHEALTHY: [
      "reduce-workflow-failures",
      "Stop what starts failing workflows, then find the common error.",
    ],
    IDLE_RUNS_UNHEALTHY: [
      "recover-idle-runs",
      "Find out why runs do not continue. Their nodes are overloaded or stuck.",
    ],
    READY_QUEUE_DEPTH_UNHEALTHY: ["drain-ready-queues", "Add workers now, or slow down what fills the queues."],
    OLDEST_READY_ITEM_UNHEALTHY: [
      "serve-waiting-work",
      "Find the queue whose work nobody takes, and give it a worker.",
    ],
    INCOMPATIBLE_ATTEMPTS_UNHEALTHY: [
      "deploy-compatible-workers",
      "Deploy workers that can run the waiting tasks, or roll the definition back.",
    ],
    WORKFLOW_DEAD_LETTERS_UNHEALTHY: [
      "replay-dead-letters",
      "Fix the cause of the failed runs, then replay their dead letters together.",
    ],
    WORKFLOW_FAILURES_DEGRADED: [
      "reduce-workflow-failures",
      "Look at the latest failed runs and find the common error.",
    ],
    IDLE_RUNS_DEGRADED: ["recover-idle-runs", "Look at what the idle runs wait for."],
    READY_QUEUE_DEPTH_DEGRADED: [
      "drain-ready-queues",
      "Compare arrivals with completions, and add workers if the queues grow.",
    ],
    OLDEST_READY_ITEM_DEGRADED: ["serve-waiting-work", "Look at the oldest waiting item and its queue."],
    INCOMPATIBLE_ATTEMPTS_DEGRADED: ["deploy-compatible-workers", "Find the step whose version no worker supports."],
    WORKFLOW_DEAD_LETTERS_DEGRADED: ["replay-dead-letters", "Look at the dead letters, then replay or discard them."],
  },
} as const satisfies {
  readonly signals: Readonly<Record<string, SignalRule>>;
  readonly states: Readonly<Record<string, Readonly<Record<string, string>>>>;
  readonly steps: Readonly<Record<string, Step>>;
  readonly [name: string]: unknown;
};

export type SignalName = keyof typeof ruleset.signals;

/** The code of a finding. */
export type ReasonCode = keyof typeof ruleset.steps;

/** The pinned digest of the rules. A change of the rules without a new version fails a test. */
export const rulesetDigest = "sha256:89aecae1027908757b3a966b8691edd0ba9fed430f80e395fbdad8a38fa8cc7d";

/** The digest of all rules, without their wording. */
export function digestOfRules({ signals, steps, ...rules }: typeof ruleset): string {
  return digestOf({
    ...rules,
    signals: Object.entries(signals).map(([name, { title: _, ...rule }]) => ({ name, ...rule })),
    steps: Object.entries(steps).map(([code, [runbook]]) => ({ code, runbook })),
  });
}

/** The SHA-256 of a value as canonical JSON. */
export function digestOf(value: unknown): string {
  return `sha256:${createHash("sha256").update(canonicalJson(value)).digest("hex")}`;
}
