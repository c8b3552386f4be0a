import { type CelVariables, checkCondition, checkExpression } from "../../../../platform/cel/index.ts";
import type { PoolSettings } from "../domain/config-settings.ts";
import type { PoolConfig } from "../domain/pool-config.ts";
import { ruleVariables } from "../domain/rule.ts";

/** Variables available to the key of an admission constraint. */
const admissionVariables: CelVariables = { item: "map", pool: "map" };

/** Rejects a config that contains an invalid expression. Fallback steps are reported by their index in the request. */
export function checkConfigExpressions({ selection, admission }: PoolConfig, { fallback }: PoolSettings): void {
  if (selection.hashKey !== "") checkExpression("config.selection.hash_key", selection.hashKey, { item: "map" });
  for (const [index, { condition }] of (fallback?.steps ?? []).entries()) {
    checkCondition(`config.fallback.steps[${index}].condition`, condition, ruleVariables);
  }
  for (const [kind, constraint] of Object.entries(admission)) {
    checkExpression(`config.admission.${kind}.key`, constraint.key, admissionVariables);
  }
}
