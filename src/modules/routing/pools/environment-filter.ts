import type { TenantId } from "../../../platform/access/index.ts";
import type { Fragment, Sql } from "../../../platform/db/index.ts";

/** Stands for all pools in a path, in place of a pool's id. */
export const allPools = "-";

/** The condition for rows with the environment that a filter names by its id or key. An empty filter selects all rows. */
export function ofEnvironment(sql: Sql, tenantId: TenantId, idOrKey: string): Fragment {
  if (idOrKey === "") return sql`true`;
  return sql`environment_id in (
    select id from environments where tenant_id = ${tenantId} and (id = ${idOrKey} or key = ${idOrKey}))`;
}
