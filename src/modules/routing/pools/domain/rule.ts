import { fail, type Violation } from "../../../../errors/index.ts";
import type { TenantId } from "../../../../platform/access/index.ts";
import type { CelVariables } from "../../../../platform/cel/index.ts";
import type { Stamps } from "../../../../platform/records/index.ts";
import type { PoolId } from "./pool.ts";
import type { RecipientId } from "./recipient.ts";

export type RuleId = string & { readonly __id: "rule" };

/**
 * The effect of a rule whose condition holds.
 * route: only this recipient. require: only recipients for which the condition holds. prefer: recipients for which
 * the condition holds come first. All other actions apply to the item.
 */
export type RuleAction =
  | { readonly type: "route"; readonly recipientId: RecipientId }
  | { readonly type: "require" }
  | { readonly type: "prefer" }
  | { readonly type: "set_priority"; readonly priority: number }
  | { readonly type: "redirect_pool"; readonly poolId: PoolId }
  | { readonly type: "hold"; readonly holdS: number }
  | { readonly type: "reject"; readonly reason: string; readonly retryAfterS?: number }
  | { readonly type: "assign_experiment"; readonly experimentKey: string };

/** A rule of a pool. */
export interface Rule extends Stamps {
  readonly tenantId: TenantId;
  readonly id: RuleId;
  readonly poolId: PoolId;
  readonly name: string;
  /** Lower values apply first; ties are broken by creation time, then id. */
  readonly priority: number;
  /** CEL over item, recipient, pool and now. An empty condition always holds. */
  readonly condition: string;
  readonly enabled: boolean;
  readonly stopOnMatch: boolean;
  readonly onError: "skip" | "reject";
  readonly action: RuleAction;
}

/** Input of createRule. */
export type NewRule = Pick<Rule, "name" | "priority" | "condition" | "enabled" | "stopOnMatch" | "onError" | "action">;

/** Input of updateRule; undefined fields are unchanged. */
export type RuleChange = Partial<NewRule>;

/** Maximum number of rules in a pool. */
export const rulesMax = 500;

/** Variables available to conditions. */
export const ruleVariables: CelVariables = { item: "map", recipient: "map", pool: "map", now: "timestamp" };

const { recipient: _, ...itemVariables } = ruleVariables;

/** Returns the variables available to the condition of an action. Only require and prefer evaluate each recipient. */
export function conditionVariables(type: RuleAction["type"]): CelVariables {
  return type === "require" || type === "prefer" ? ruleVariables : itemVariables;
}

/** Returns a string that sorts rules in the order in which they apply. */
export function positionOf({ priority, createdAt, id }: Pick<Rule, "priority" | "createdAt" | "id">): string {
  return `${String(priority + 2 ** 31).padStart(10, "0")} ${createdAt.toISOString()} ${id}`;
}

/** An action as requested; fields that its type does not use are empty. */
export interface ActionInput {
  readonly type: string;
  readonly recipientId: string;
  readonly priority?: number | undefined;
  readonly poolId: string;
  readonly holdS: number;
  readonly reason: string;
  readonly experimentKey: string;
  readonly retryAfterS: number;
}

type ActionField = Exclude<keyof ActionInput, "type">;

const fieldNames: Readonly<Record<ActionField, string>> = {
  recipientId: "recipient_id",
  priority: "priority",
  poolId: "pool_id",
  holdS: "hold_s",
  reason: "reason",
  experimentKey: "experiment_key",
  retryAfterS: "retry_after_s",
};

/** The fields that each action type uses. */
const fieldsOf: Readonly<Record<RuleAction["type"], readonly ActionField[]>> = {
  route: ["recipientId"],
  require: [],
  prefer: [],
  set_priority: ["priority"],
  redirect_pool: ["poolId"],
  hold: ["holdS"],
  reject: ["reason", "retryAfterS"],
  assign_experiment: ["experimentKey"],
};

/** Converts the input to an action. Rejects a missing field and fields of other types. */
export function toAction(input: ActionInput): RuleAction {
  const type = input.type as RuleAction["type"];
  const own = fieldsOf[type];
  const violations: Violation[] = [];
  for (const field of Object.keys(fieldNames) as ActionField[]) {
    const given = field === "priority" ? input.priority !== undefined : Boolean(input[field]);
    // The fields of a reject action are optional.
    const problem = !own.includes(field)
      ? given && `does not apply to a ${type} action`
      : !given && type !== "reject" && `is required for a ${type} action`;
    if (problem) violations.push({ field: `action.${fieldNames[field]}`, rule: `action.${type}`, message: problem });
  }
  if (violations.length > 0) {
    const message = violations.map((violation) => `${violation.field}: ${violation.message}`).join("; ");
    throw fail("INVALID_ARGUMENT", { public: message, violations });
  }
  const { reason, retryAfterS } = input;
  if (type === "reject") return { type, reason, ...(retryAfterS > 0 && { retryAfterS }) };
  return { type, ...Object.fromEntries(own.map((field) => [field, input[field]])) } as RuleAction;
}
