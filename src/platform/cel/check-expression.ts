import { fail } from "../../errors/index.ts";
import { CelError } from "./cel-error.ts";
import type { CelType, CelVariables } from "./cel-type.ts";
import { compileCel } from "./compile.ts";
import { repairExpression } from "./repair.ts";

/** Throws INVALID_ARGUMENT for a field whose text is not a valid expression; the message contains the position. */
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
      repairs: new Map([[field, () => repairExpression(source, variables, expected)]]),
      ...(position !== undefined && { extra: { position } }),
      cause: error,
    });
  }
}

/** Throws INVALID_ARGUMENT for an invalid condition; an empty text means no condition and is valid. */
export function checkCondition(field: string, condition: string, variables: CelVariables): void {
  if (condition !== "") checkExpression(field, condition, variables, "bool");
}
