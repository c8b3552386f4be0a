import { type CelVariables, checkCondition, checkExpression } from "../../../platform/cel/index.ts";
import type { PoolSettings } from "./domain/config-settings.ts";
import type { PoolConfig } from "./domain/pool-config.ts";
import { ruleVariables } from "./domain/rule.ts";

/** What the key of an admission constraint may name. */
const admissionVariables: CelVariables = { item: "map", pool: "map" };

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
