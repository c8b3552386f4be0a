import type { TenantId } from "../../../../platform/access/index.ts";
import type { Sql } from "../../../../platform/db/index.ts";
import type { PoolId } from "../domain/pool.ts";
import { type NewRule, type Rule, type RuleId, rulesMax } from "../domain/rule.ts";

export function ruleStore(sql: Sql) {
  const columns = sql`
    tenant_id, id, pool_id, name, priority, condition, enabled, stop_on_match, on_error, action,
    created_at, updated_at, record_version`;
  return {
    async insert(rule: NewRule & Pick<Rule, "tenantId" | "id" | "poolId">, now: Date): Promise<Rule> {
      const [row] = await sql<Rule[]>`
        insert into rules (tenant_id, id, pool_id, name, priority, condition, enabled, stop_on_match, on_error, action,
          created_at, updated_at)
        values (${rule.tenantId}, ${rule.id}, ${rule.poolId}, ${rule.name}, ${rule.priority}, ${rule.condition},
          ${rule.enabled}, ${rule.stopOnMatch}, ${rule.onError}, ${sql.json(rule.action)}, ${now}, ${now})
        returning ${columns}`;
      return row!;
    },

    async find(tenantId: TenantId, id: string): Promise<Rule | undefined> {
      const [row] = await sql<Rule[]>`select ${columns} from rules where tenant_id = ${tenantId} and id = ${id}`;
      return row;
    },

    /** Updates all editable fields. A given version must match the current one. */
    async update(
      { tenantId, id }: Pick<Rule, "tenantId" | "id">,
      rule: NewRule,
      expectedVersion: number | undefined,
      now: Date,
    ): Promise<Rule | undefined> {
      const [row] = await sql<Rule[]>`
        update rules set
          name = ${rule.name}, priority = ${rule.priority}, condition = ${rule.condition}, enabled = ${rule.enabled},
          stop_on_match = ${rule.stopOnMatch}, on_error = ${rule.onError}, action = ${sql.json(rule.action)},
          updated_at = ${now}, record_version = record_version + 1
        where tenant_id = ${tenantId} and id = ${id}
          and record_version = coalesce(${expectedVersion ?? null}::int, record_version)
        returning ${columns}`;
      return row;
    },

    async remove(tenantId: TenantId, id: RuleId): Promise<Rule | undefined> {
      const [row] = await sql<Rule[]>`
        delete from rules where tenant_id = ${tenantId} and id = ${id} returning ${columns}`;
      return row;
    },

    async count(tenantId: TenantId, poolId: PoolId): Promise<number> {
      const [row] = await sql<{ count: number }[]>`
        select count(*)::int as count from rules where tenant_id = ${tenantId} and pool_id = ${poolId}`;
      return row!.count;
    },

    /** Lists all rules of a pool in the order in which they apply. */
    async ofPool(tenantId: TenantId, poolId: PoolId): Promise<Rule[]> {
      return sql<Rule[]>`
        select ${columns} from rules where tenant_id = ${tenantId} and pool_id = ${poolId}
        order by priority, created_at, id limit ${rulesMax}`;
    },

    /** Lists the enabled rules of pools in the order in which they apply. */
    async enabledOfPools(tenantId: TenantId, poolIds: readonly PoolId[]): Promise<Rule[]> {
      return sql<Rule[]>`
        select ${columns} from rules
        where tenant_id = ${tenantId} and pool_id = any(${poolIds as PoolId[]}::text[]) and enabled
        order by priority, created_at, id limit ${poolIds.length * rulesMax}`;
    },
  };
}
