import type { StateCounts } from "../../../health-source.ts";
import { classOf, isKnown, isUnusable, type Observation } from "./observation.ts";
import { type ReasonCode, ruleset, type SignalName, type SignalRule } from "./ruleset.ts";

/** The level of a signal. */
export type Level = "healthy" | "degraded" | "unhealthy" | "unknown" | "not_evaluated";

/** The verdict of a report. */
export type Verdict = Exclude<Level, "not_evaluated">;

/** How much a verdict is based on. */
export type Confidence = "high" | "medium" | "none";

/** A number behind the value of a signal. */
export interface Evidence {
  readonly name: string;
  readonly value: number;
}

export interface Signal {
  readonly name: SignalName;
  readonly level: Level;
  readonly code: ReasonCode | undefined;
  /** Undefined if it is not known. */
  readonly value: number | undefined;
  readonly evidence: readonly Evidence[];
}

/** The ruleset's result for an observation. */
export interface Evaluation {
  readonly verdict: Verdict;
  readonly confidence: Confidence;
  readonly signals: readonly Signal[];
  /** The codes of all findings without repetition, the most important first. */
  readonly codes: readonly ReasonCode[];
}

/** The measurement of a signal: its value, or why there is none. */
type Measurement =
  | { readonly value: number; readonly evidence?: readonly Evidence[]; readonly sample?: number }
  | { readonly finding: string; readonly value?: number | undefined; readonly evidence?: readonly Evidence[] };

export function evaluate(observation: Observation): Evaluation {
  const measurements = measure(observation);
  const names = Object.keys(ruleset.signals) as SignalName[];
  const signals = names.map((name) => toSignal(name, measurements[name]));
  const found = new Set(signals.flatMap(({ code }) => (code === undefined ? [] : [code])));
  const verdict = verdictOf(signals);
  return {
    verdict,
    confidence: confidenceOf(verdict, signals),
    signals,
    codes: (Object.keys(ruleset.steps) as ReasonCode[]).filter((code) => found.has(code)),
  };
}

/** Unknown outweighs everything: a report never claims more than its data shows. */
function verdictOf(signals: readonly Signal[]): Verdict {
  const order = ["unknown", "unhealthy", "degraded"] as const;
  return order.find((level) => signals.some((signal) => signal.level === level)) ?? "healthy";
}

function confidenceOf(verdict: Verdict, signals: readonly Signal[]): Confidence {
  if (verdict === "unknown") return "none";
  return signals.some(({ level }) => level === "not_evaluated") ? "medium" : "high";
}

function toSignal(name: SignalName, measurement: Measurement): Signal {
  const rule: SignalRule = ruleset.signals[name];
  const { value, evidence = [] } = measurement;
  const shown = { name, value: value === undefined ? undefined : atMost(value), evidence };
  const { level, finding } = levelOf(rule, measurement);
  const code = finding === undefined ? undefined : (rule.codes[finding] as ReasonCode);
  return { ...shown, level, code };
}

function levelOf(rule: SignalRule, measurement: Measurement): { level: Level; finding?: string } {
  if ("finding" in measurement) return { level: "unknown", finding: measurement.finding };
  const { value, sample } = measurement;
  const { unknownAbove, unhealthyAt, degradedAt, sampleMin = 0 } = rule;
  if (sample !== undefined && sample < sampleMin) return { level: "not_evaluated" };
  if (unknownAbove !== undefined && value > unknownAbove) {
    return { level: "unknown", finding: rule.codes.stale === undefined ? "skewed" : "stale" };
  }
  if (unhealthyAt !== undefined && value >= unhealthyAt) return { level: "unhealthy", finding: "unhealthy" };
  if (degradedAt !== undefined && value >= degradedAt) return { level: "degraded", finding: "degraded" };
  return { level: "healthy" };
}

function measure(observation: Observation): Record<SignalName, Measurement> {
  const { runs, tasks, items } = observation;
  const unavailable: Measurement = { finding: "unavailable" };
  return {
    telemetry_age: measureAge(observation.sources),
    source_clock_skew: measureSkew(observation),
    dependency_snapshot_age: measureDependencies(observation),
    workflow_failure_ratio: runs === undefined ? unavailable : measureFailures(runs.ended),
    idle_running_runs: runs === undefined ? unavailable : count(runs.overdue, "overdueRun", "recoverable"),
    workflow_dead_letters: runs === undefined ? unavailable : count(runs.letters, "letter", "unreplayed"),
    incompatible_attempts: tasks === undefined ? unavailable : { value: tasks.incompatible },
    ready_queue_depth:
      tasks === undefined || items === undefined
        ? unavailable
        : {
            value: tasks.ready + items.ready,
            evidence: [
              { name: "ready_queue_items", value: items.ready },
              { name: "ready_workflow_tasks", value: tasks.ready },
            ],
          },
    oldest_ready_item:
      tasks === undefined || items === undefined
        ? unavailable
        : {
            value: completeSeconds(Math.max(tasks.oldestReadyMs, items.oldestReadyMs)),
            evidence: [
              { name: "oldest_queue_item_s", value: completeSeconds(items.oldestReadyMs) },
              { name: "oldest_workflow_task_s", value: completeSeconds(tasks.oldestReadyMs) },
            ],
          },
  };
}

/** The age of the oldest of some observations. */
function measureAge(observations: readonly { readonly ageMs: number | undefined }[]): Measurement {
  const ages = observations.flatMap(({ ageMs }) => ageMs ?? []);
  return ages.length < observations.length ? { finding: "missing" } : { value: startedSeconds(Math.max(...ages)) };
}

function measureSkew({ sources }: Observation): Measurement {
  const known = sources.filter(({ ageMs }) => ageMs !== undefined);
  const value = Math.ceil(Math.max(0, ...known.map(({ skewMs }) => skewMs)));
  return known.length === 0 ? { finding: "missing" } : { value };
}

function measureDependencies({ dependencies }: Observation): Measurement {
  const age = measureAge(dependencies);
  if ("finding" in age) return age;
  if (age.value > ruleset.signals.dependency_snapshot_age.unknownAbove) return age;
  if (dependencies.some(({ state }) => !isKnown(state))) return { ...age, finding: "unclassified" };
  if (dependencies.some(({ state }) => isUnusable(state))) return { ...age, finding: "unavailable" };
  return age;
}

function measureFailures(ended: StateCounts): Measurement {
  const classes = ruleset.states.endedRun;
  if (hasUnclassified(ended, classes)) return { finding: "unclassified" };
  const terminals = Object.values(ended).reduce((sum, each) => sum + each, 0);
  const failed = sumOf(ended, classes, "failure");
  const evidence = [
    { name: "failed_runs", value: failed },
    { name: "ended_runs", value: terminals },
  ];
  // Whole percent are exact here, because the thresholds are whole percent too.
  return { value: terminals === 0 ? 0 : Math.floor((failed * 100) / terminals), evidence, sample: terminals };
}

function count(counts: StateCounts, states: "overdueRun" | "letter", wanted: string): Measurement {
  const classes = ruleset.states[states];
  return hasUnclassified(counts, classes) ? { finding: "unclassified" } : { value: sumOf(counts, classes, wanted) };
}

function hasUnclassified(counts: StateCounts, classes: Readonly<Record<string, string>>): boolean {
  return Object.keys(counts).some((state) => classOf(classes, state) === undefined);
}

function sumOf(counts: StateCounts, classes: Readonly<Record<string, string>>, wanted: string): number {
  const entries = Object.entries(counts).filter(([state]) => classOf(classes, state) === wanted);
  return entries.reduce((sum, [, each]) => sum + each, 0);
}

/** Seconds that have begun: 300.001 s are beyond a limit of 300 s. */
export function startedSeconds(ms: number): number {
  return Math.ceil(Math.max(0, ms) / 1000);
}

/** Seconds that are complete: 899.999 s have not reached 900 s. */
function completeSeconds(ms: number): number {
  return Math.floor(Math.max(0, ms) / 1000);
}

const int32Max = 2 ** 31 - 1;

/** A number in the range of the report. */
export function atMost(value: number): number {
  return Math.min(value, int32Max);
}
