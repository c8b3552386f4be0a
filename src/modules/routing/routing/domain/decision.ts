import type { DeliveryMode, PoolId, RecipientId, RuleId } from "../../pools/index.ts";
import type { Observation } from "./facts/observation.ts";

/** The time and the random seed of a decision. */
export interface DecisionPoint {
  readonly nowMs: number;
  /** An integer of up to 53 bits: the only source of randomness. */
  readonly seed: number;
  /** How long the item has waited. */
  readonly waitedS: number;
  /** Limit of CEL steps for conditions; undefined for the default. */
  readonly stepsMax?: number | undefined;
}

/**
 * The outcome of a decision. queued: no recipient is available now. no_match: as queued, in a pool that does not
 * queue such items. redirected: another pool decides.
 */
export type DecisionOutcome = "routed" | "queued" | "held" | "rejected" | "redirected" | "no_match";

/** The reason of a decision, as a stable code. */
export type DecisionReason =
  | "chosen"
  | "named_by_rule"
  | "named_by_item"
  | "chosen_by_fallback"
  | "rule_hold"
  | "rule_reject"
  | "rule_redirect"
  | "rule_error"
  | NoMatchReason;

/** Why no recipient takes an item. */
export type NoMatchReason =
  /** No recipient is active with a weight above 0. */
  | "no_recipients"
  /** No recipient has the skills, or all that do are excluded. */
  | "requirements_unmet"
  | "rules_exclude_all"
  | "all_at_capacity"
  | "all_ejected"
  /** Some recipients are at capacity and some are ejected. */
  | "none_available"
  /** The recipient named by the item or a rule is missing, paused or excluded. */
  | "recipient_not_eligible"
  /** The recipient named by the item or a rule is at capacity or ejected. */
  | "recipient_unavailable"
  /** first_accept: the first worker to request it takes the item. */
  | "awaiting_acceptance"
  /** manual: the item waits for an explicit assignment. */
  | "awaiting_assignment"
  /** Conditions exceeded the work limit of a decision. */
  | "rules_too_costly"
  /** The call ran out of time; rules are evaluated in the background. */
  | "decided_later";

/** One step of a decision; never contains item values. */
export interface TraceStep {
  readonly step: "eligibility" | "requirement" | "rule" | "strategy" | "fallback" | "omitted";
  /** The rule or recipient of the step. */
  readonly id?: string;
  readonly result: string;
  readonly detail?: string;
}

/** A decision and its reasons. */
export interface Decision {
  readonly outcome: DecisionOutcome;
  /** Empty unless the outcome is routed. */
  readonly recipientId: RecipientId | "";
  /** How the item reaches the recipient; empty unless the outcome is routed. */
  readonly deliveryMode: DeliveryMode | "";
  /** In the order in which the rules applied. */
  readonly matchedRuleIds: readonly RuleId[];
  /** The priority of the item, or the one from the last set_priority rule. */
  readonly priority: number;
  /** Remaining hold time in seconds; 0 unless the outcome is held. */
  readonly holdS: number;
  /** Empty unless the outcome is redirected. */
  readonly redirectPoolId: PoolId | "";
  readonly reason: DecisionReason;
  /** The message of a rejecting rule for the caller; empty otherwise. */
  readonly message: string;
  /** When a rejecting rule lets the caller try again, in seconds; 0 if unknown. */
  readonly retryAfterS: number;
  readonly experimentKeys: readonly string[];
  /** Seconds until the next fallback step is due; 0 if none is left. */
  readonly nextStepInS: number;
  readonly trace: readonly TraceStep[];
  /** The live state that the decision read. With the snapshot, the item and the point it suffices for a replay. */
  readonly observed: Observation;
}
