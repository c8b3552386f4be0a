import type { TenantId } from "../../../../platform/access/index.ts";
import { atMost, type Confidence, evaluate, type Signal, startedSeconds, type Verdict } from "./evaluation.ts";
import { isKnown, type Observation } from "./observation.ts";
import { digestOf, type ReasonCode, ruleset, rulesetDigest } from "./ruleset.ts";

/** The subject of a report. */
export interface ReportScope {
  readonly tenantId: TenantId;
  readonly environmentId: string;
  /** The key of the environment. */
  readonly environment: string;
}

/** The time that a report covers. */
export interface ReportWindow {
  readonly startMs: number;
  readonly endMs: number;
}

/** How current a source is. */
export interface SourceFreshness {
  readonly name: string;
  readonly freshness: "current" | "stale" | "skewed" | "missing";
  readonly ageS: number | undefined;
  readonly skewMs: number | undefined;
}

export interface DependencyState {
  readonly name: string;
  readonly state: string;
  readonly ageS: number | undefined;
}

export interface Report {
  readonly id: string;
  readonly scope: ReportScope;
  readonly window: ReportWindow;
  readonly generatedAtMs: number;
  readonly verdict: Verdict;
  readonly confidence: Confidence;
  readonly codes: readonly ReasonCode[];
  readonly signals: readonly Signal[];
  readonly sources: readonly SourceFreshness[];
  readonly dependencies: readonly DependencyState[];
}

/** The window ends at a multiple of this time, so that equal states have equal reports. */
const alignmentMs = 15_000;

/** The aligned window before a time. */
export function windowBefore(nowMs: number, periodMs: number): ReportWindow {
  const endMs = Math.floor(nowMs / alignmentMs) * alignmentMs;
  return { startMs: endMs - periodMs, endMs };
}

/** Creates the report of an observation. */
export function createReport(
  scope: ReportScope,
  window: ReportWindow,
  observation: Observation,
  generatedAtMs: number,
): Report {
  const { verdict, confidence, codes, signals } = evaluate(observation);
  const sources = observation.sources.map(toFreshness);
  const dependencies = observation.dependencies.map(toDependencyState);
  return {
    id: idOf({ scope, window, signals, sources, dependencies }),
    ...{ scope, window, generatedAtMs, verdict, confidence, codes, signals, sources, dependencies },
  };
}

/** The id: a digest of the rules and of all numbers. Everything in it is part of the report, so that anyone can verify it. */
function idOf({
  scope,
  window,
  signals,
  sources,
  dependencies,
}: Pick<Report, "scope" | "window" | "signals" | "sources" | "dependencies">): string {
  return digestOf({
    ruleset: rulesetDigest,
    scope: { tenant_id: scope.tenantId, environment_id: scope.environmentId, environment: scope.environment },
    window: { start: new Date(window.startMs).toISOString(), end: new Date(window.endMs).toISOString() },
    signals: signals.map(({ name, level, value, evidence }) => ({ name, level, value, evidence })),
    sources: sources.map(({ name, ageS, skewMs }) => ({ name, age_s: ageS, clock_skew_ms: skewMs })),
    dependencies: dependencies.map(({ name, state, ageS }) => ({ name, state, age_s: ageS })),
  });
}

function toFreshness({ name, ageMs, skewMs }: Observation["sources"][number]): SourceFreshness {
  if (ageMs === undefined) return { name, freshness: "missing", ageS: undefined, skewMs: undefined };
  const { telemetry_age: age, source_clock_skew: skew } = ruleset.signals;
  const ageS = startedSeconds(ageMs);
  const wholeSkewMs = atMost(Math.ceil(skewMs));
  const freshness = ageS > age.unknownAbove ? "stale" : wholeSkewMs > skew.unknownAbove ? "skewed" : "current";
  return { name, freshness, ageS, skewMs: wholeSkewMs };
}

function toDependencyState({ name, ageMs, state }: Observation["dependencies"][number]): DependencyState {
  if (ageMs === undefined) return { name, state: "missing", ageS: undefined };
  const ageS = startedSeconds(ageMs);
  if (ageS > ruleset.signals.dependency_snapshot_age.unknownAbove) return { name, state: "stale", ageS };
  // Only states of the ruleset are shown: any other text may be anything.
  return { name, state: isKnown(state) ? state : "unclassified", ageS };
}
