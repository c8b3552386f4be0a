// Generated from the definitions; do not edit.
import { bindOperations } from "../transport/bind.ts";
import type { CallOptions, Operation } from "../transport/operation.ts";
import type { Transport } from "../transport/transport.ts";
import type { List } from "../transport/list.ts";

/** Rules: what a pool does with items that match a condition. */
export interface RuleService {
  /** Adds a rule to a pool. */
  create(request: CreateRuleRequest, options?: CallOptions): Promise<Rule>;

  /** Returns one rule. */
  get(request: GetRuleRequest, options?: CallOptions): Promise<Rule>;

  /** Lists the rules of a pool, in the order in which they apply. */
  list(request: ListRulesRequest, options?: CallOptions): List<Rule>;

  /** Changes the fields that are present. */
  update(request: UpdateRuleRequest, options?: CallOptions): Promise<Rule>;

  /** Deletes a rule. */
  delete(request: DeleteRuleRequest, options?: CallOptions): Promise<Rule>;

  /** Checks a condition: whether it is valid, what it reads, and its result for a sample. */
  validate(request?: ValidateRuleRequest, options?: CallOptions): Promise<ValidateRuleResponse>;
}

const ruleServiceOperations = {
  create: { verb: "POST", path: "/api/pools/{pool_id}/rules", body: "*", keyed: true },
  get: { verb: "GET", path: "/api/rules/{rule_id}" },
  list: { verb: "GET", path: "/api/pools/{pool_id}/rules", result: "cursor" },
  update: { verb: "PATCH", path: "/api/rules/{rule_id}", body: "*", keyed: true },
  delete: { verb: "DELETE", path: "/api/rules/{rule_id}", keyed: true },
  validate: { verb: "POST", path: "/api/rules/validate", body: "*" },
} as const satisfies Record<keyof RuleService, Operation>;

/** Creates the service over a transport. */
export function createRuleService(transport: Transport): RuleService {
  return bindOperations<RuleService>(transport, ruleServiceOperations);
}

/** The action of a rule whose condition is true. Each type has its own fields. */
export type RuleActionInput = {
  /** route (to one recipient only), require (only recipients for which the condition is true), prefer (those first), set_priority, redirect_pool, hold, reject or assign_experiment. */
  readonly type: "route" | "require" | "prefer" | "set_priority" | "redirect_pool" | "hold" | "reject" | "assign_experiment";
  /** route: the recipient, in the same pool. */
  readonly recipient_id?: string;
  /** set_priority: the item's new priority. A redirect keeps it: the item arrives in the other pool with it. */
  readonly priority?: number;
  /** redirect_pool: the other pool, in the same environment. */
  readonly pool_id?: string;
  /** hold: the number of seconds. */
  readonly hold_s?: number;
  /** reject: the message for the caller. */
  readonly reason?: string;
  /** assign_experiment: the experiment's key. */
  readonly experiment_key?: string;
  /** reject: the seconds after which the caller may try again; unknown when 0. */
  readonly retry_after_s?: number;
};

/** The action of a rule whose condition is true. Each type has its own fields. */
export type RuleAction = {
  /** route (to one recipient only), require (only recipients for which the condition is true), prefer (those first), set_priority, redirect_pool, hold, reject or assign_experiment. */
  readonly type: string;
  /** route: the recipient, in the same pool. */
  readonly recipient_id: string;
  /** set_priority: the item's new priority. A redirect keeps it: the item arrives in the other pool with it. */
  readonly priority?: number;
  /** redirect_pool: the other pool, in the same environment. */
  readonly pool_id: string;
  /** hold: the number of seconds. */
  readonly hold_s: number;
  /** reject: the message for the caller. */
  readonly reason: string;
  /** assign_experiment: the experiment's key. */
  readonly experiment_key: string;
  /** reject: the seconds after which the caller may try again; unknown when 0. */
  readonly retry_after_s: number;
};

/** Request to create a rule. */
export type CreateRuleRequest = {
  /** The pool. */
  readonly pool_id: string;
  /** The display name. */
  readonly name: string;
  /** Lower applies first; default 100. */
  readonly priority?: number;
  /** CEL over item, pool and now, and over recipient if the action is require or prefer; always true when empty. */
  readonly condition?: string;
  /** Whether it applies; default true. */
  readonly enabled?: boolean;
  /** Whether later rules are skipped when it matches; default true. */
  readonly stop_on_match?: boolean;
  /** What happens if the condition fails to evaluate: skip (default) or reject. */
  readonly on_error?: "skip" | "reject";
  /** The action. */
  readonly action: RuleActionInput;
};

/** What a pool does with items that match a condition. */
export type Rule = {
  /** The id, a ULID. */
  readonly id: string;
  /** The owning tenant. */
  readonly tenant_id: string;
  /** The pool it belongs to. */
  readonly pool_id: string;
  /** The display name. */
  readonly name: string;
  /** Lower applies first; the oldest among equals. */
  readonly priority: number;
  /** CEL over item, pool and now, and over recipient if the action is require or prefer; always true when empty. */
  readonly condition: string;
  /** Whether it applies. */
  readonly enabled: boolean;
  /** Whether later rules are skipped when it matches. */
  readonly stop_on_match: boolean;
  /** What happens if the condition fails to evaluate: skip the rule, or reject the item. */
  readonly on_error: string;
  /** The action. */
  readonly action?: RuleAction;
  /** When it was created. */
  readonly created_at?: string;
  /** When it last changed. */
  readonly updated_at?: string;
  /** The version of the record; send it back to make an update conditional. */
  readonly record_version: number;
};

/** Identifies a rule. */
export type GetRuleRequest = {
  /** The rule's id. */
  readonly rule_id: string;
};

/** Request for a page of a pool's rules. */
export type ListRulesRequest = {
  /** The pool's id. */
  readonly pool_id: string;
  /** Maximum number of items per page. */
  readonly limit?: number;
  /** Cursor from a previous response; the first page when empty. */
  readonly cursor?: string;
  /** Number of items to skip. */
  readonly offset?: number;
};

/** Changes the fields that are present. */
export type UpdateRuleRequest = {
  /** The rule's id. */
  readonly rule_id: string;
  /** The display name. */
  readonly name?: string;
  /** Lower applies first. */
  readonly priority?: number;
  /** CEL; always true when empty. */
  readonly condition?: string;
  /** Whether it applies. */
  readonly enabled?: boolean;
  /** Whether later rules are skipped when it matches. */
  readonly stop_on_match?: boolean;
  /** What happens if the condition fails to evaluate: skip or reject. */
  readonly on_error?: "skip" | "reject";
  /** Replaces the action. */
  readonly action?: RuleActionInput;
  /** Makes the change conditional on this version. */
  readonly record_version?: number;
};

/** Selects the rule to delete. */
export type DeleteRuleRequest = {
  /** The rule's id. */
  readonly rule_id: string;
};

/** A sample for a condition. */
export type RuleSample = {
  /** The item. */
  readonly item?: object;
  /** The recipient. */
  readonly recipient?: object;
  /** The pool. */
  readonly pool?: object;
  /** The time; the current one when absent. */
  readonly now?: string | Date;
};

/** A condition to check. */
export type ValidateRuleRequest = {
  /** The CEL expression; always true when empty. */
  readonly condition?: string;
  /** The action type that it is for: only require and prefer have a recipient. Any when empty. */
  readonly action_type?: "" | "route" | "require" | "prefer" | "set_priority" | "redirect_pool" | "hold" | "reject" | "assign_experiment";
  /** The sample to evaluate it on. */
  readonly sample?: RuleSample;
};

/** The result of the check. */
export type ValidateRuleResponse = {
  /** Whether it is a valid condition. */
  readonly valid: boolean;
  /** The errors, if it is not. */
  readonly errors: readonly ConditionError[];
  /** The variables that it uses, sorted. */
  readonly variables: readonly string[];
  /** The paths that it reads, sorted, as far as they are static: item.attributes.region. */
  readonly paths: readonly string[];
  /** The static type of its result: bool, or any if unknown. */
  readonly result_type: string;
  /** Its result for the sample; absent without a sample. */
  readonly result?: boolean;
  /** The error of the evaluation on the sample, if any. */
  readonly evaluation_error?: ConditionError;
};

/** An error in a condition, with its position. */
export type ConditionError = {
  /** The message for the author. */
  readonly message: string;
  /** syntax, type or limit if it is not a valid condition; evaluation or budget if it failed on the sample. */
  readonly kind: string;
  /** The line, from 1; 0 if unknown. */
  readonly line: number;
  /** The column, from 1; 0 if unknown. */
  readonly column: number;
  /** The offset in UTF-16 units. */
  readonly offset: number;
};
