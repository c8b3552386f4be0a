import { fail, type Violation } from "../../../../errors/index.ts";
import type { TenantId } from "../../../../platform/access/index.ts";
import type { CelVariables } from "../../../../platform/cel/index.ts";
import type { Stamps } from "../../../../platform/records/index.ts";
import type { PoolId } from "./pool.ts";
import type { RecipientId } from "./recipient.ts";

/** A rule's id. */
export type RuleId = string & { readonly __id: "rule" };

/**
 * What a rule does when its condition holds.
 * route: to this recipient and nobody else. require: only recipients for whom the condition holds.
 * prefer: those for whom it holds go first. The others act on the item alone.
 */
export type RuleAction =
  | { readonly type: "route"; readonly recipientId: RecipientId }
  | { readonly type: "require" }
  | { readonly type: "prefer" }
  | { readonly type: "set_priority"; readonly priority: number }
  | { readonly type: "redirect_pool"; readonly poolId: PoolId }
  | { readonly type: "hold"; readonly holdS: number }
  | { readonly type: "reject"; readonly reason: string }
  | { readonly type: "assign_experiment"; readonly experimentKey: string };

/** One rule of a pool. */
export interface Rule extends Stamps {
  readonly tenantId: TenantId;
  readonly id: RuleId;
  readonly poolId: PoolId;
  readonly name: string;
  /** Lower first; ties by creation, then id. */
  readonly priority: number;
  /** CEL over item, recipient, pool and now; empty always holds. */
  readonly condition: string;
  readonly enabled: boolean;
  readonly stopOnMatch: boolean;
  readonly onError: "skip" | "reject";
  readonly action: RuleAction;
}

/** What is asked for a new rule. */
export type NewRule = Pick<Rule, "name" | "priority" | "condition" | "enabled" | "stopOnMatch" | "onError" | "action">;

/** What an update may change. */
export type RuleChange = Partial<NewRule>;

/** How many rules a pool may have. */
export const rulesMax = 500;

/** What conditions may name. */
export const ruleVariables: CelVariables = { item: "map", recipient: "map", pool: "map", now: "timestamp" };

const { recipient: _, ...itemVariables } = ruleVariables;

/** What the condition of an action may name: only require and prefer look at one recipient after the other. */
export function conditionVariables(type: RuleAction["type"]): CelVariables {
  return type === "require" || type === "prefer" ? ruleVariables : itemVariables;
}

/** Where a rule stands among those of its pool, as a text: that of a rule which applies later is greater. */
export function positionOf({ priority, createdAt, id }: Pick<Rule, "priority" | "createdAt" | "id">): string {
  return `${String(priority + 2 ** 31).padStart(10, "0")} ${createdAt.toISOString()} ${id}`;
}

/** An action as it is asked for: fields that its type does not take are empty. */
export interface ActionInput {
  readonly type: string;
  readonly recipientId: string;
  readonly priority?: number | undefined;
  readonly poolId: string;
  readonly holdS: number;
  readonly reason: string;
  readonly experimentKey: string;
}

type ActionField = Exclude<keyof ActionInput, "type">;

const fieldNames: Readonly<Record<ActionField, string>> = {
  recipientId: "recipient_id",
  priority: "priority",
  poolId: "pool_id",
  holdS: "hold_s",
  reason: "reason",
  experimentKey: "experiment_key",
};

/** The one field that each type of action takes. */
const fieldOf: Readonly<Record<RuleAction["type"], ActionField | undefined>> = {
  route: "recipientId",
  require: undefined,
  prefer: undefined,
  set_priority: "priority",
  redirect_pool: "poolId",
  hold: "holdS",
  reject: "reason",
  assign_experiment: "experimentKey",
};

/** Makes an action of what was asked for; refuses one whose field is missing, or that has another type's. */
export function toAction(input: ActionInput): RuleAction {
  const type = input.type as RuleAction["type"];
  const own = fieldOf[type];
  const violations: Violation[] = [];
  for (const field of Object.keys(fieldNames) as ActionField[]) {
    const given = field === "priority" ? input.priority !== undefined : Boolean(input[field]);
    // A refusal may go without a reason.
    const problem =
      field !== own
        ? given && "does not belong to this type of action"
        : !given && field !== "reason" && "is required for this type of action";
    if (problem) violations.push({ field: `action.${fieldNames[field]}`, rule: `action.${type}`, message: problem });
  }
  if (violations.length > 0) {
    const told = violations.map(({ field, message }) => `${field}: ${message}`).join("; ");
    throw fail("INVALID_ARGUMENT", { public: told, violations });
  }
  return (own === undefined ? { type } : { type, [own]: input[own] }) as RuleAction;
}
