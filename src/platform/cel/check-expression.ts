import { fail } from "../../errors/index.ts";
import { CelError } from "./cel-error.ts";
import type { CelType, CelVariables } from "./cel-type.ts";
import { compileCel } from "./compile.ts";

/** Refuses a field whose text is no expression that could be evaluated later, and says where it goes wrong. */
export function checkExpression(field: string, source: string, variables: CelVariables, expected?: CelType): void {
  try {
    compileCel(source, variables, expected);
  } catch (error) {
    if (!(error instanceof CelError)) throw error;
    const { kind, position } = error;
    const place = position === undefined ? "" : `line ${position.line}, column ${position.column}: `;
    const message = `${place}${error.message}`;
    throw fail("INVALID_ARGUMENT", {
      public: `${field}: ${message}`,
      violations: [{ field, rule: `cel.${kind}`, message }],
      ...(position !== undefined && { extra: { position } }),
      cause: error,
    });
  }
}

/** Refuses a condition that is none; an empty one is no condition and fine. */
export function checkCondition(field: string, condition: string, variables: CelVariables): void {
  if (condition !== "") checkExpression(field, condition, variables, "bool");
}
