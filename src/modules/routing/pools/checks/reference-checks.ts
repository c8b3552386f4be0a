import type { Context } from "../../../../chain/call.ts";
import { invalid } from "../../../../errors/index.ts";
import { type CelVariables, checkCondition, checkExpression } from "../../../../platform/cel/index.ts";
import { toViolationFailure } from "../../../../platform/protojson/index.ts";
import { configViolations, effectiveConfig, type PoolSettings } from "../domain/config-settings.ts";
import type { StoredPool } from "../domain/pool.ts";
import type { PoolConfig } from "../domain/pool-config.ts";
import { findRedirectPath } from "../domain/redirect-cycle.ts";
import { conditionVariables, type NewRule, type RuleAction, ruleVariables } from "../domain/rule.ts";
import type { Strategy } from "../domain/strategy.ts";
import { poolStore } from "../pool-store.ts";
import { recipientStore } from "../recipients/recipient-store.ts";
import { lockRedirects } from "../redirect-store.ts";

/** The pool that a config or a rule is for. */
type CheckedPool = Pick<StoredPool, "id" | "environmentId">;

/** Rejects a config that contradicts itself, has an invalid expression, or redirects to a pool that it must not. */
export async function checkConfig(context: Context, pool: CheckedPool, settings: PoolSettings, strategy: Strategy) {
  const config = checkConsistency(settings, strategy);
  checkConfigExpressions(config, settings);
  const { redirectPoolId } = config.fallback;
  if (redirectPoolId !== "") await checkRedirect(context, pool, redirectPoolId, "config.fallback.redirect_pool_id");
}

/** Rejects settings that contradict themselves or the strategy; returns them with defaults filled in. */
export function checkConsistency(settings: PoolSettings, strategy: Strategy): PoolConfig {
  const config = effectiveConfig(settings, strategy);
  const violations = configViolations(config, strategy);
  if (violations.length > 0) throw toViolationFailure(violations);
  return config;
}

/** Variables available to the key of an admission constraint. */
const admissionVariables: CelVariables = { item: "map", pool: "map" };

/** Rejects a config that contains an invalid expression. Fallback steps are reported by their index in the request. */
function checkConfigExpressions({ selection, admission }: PoolConfig, { fallback }: PoolSettings): void {
  if (selection.hashKey !== "") checkExpression("config.selection.hash_key", selection.hashKey, { item: "map" });
  for (const [index, { condition }] of (fallback?.steps ?? []).entries()) {
    checkCondition(`config.fallback.steps[${index}].condition`, condition, ruleVariables);
  }
  for (const [kind, constraint] of Object.entries(admission)) {
    checkExpression(`config.admission.${kind}.key`, constraint.key, admissionVariables);
  }
}

/** Rejects an invalid condition and variables that the action does not provide. */
export function checkRuleCondition({ condition, action }: Pick<NewRule, "condition" | "action">, prefix = ""): void {
  checkCondition(`${prefix}condition`, condition, conditionVariables(action.type));
}

/** Rejects an action that refers to a missing pool or recipient. */
export async function checkRuleReferences(context: Context, pool: CheckedPool, action: RuleAction, prefix = "") {
  if (action.type === "redirect_pool") await checkRedirect(context, pool, action.poolId, `${prefix}action.pool_id`);
  if (action.type === "route") {
    const found = await recipientStore(context.sql).find(context.tenantId, action.recipientId);
    if (found?.poolId !== pool.id)
      throw invalid(`${prefix}action.recipient_id`, "recipient", "must be the id of a recipient of the same pool");
  }
}

/**
 * Rejects a redirect to the same pool, to a pool that is missing, archived or in another environment, and to a pool
 * that leads back to this one.
 */
async function checkRedirect({ sql, tenantId }: Context, from: CheckedPool, poolId: string, field: string) {
  if (poolId === from.id) throw invalid(field, "pool", "must name another pool");
  const found = await poolStore(sql).find(tenantId, poolId);
  if (found === undefined || found.status === "archived" || found.environmentId !== from.environmentId) {
    throw invalid(field, "pool", "must be the id of a pool in the same environment that is not archived");
  }
  const redirects = await lockRedirects(sql, tenantId);
  const back = findRedirectPath(redirects, found.id, from.id);
  if (back === undefined) return;
  const names = new Map<string, string>(redirects.map(({ fromId, fromName }) => [fromId, fromName]));
  const cycle = [from.id, ...back].map((id, at) => (id === from.id ? "this pool" : (names.get(id) ?? `pool ${at}`)));
  throw invalid(field, "redirect_cycle", `must not lead back to this pool: ${cycle.join(" → ")}`);
}
