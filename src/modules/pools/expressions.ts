import { fail } from "../../errors/index.ts";
import { CelError, type CelType, type CelVariables, compileCel } from "../../platform/cel/index.ts";
import type { PoolSettings } from "./domain/config-settings.ts";
import type { PoolConfig } from "./domain/pool-config.ts";
import { ruleVariables } from "./domain/rule.ts";

/** What the key of an admission constraint may name. */
const admissionVariables: CelVariables = { item: "map", pool: "map" };

/** Refuses a field whose text is no expression that could be evaluated later, and says where it goes wrong. */
function checkExpression(field: string, source: string, variables: CelVariables, expected?: CelType): void {
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

/** Refuses a rule's condition that is none. */
export function checkCondition(field: string, condition: string, variables: CelVariables): void {
  if (condition !== "") checkExpression(field, condition, variables, "bool");
}

/** Refuses a config with a text that is no expression. Steps are named by their place where they were set. */
export function checkConfigExpressions({ selection, admission }: PoolConfig, { fallback }: PoolSettings): void {
  if (selection.hashKey !== "") checkExpression("config.selection.hash_key", selection.hashKey, { item: "map" });
  for (const [index, { condition }] of (fallback?.steps ?? []).entries()) {
    checkCondition(`config.fallback.steps[${index}].condition`, condition, ruleVariables);
  }
  for (const [kind, constraint] of Object.entries(admission)) {
    checkExpression(`config.admission.${kind}.key`, constraint.key, admissionVariables);
  }
}
