import {
  type CelExpression,
  type CelVariables,
  checkCondition as checkCelCondition,
  compileCel,
  evaluateCondition,
} from "../../../../platform/cel/index.ts";
import type { Channel } from "../../subscribers/index.ts";

/** What a condition is asked about. */
export interface ConditionValues {
  readonly subscriber: Readonly<Record<string, unknown>>;
  readonly payload: Readonly<Record<string, unknown>>;
  readonly workflow_key: string;
  readonly channel: Channel;
}

const variables: CelVariables = { subscriber: "map", payload: "map", workflow_key: "string", channel: "string" };

/** A condition that can be asked; "failed" where its text cannot be understood, and undefined where there is none. */
export type Condition = CelExpression | "failed" | undefined;

/** Refuses a text that is no condition, and says where it goes wrong. */
export function checkCondition(source: string): void {
  checkCelCondition("condition", source, variables);
}

/** Reads a condition that was checked when it was stored, perhaps by rules that have become stricter since. */
export function readCondition(source: string): Condition {
  if (source === "") return undefined;
  try {
    return compileCel(source, variables, "bool");
  } catch {
    return "failed";
  }
}

/** Whether a condition holds; "failed" when it cannot be told. */
export function conditionHolds(condition: Condition, values: ConditionValues): boolean | "failed" {
  if (condition === undefined) return true;
  if (condition === "failed") return "failed";
  try {
    return evaluateCondition(condition, { ...values });
  } catch {
    return "failed";
  }
}
