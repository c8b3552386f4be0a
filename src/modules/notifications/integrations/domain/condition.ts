import {
  type CelExpression,
  type CelVariables,
  checkCondition as checkCelCondition,
  compileCel,
  evaluateCondition,
} from "../../../../platform/cel/index.ts";
import type { Channel } from "../../subscribers/index.ts";

/** The values that a condition can read. */
export interface ConditionValues {
  readonly subscriber: Readonly<Record<string, unknown>>;
  readonly payload: Readonly<Record<string, unknown>>;
  readonly workflow_key: string;
  readonly channel: Channel;
}

const variables: CelVariables = { subscriber: "map", payload: "map", workflow_key: "string", channel: "string" };

/** A compiled condition; "failed" when its source does not compile, undefined when there is none. */
export type Condition = CelExpression | "failed" | undefined;

/** Throws when the source of a condition is invalid; the error names the position. */
export function checkCondition(source: string): void {
  checkCelCondition("condition", source, variables);
}

/** Compiles a stored condition. It was checked when it was stored, but the rules may be stricter now. */
export function readCondition(source: string): Condition {
  if (source === "") return undefined;
  try {
    return compileCel(source, variables, "bool");
  } catch {
    return "failed";
  }
}

/** Whether a condition matches; "failed" when it cannot be evaluated. */
export function matchesCondition(condition: Condition, values: ConditionValues): boolean | "failed" {
  if (condition === undefined) return true;
  if (condition === "failed") return "failed";
  try {
    return evaluateCondition(condition, { ...values });
  } catch {
    return "failed";
  }
}
