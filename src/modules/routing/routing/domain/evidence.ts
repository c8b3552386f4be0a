import type { Decision, TraceStep } from "./decision.ts";
import type { Observation } from "./facts/observation.ts";

/** Details of a decision that are needed to show and replay it. */
export interface Evidence {
  readonly reason: string;
  /** The message of the rule that rejected the item. */
  readonly message: string;
  /** When a rejected item may be sent again, from the decision on; 0 if unknown. */
  readonly retryAfterMs: number;
  /** The rules of the last pool that matched; see `matchedRuleIds`. */
  readonly ruleIds: readonly string[];
  readonly experimentKeys: readonly string[];
  /** The variants that the item got in experiments. */
  readonly experiments: readonly AssignedExperiment[];
  readonly trace: readonly EvidenceTraceStep[];
  readonly observed: Observation;
  /** The result of rules and strategy, before admission. */
  readonly decided: Decided;
  readonly nowMs: number;
  /** The item that this one duplicates; empty for none. */
  readonly existingItemId: string;
  readonly dueAtMs: number | undefined;
  /** The items that this one waits for; undefined for none. */
  readonly after?: { readonly ids: readonly string[]; readonly onFailure: string } | undefined;
}

/** The variant of an item in an experiment that a rule assigned. */
export interface AssignedExperiment {
  readonly key: string;
  readonly id: string;
  readonly variant: string;
}

interface Decided {
  readonly outcome: Decision["outcome"];
  readonly recipientId: string;
  readonly priority: number;
}

/** A trace step, including those of admission, redirects, the side of a canary and the choice of a pool. */
export type EvidenceTraceStep = Omit<TraceStep, "step"> & {
  readonly step: TraceStep["step"] | "admission" | "redirect" | "experiment" | "canary" | "dependency" | "pool";
};

/** The rules that matched in the pools that redirected an item and in the last one, in order. */
export function matchedRuleIds({ trace, ruleIds }: Pick<Evidence, "trace" | "ruleIds">): readonly string[] {
  const redirectedAt = trace.findLastIndex(({ step }) => step === "redirect");
  if (redirectedAt < 0) return ruleIds;
  const earlier = trace
    .slice(0, redirectedAt)
    .flatMap(({ step, result, id = "" }) => (step === "rule" && result === "matched" ? [id] : []));
  return [...earlier, ...ruleIds];
}

/** The columns of a decision from which evidence is expanded. */
interface DecisionRow {
  /** The creation time of the decision id. */
  readonly madeAtMs: number;
  readonly outcome: string;
  readonly recipientId: string;
  readonly priority: number;
}

/** Stored evidence, without empty fields and without values that other columns hold. */
export type CompactEvidence = Pick<Evidence, "reason" | "trace" | "observed"> & Partial<Evidence>;

/** Removes fields that expandEvidence can restore. */
export function compactEvidence(
  evidence: Evidence,
  { madeAtMs, outcome, recipientId, priority }: DecisionRow,
): CompactEvidence {
  const { reason, message, ruleIds, experimentKeys, experiments, trace, observed, decided } = evidence;
  const { nowMs, existingItemId, dueAtMs, retryAfterMs, after } = evidence;
  const isRedundant =
    decided.outcome === outcome && decided.recipientId === recipientId && decided.priority === priority;
  return {
    reason,
    message: message || undefined,
    retryAfterMs: retryAfterMs || undefined,
    ruleIds: ruleIds.length === 0 ? undefined : ruleIds,
    experimentKeys: experimentKeys.length === 0 ? undefined : experimentKeys,
    experiments: experiments.length === 0 ? undefined : experiments,
    trace,
    observed,
    decided: isRedundant ? undefined : decided,
    nowMs: nowMs === madeAtMs ? undefined : nowMs,
    existingItemId: existingItemId || undefined,
    dueAtMs,
    after,
  } as CompactEvidence;
}

/** Restores the fields that compactEvidence removed. */
export function expandEvidence(
  compact: CompactEvidence,
  { madeAtMs, outcome, recipientId, priority }: DecisionRow,
): Evidence {
  return {
    message: "",
    retryAfterMs: 0,
    ruleIds: [],
    experimentKeys: [],
    experiments: [],
    decided: { outcome: outcome as Decision["outcome"], recipientId, priority },
    nowMs: madeAtMs,
    existingItemId: "",
    dueAtMs: undefined,
    ...compact,
  };
}
