import type { Decision, TraceStep } from "./decision.ts";
import type { Observed } from "./observed.ts";

/** What is kept of a decision besides its outcome: enough to show it, and to make it again. */
export interface Evidence {
  readonly reason: string;
  /** What the rule that rejected the item has to say. */
  readonly message?: string;
  readonly ruleIds: readonly string[];
  readonly experimentKeys: readonly string[];
  readonly trace: readonly TraceStepKept[];
  readonly observed: Observed;
  /** What the rules and the strategy came to, before admission. */
  readonly decided: { readonly outcome: Decision["outcome"]; readonly recipientId: string; readonly priority: number };
  readonly nowMs: number;
  readonly existingItemId?: string;
  readonly dueAtMs?: number;
}

/** A step of a trace; admission and redirects add theirs to those of the decision. */
export type TraceStepKept = Omit<TraceStep, "step"> & { readonly step: TraceStep["step"] | "admission" | "redirect" };
