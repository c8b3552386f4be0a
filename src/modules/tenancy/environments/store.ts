import { type EnvironmentMode, productionKey, type TenantId } from "../../../platform/access/index.ts";
import type { Sql } from "../../../platform/db/index.ts";
import type { Page, PageRows } from "../../../platform/paging/index.ts";
import { recordTable } from "../../../platform/records/index.ts";
import type { Environment, PromotionPolicy } from "./domain/environment.ts";

const environments = recordTable<Environment>("environments", {
  fixed: "tenant_id id key mode created_at",
  mutable: "name status promotion_policy updated_at record_version",
  exists: "status <> 'deleted'",
});

/** The SQL queries of environments. The row of a deleted environment stays, and no query returns it. */
export function environmentStore(sql: Sql) {
  const { columns, insertMany, update, listWhere } = environments(sql);
  return {
    insertMany,
    update,

    find: (tenantId: TenantId, idOrKey: string) =>
      sql<Environment[]>`
        select ${columns} from environments
        where tenant_id = ${tenantId} and (id = ${idOrKey} or key = ${idOrKey}) and status <> 'deleted'`.first(),

    /** The promotion policy of an environment, even of a deleted one. */
    async readPromotionPolicy(tenantId: TenantId, id: string): Promise<PromotionPolicy> {
      const [row] = await sql<Pick<Environment, "promotionPolicy">[]>`
        select promotion_policy from environments where tenant_id = ${tenantId} and id = ${id}`;
      return row!.promotionPolicy;
    },

    list(tenantId: TenantId, mode: EnvironmentMode, page: Page): Promise<PageRows<Environment>> {
      const where = {
        any: undefined,
        production_only: sql`key = ${productionKey}`,
        non_production_only: sql`key <> ${productionKey}`,
      }[mode];
      return listWhere(tenantId, {}, page, { where });
    },
  };
}
