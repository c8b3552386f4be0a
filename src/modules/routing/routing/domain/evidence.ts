import type { Decision, TraceStep } from "./decision.ts";
import type { Observed } from "./facts/survey-record.ts";

/** What is known of a decision besides its outcome: enough to show it, and to make it again. */
export interface Evidence {
  readonly reason: string;
  /** What the rule that rejected the item has to say. */
  readonly message: string;
  readonly ruleIds: readonly string[];
  readonly experimentKeys: readonly string[];
  readonly trace: readonly TraceStepKept[];
  readonly observed: Observed;
  /** What the rules and the strategy came to, before admission. */
  readonly decided: Decided;
  readonly nowMs: number;
  /** The item that this one would have been a double of; empty for none. */
  readonly existingItemId: string;
  readonly dueAtMs: number | undefined;
}

interface Decided {
  readonly outcome: Decision["outcome"];
  readonly recipientId: string;
  readonly priority: number;
}

/** A step of a trace; admission and redirects add theirs to those of the decision. */
export type TraceStepKept = Omit<TraceStep, "step"> & { readonly step: TraceStep["step"] | "admission" | "redirect" };

/** What the rest of a decision's row tells. */
interface Told {
  /** When its id was made. */
  readonly madeAtMs: number;
  readonly outcome: string;
  readonly recipientId: string;
  readonly priority: number;
}

/** Evidence as it is kept: without what is empty, and without what the rest of the row tells. */
export type KeptEvidence = Pick<Evidence, "reason" | "trace" | "observed"> & Partial<Evidence>;

/** What is kept of evidence. */
export function keptEvidence(evidence: Evidence, { madeAtMs, outcome, recipientId, priority }: Told): KeptEvidence {
  const { reason, message, ruleIds, experimentKeys, trace, observed, decided, nowMs, existingItemId, dueAtMs } =
    evidence;
  const told = decided.outcome === outcome && decided.recipientId === recipientId && decided.priority === priority;
  return {
    reason,
    message: message || undefined,
    ruleIds: ruleIds.length === 0 ? undefined : ruleIds,
    experimentKeys: experimentKeys.length === 0 ? undefined : experimentKeys,
    trace,
    observed,
    decided: told ? undefined : decided,
    nowMs: nowMs === madeAtMs ? undefined : nowMs,
    existingItemId: existingItemId || undefined,
    dueAtMs,
  } as KeptEvidence;
}

/** The evidence that something was kept of. */
export function wholeEvidence(kept: KeptEvidence, { madeAtMs, outcome, recipientId, priority }: Told): Evidence {
  return {
    message: "",
    ruleIds: [],
    experimentKeys: [],
    decided: { outcome: outcome as Decision["outcome"], recipientId, priority },
    nowMs: madeAtMs,
    existingItemId: "",
    dueAtMs: undefined,
    ...kept,
  };
}
