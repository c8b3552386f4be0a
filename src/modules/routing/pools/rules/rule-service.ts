import type { Context } from "../../../../chain/call.ts";
import { fail } from "../../../../errors/index.ts";
import { notFound, unchangedRecord, updateRefusal } from "../../../../platform/db/index.ts";
import { ulid } from "../../../../platform/ids/ulid.ts";
import { changedFields, isEmptyChange, newStamps } from "../../../../platform/records/index.ts";
import { checkRuleCondition, checkRuleReferences } from "../checks/reference-checks.ts";
import { type NewRule, type Rule, type RuleChange, type RuleId, rulesMax } from "../domain/rule.ts";
import type { PoolServiceParts } from "../pool-access.ts";
import { recordPoolVersion } from "../versions/version-recorder.ts";
import { ruleStore } from "./rule-store.ts";

export type RuleService = ReturnType<typeof createRuleService>;

export function createRuleService({ access, events }: PoolServiceParts) {
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
      await checkRuleReferences(context, pool, input.action);
      const store = ruleStore(sql);
      if ((await store.count(tenantId, pool.id)) >= rulesMax) {
        throw fail("FAILED_PRECONDITION", { public: `A pool can have at most ${rulesMax} rules: delete one first.` });
      }
      const id = ulid(nowMs) as RuleId;
      const created = await store.insert({ ...input, tenantId, id, poolId: pool.id, ...newStamps(nowMs) });
      await recordPoolVersion(context, pool.id);
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

    async updateRule(context: Context, id: string, change: RuleChange, expectedVersion: number | undefined) {
      const { sql, tenantId, nowMs } = context;
      if (isEmptyChange(change)) return unchangedRecord(await getRule(context, id), expectedVersion, "rule");
      const pool = await access.change(context, (await find(context, id)).poolId);
      // Read again under the lock of the pool.
      const current = await find(context, id);
      const wanted = { ...current };
      for (const field of changedFields(change)) Object.assign(wanted, { [field]: change[field as keyof RuleChange] });
      // Unchanged fields are not validated again: they may name a recipient or pool that no longer exists.
      if (change.condition !== undefined || change.action !== undefined) checkRuleCondition(wanted);
      if (change.action !== undefined) await checkRuleReferences(context, pool, change.action);
      const changed = await ruleStore(sql).update(tenantId, id, wanted, expectedVersion, new Date(nowMs));
      if (changed === undefined) throw updateRefusal(current, "rule");
      await recordPoolVersion(context, pool.id);
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
      await recordPoolVersion(context, deleted.poolId);
      await events.record(context, "rule.deleted", ruleId, { pool_id: poolId, name: deleted.name });
      return deleted;
    },
  };
}
