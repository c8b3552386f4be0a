import type { DeliveryMode, PoolId, RecipientId, RuleId } from "../../pools/index.ts";
import type { Observed } from "./facts/survey-record.ts";

/** When a decision is made and what its chance is drawn from. */
export interface DecisionPoint {
  readonly nowMs: number;
  /** A whole number of up to 53 bits: the only source of chance. */
  readonly seed: number;
  /** How long the item has waited so far. */
  readonly waitedS: number;
  /** Work that conditions may do, in steps of CEL; as much as any decision may unless set. */
  readonly stepsMax?: number | undefined;
}

/**
 * What a decision comes to. queued: nobody can take it now. no_match: the same, in a pool that does not want it to wait.
 * redirected: another pool is to decide.
 */
export type DecisionOutcome = "routed" | "queued" | "held" | "rejected" | "redirected" | "no_match";

/** Why, as a word that does not change. */
export type DecisionReason =
  | "chosen"
  | "named_by_rule"
  | "named_by_item"
  | "chosen_by_fallback"
  | "rule_hold"
  | "rule_reject"
  | "rule_redirect"
  | "rule_error"
  | NobodyReason;

/** Why nobody takes an item now. */
export type NobodyReason =
  /** No recipient is active with a weight above 0. */
  | "no_recipients"
  /** Nobody has the skills, or all who do are excluded. */
  | "requirements_unmet"
  | "rules_exclude_all"
  | "all_at_capacity"
  | "all_ejected"
  /** Some are at capacity and some are ejected. */
  | "none_available"
  /** The one that the item or a rule names is not there, paused, or not let in. */
  | "recipient_not_eligible"
  /** The one that the item or a rule names is at capacity or ejected. */
  | "recipient_unavailable"
  /** first_accept: whoever asks first takes it. */
  | "awaiting_acceptance"
  /** manual: somebody has to name a recipient. */
  | "awaiting_assignment"
  /** Conditions took more work than one decision may do. */
  | "rules_too_costly"
  /** The call had no time left for the item's rules: they are applied in the background. */
  | "decided_later";

/** One step that led to a decision; never a value of the item. */
export interface TraceStep {
  readonly step: "eligibility" | "requirement" | "rule" | "strategy" | "fallback" | "omitted";
  /** The rule or the recipient that it is about. */
  readonly id?: string;
  readonly result: string;
  readonly detail?: string;
}

/** Who takes an item, and why. */
export interface Decision {
  readonly outcome: DecisionOutcome;
  /** Empty unless it is routed. */
  readonly recipientId: RecipientId | "";
  /** How the work reaches the recipient; empty unless it is routed. */
  readonly deliveryMode: DeliveryMode | "";
  /** In the order in which they applied. */
  readonly matchedRuleIds: readonly RuleId[];
  /** The item's, or what the last set_priority made of it. */
  readonly priority: number;
  /** For how many more seconds a held item is held; 0 unless it is. */
  readonly holdS: number;
  /** Empty unless it is redirected. */
  readonly redirectPoolId: PoolId | "";
  readonly reason: DecisionReason;
  /** What a rejecting rule has to say to the caller; empty otherwise. */
  readonly message: string;
  readonly experimentKeys: readonly string[];
  /** In how many seconds the next step of the fallback is due, when nobody takes it before; 0 when none is left. */
  readonly nextStepInS: number;
  readonly trace: readonly TraceStep[];
  /** What the decision saw of the moment; with the snapshot, the item and the point, enough to make it again. */
  readonly observed: Observed;
}
