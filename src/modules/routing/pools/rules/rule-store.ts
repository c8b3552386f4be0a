import type { TenantId } from "../../../../platform/access/index.ts";
import type { Sql } from "../../../../platform/db/index.ts";
import { recordTable } from "../../../../platform/records/index.ts";
import type { PoolId } from "../domain/pool.ts";
import { type Rule, rulesMax } from "../domain/rule.ts";

const rules = recordTable<Rule>("rules", {
  fixed: "tenant_id id pool_id created_at",
  mutable: "name priority condition enabled stop_on_match on_error action updated_at record_version",
});

export function ruleStore(sql: Sql) {
  const { columns, insert, find, update, remove, count } = rules(sql);
  return {
    insert,
    find,
    update,
    remove,

    count: (tenantId: TenantId, poolId: PoolId) => count(tenantId, sql`pool_id = ${poolId}`),

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
