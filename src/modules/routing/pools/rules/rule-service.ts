import type { Context } from "../../../../chain/call.ts";
import { fail, invalid } from "../../../../errors/index.ts";
import { checkCondition } from "../../../../platform/cel/index.ts";
import { notFound, unchangedRecord, updateRefusal } from "../../../../platform/db/index.ts";
import { ulid } from "../../../../platform/ids/ulid.ts";
import { changedFields, isEmptyChange } from "../../../../platform/records/index.ts";
import type { EventRecorder } from "../../../operations/index.ts";
import type { StoredPool } from "../domain/pool.ts";
import {
  conditionVariables,
  type NewRule,
  type Rule,
  type RuleAction,
  type RuleChange,
  type RuleId,
  rulesMax,
} from "../domain/rule.ts";
import type { PoolAccess } from "../pool-access.ts";
import { checkRedirect } from "../pool-service.ts";
import { recipientStore } from "../recipients/recipient-store.ts";
import { ruleStore } from "./rule-store.ts";

interface Parts {
  readonly access: PoolAccess;
  readonly events: EventRecorder;
}

/** Operations on rules. */
export type RuleService = ReturnType<typeof createRuleService>;

/** Creates the rule service. */
export function createRuleService({ access, events }: Parts) {
  async function find({ sql, tenantId }: Context, id: string): Promise<Rule> {
    const rule = await ruleStore(sql).find(tenantId, id);
    if (rule === undefined) throw notFound("rule");
    return rule;
  }

  async function getRule(context: Context, id: string): Promise<Rule> {
    const rule = await find(context, id);
    await access.read(context, rule.poolId);
    return rule;
  }

  return {
    async createRule(context: Context, poolId: string, input: NewRule): Promise<Rule> {
      const { sql, tenantId, nowMs } = context;
      const pool = await access.change(context, poolId);
      checkRuleCondition(input);
      await checkReferences(context, pool, input.action);
      const store = ruleStore(sql);
      if ((await store.count(tenantId, pool.id)) >= rulesMax) {
        throw fail("FAILED_PRECONDITION", { public: `A pool can have at most ${rulesMax} rules: delete one first.` });
      }
      const id = ulid(nowMs) as RuleId;
      const created = await store.insert({ ...input, tenantId, id, poolId: pool.id }, new Date(nowMs));
      const { name, action } = created;
      await events.record(context, "rule.created", id, { pool_id: pool.id, name, action: action.type });
      return created;
    },

    getRule,

    /** Lists all rules of a pool in the order in which they apply. */
    async listRules(context: Context, poolId: string): Promise<Rule[]> {
      const pool = await access.read(context, poolId);
      return ruleStore(context.sql).ofPool(context.tenantId, pool.id);
    },

    async updateRule(
      context: Context,
      id: string,
      change: RuleChange,
      expectedVersion: number | undefined,
    ): Promise<Rule> {
      const { sql, nowMs } = context;
      if (isEmptyChange(change)) return unchangedRecord(await getRule(context, id), expectedVersion, "rule");
      const pool = await access.change(context, (await find(context, id)).poolId);
      // Read again under the lock of the pool.
      const current = await find(context, id);
      const wanted = { ...current };
      for (const field of changedFields(change)) Object.assign(wanted, { [field]: change[field as keyof RuleChange] });
      // Unchanged fields are not validated again: they may name a recipient or pool that no longer exists.
      if (change.condition !== undefined || change.action !== undefined) checkRuleCondition(wanted);
      if (change.action !== undefined) await checkReferences(context, pool, change.action);
      const changed = await ruleStore(sql).update(current, wanted, expectedVersion, new Date(nowMs));
      if (changed === undefined) throw updateRefusal(current, "rule");
      const { stopOnMatch: stop_on_match, onError: on_error, ...others } = change;
      const fields = changedFields({ ...others, stop_on_match, on_error });
      await events.record(context, "rule.updated", changed.id, { pool_id: pool.id, fields });
      return changed;
    },

    async deleteRule(context: Context, id: string): Promise<Rule> {
      const { sql, tenantId } = context;
      const { poolId, id: ruleId } = await find(context, id);
      await access.change(context, poolId);
      const deleted = await ruleStore(sql).remove(tenantId, ruleId);
      if (deleted === undefined) throw notFound("rule");
      await events.record(context, "rule.deleted", ruleId, { pool_id: poolId, name: deleted.name });
      return deleted;
    },
  };
}

/** Rejects an invalid condition and variables that the action does not provide. */
function checkRuleCondition({ condition, action }: NewRule): void {
  checkCondition("condition", condition, conditionVariables(action.type));
}

/** Rejects an action that refers to a missing pool or recipient. */
async function checkReferences(context: Context, pool: StoredPool, action: RuleAction): Promise<void> {
  if (action.type === "redirect_pool") await checkRedirect(context, pool, action.poolId, "action.pool_id");
  if (action.type === "route") {
    const found = await recipientStore(context.sql).find(context.tenantId, action.recipientId);
    if (found?.poolId !== pool.id)
      throw invalid("action.recipient_id", "recipient", "must be the id of a recipient of the same pool");
  }
}
