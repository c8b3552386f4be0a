import type { GuardrailTest, GuardrailTests } from "../../../experiments/index.ts";
import type { KeyOutcome, Shift, SimulationReport } from "../../../promotable-artifacts.ts";
import type { CandidateArtifact, Guardrail, Score, SimulatedMetric, Verdict } from "./candidate.ts";

/** Facts about a target. */
export interface Evidence {
  readonly artifact: CandidateArtifact;
  readonly outcomes: readonly KeyOutcome[];
  readonly gauges: Readonly<Record<string, number>>;
  /** Undefined if no guardrail needs it, or if the target cannot be simulated. */
  readonly simulation?: SimulationReport | undefined;
}

/** The values of simulated metrics with the candidate, and with what the target has now. Undefined without a value. */
const simulatedValues: Readonly<
  Record<SimulatedMetric, (report: SimulationReport) => readonly [number | undefined, number | undefined]>
> = {
  simulated_changes: ({ items, changed }) => [changed / items, undefined],
  simulated_refusals: ({ items, routing }) => shiftOf(routing?.refused, items),
  simulated_wait_ms: ({ routing }) => [routing?.waits.after.p95Ms, routing?.waits.before.p95Ms],
  simulated_cost: ({ items, routing }) => shiftOf(routing?.cost, items),
};

function shiftOf(shift: Shift | undefined, items: number) {
  return [shift && shift.after / items, shift && shift.before / items] as const;
}

/** Whether guardrails need a simulation of the candidate. */
export function needSimulation(guardrails: readonly Guardrail[]): boolean {
  return guardrails.some(({ metric }) => metric in simulatedValues);
}

/** Scores guardrails on the known data about the targets. A guardrail without data is inconclusive. */
export function scoreGuardrails(
  guardrails: readonly Guardrail[],
  evidence: readonly Evidence[],
  tests: GuardrailTests,
): Score[] {
  return guardrails.flatMap((guardrail) => {
    const scores = evidence.flatMap((each) => scoreGuardrail(guardrail, each, tests) ?? []);
    if (scores.length > 0) return scores;
    const { metric, limit } = guardrail;
    const none = { kind: "", targetId: "", metric, limit, keys: 0, baselineKeys: 0 };
    return [{ ...none, verdict: "inconclusive" as const, reason: "No target of the candidate has this metric." }];
  });
}

function scoreGuardrail(
  { metric, limit }: Guardrail,
  { artifact, outcomes, gauges, simulation }: Evidence,
  tests: GuardrailTests,
): Score | undefined {
  const base = { kind: artifact.kind, targetId: artifact.targetId, metric, limit, baselineKeys: 0 };
  if (metric === "success") {
    const failures = outcomes.filter(({ success }) => !success).length;
    const test = tests.testFailureShare(failures, outcomes.length, 1 - limit);
    const value = outcomes.length === 0 ? undefined : 1 - failures / outcomes.length;
    return { ...base, ...limitVerdict(test, outcomes.length), value, keys: outcomes.length };
  }
  if (metric === "latency_ms") {
    const values = latenciesOf(outcomes);
    const test = tests.testMean(values, limit);
    return { ...base, ...limitVerdict(test, values.length), value: meanOf(values), keys: values.length };
  }
  if (metric in simulatedValues) {
    return simulation && { ...base, ...simulatedVerdict(metric as SimulatedMetric, limit, simulation) };
  }
  const value = gauges[metric];
  if (value === undefined) return undefined;
  return { ...base, ...valueVerdict(value, limit), value, keys: 0 };
}

function valueVerdict(value: number, limit: number): Pick<Score, "verdict" | "reason"> {
  return value <= limit
    ? { verdict: "passed", reason: "The value is within the limit." }
    : { verdict: "failed", reason: "The value exceeds the limit." };
}

function simulatedVerdict(metric: SimulatedMetric, limit: number, report: SimulationReport) {
  const [value, baseline] = report.items === 0 ? [] : simulatedValues[metric](report);
  if (value !== undefined) return { ...valueVerdict(value, limit), value, baseline, keys: report.items };
  const reason = report.items === 0 ? "There are no recorded items to simulate." : "No recorded item has this metric.";
  return { verdict: "inconclusive" as const, keys: report.items, reason };
}

function limitVerdict({ result, p }: GuardrailTest, keys: number): Pick<Score, "verdict" | "p" | "reason"> {
  const shown = p === null ? undefined : p;
  if (result === "better") return { verdict: "passed", p: shown, reason: "The limit holds." };
  if (result === "worse") return { verdict: "failed", p: shown, reason: "The limit is violated." };
  const reason =
    keys === 0
      ? "No item with a key has an outcome yet; only items with a key count."
      : "There are too few outcomes to tell.";
  return { verdict: "inconclusive", p: shown, reason };
}

/** Pass criteria of a canary. */
export interface CanaryTerms {
  /** The share of the keys that the canary serves. */
  readonly canaryShare: number;
  readonly keysMin: number;
  /** The largest loss of the success rate that is accepted. */
  readonly margin: number;
}

/** Scores the sides of a canary against each other, on the targets of the candidate. */
export function scoreCanary(
  evidence: readonly Evidence[],
  { canaryShare, keysMin, margin }: CanaryTerms,
  tests: GuardrailTests,
): Score[] {
  return evidence.flatMap(({ artifact, outcomes }) => {
    const canary = outcomes.filter(({ side }) => side === "canary");
    const baseline = outcomes.filter(({ side }) => side === "baseline");
    const base = { kind: artifact.kind, targetId: artifact.targetId };
    const counts = { keys: canary.length, baselineKeys: baseline.length };
    const failures = (side: readonly KeyOutcome[]) => side.filter(({ success }) => !success).length;
    const success = (side: readonly KeyOutcome[]) => (side.length === 0 ? undefined : 1 - failures(side) / side.length);
    const failed = tests.compareFailures(failures(canary), failures(baseline), canaryShare);
    const count = (side: readonly KeyOutcome[]) => ({ failures: failures(side), keys: side.length });
    const mayLose = tests.excludesLoss(count(canary), count(baseline), margin)
      ? undefined
      : `The canary may still succeed ${Number((margin * 100).toPrecision(6))} points less often than the baseline: it needs more keys.`;
    const scores: Score[] = [
      {
        ...{ ...base, ...counts, metric: "success", value: success(canary), baseline: success(baseline) },
        ...sideVerdict(failed, counts.keys, keysMin, mayLose),
      },
    ];
    const [fast, slow] = [latenciesOf(canary), latenciesOf(baseline)];
    if (fast.length > 0 && slow.length > 0) {
      const test = tests.compareMeans(fast, slow, canaryShare);
      scores.push({
        ...{ ...base, metric: "latency_ms", value: meanOf(fast), baseline: meanOf(slow) },
        ...{ keys: fast.length, baselineKeys: slow.length, ...sideVerdict(test, counts.keys, keysMin) },
      });
    }
    return scores;
  });
}

function sideVerdict(
  { result, p }: GuardrailTest,
  keys: number,
  keysMin: number,
  missing?: string,
): Pick<Score, "verdict" | "p" | "reason"> {
  const shown = p === null ? undefined : p;
  if (result === "worse") return { verdict: "failed", p: shown, reason: "The canary is worse than the baseline." };
  if (keys < keysMin) {
    return {
      verdict: "inconclusive",
      p: shown,
      reason: `The canary has ${keys} of the ${keysMin} keys that it needs.`,
    };
  }
  if (missing !== undefined) return { verdict: "inconclusive", p: shown, reason: missing };
  return { verdict: "passed", p: shown, reason: "The canary is not worse than the baseline." };
}

/** Waives scores of targets without any outcome if a candidate needs no traffic. */
export function waiveMissingTraffic(scores: readonly Score[], waiverReason: string): readonly Score[] {
  if (waiverReason === "") return scores;
  return scores.map((score) => {
    const isEmpty = score.verdict === "inconclusive" && score.keys === 0 && score.baselineKeys === 0;
    return isEmpty && score.targetId !== ""
      ? { ...score, verdict: "waived", reason: `Waived: ${waiverReason}` }
      : score;
  });
}

/** failed if anything failed, else inconclusive if anything is; passed only if everything passed or is waived. */
export function overallVerdict(scores: readonly Score[]): Verdict {
  if (scores.some(({ verdict }) => verdict === "failed")) return "failed";
  return scores.length === 0 || scores.some(({ verdict }) => verdict === "inconclusive") ? "inconclusive" : "passed";
}

function latenciesOf(outcomes: readonly KeyOutcome[]): number[] {
  return outcomes.flatMap(({ latencyMs }) => (latencyMs === null ? [] : [latencyMs]));
}

function meanOf(values: readonly number[]): number | undefined {
  return values.length === 0 ? undefined : values.reduce((sum, value) => sum + value, 0) / values.length;
}
