import {
  CelError,
  type CelExpression,
  type CelType,
  type CelVariables,
  compileCel,
} from "../../../../../platform/cel/index.ts";
import type { Json, Violations } from "../../../../../platform/document/index.ts";

/** The variables of conditions about answers. */
export const answerVariables: CelVariables = { status: "int", headers: "map", body: "any" };

/** The variables of conditions about webhook deliveries and polled items. */
export const deliveryVariables: CelVariables = {
  headers: "map",
  query: "map",
  body: "any",
  item: "any",
  input: "map",
};

/** The variables of conditions about notifications. */
export const messageVariables: CelVariables = { message: "map" };

/** The variables of conditions about refused notifications. */
export const refusalVariables: CelVariables = { class: "string", code: "string", message: "string" };

/** Compiles a CEL expression; undefined if it is missing, or reported with its position if it is invalid. */
export function parseExpression(
  value: Json | undefined,
  path: string,
  violations: Violations,
  variables: CelVariables,
  expected: CelType,
): CelExpression | undefined {
  if (value === undefined) return undefined;
  if (typeof value !== "string") {
    return violations.add(path, "type", 'must be a CEL expression, for example "body.ok == false"');
  }
  try {
    return compileCel(value, variables, expected);
  } catch (error) {
    if (!(error instanceof CelError)) throw error;
    return violations.add(path, `cel.${error.kind}`, error.message, error.position);
  }
}
