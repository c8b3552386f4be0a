import { fail } from "../../../errors/index.ts";
import {
  CelError,
  type CelExpression,
  type CelVariables,
  compileCel,
  evaluateCondition,
} from "../../../platform/cel/index.ts";
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
  if (source === "") return;
  try {
    compileCel(source, variables, "bool");
  } catch (error) {
    if (!(error instanceof CelError)) throw error;
    const { kind, position } = error;
    const place = position === undefined ? "" : `line ${position.line}, column ${position.column}: `;
    const message = `${place}${error.message}`;
    throw fail("INVALID_ARGUMENT", {
      public: `condition: ${message}`,
      violations: [{ field: "condition", rule: `cel.${kind}`, message }],
      ...(position !== undefined && { extra: { position } }),
      cause: error,
    });
  }
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
