import type { Fragment, Sql } from "../sql/sql.ts";

/** Whether work for others may be done for the tenant in a column: work of a suspended or deleted tenant waits. */
export function isServed(sql: Sql, tenantId: Fragment): Fragment {
  return sql`not exists (select from tenants served where served.id = ${tenantId} and served.status <> 'active')`;
}

/** Whether jobs of the tenant in a column may run: those of a deleted tenant do, because one of them purges it. */
export function mayRunJobs(sql: Sql, tenantId: Fragment): Fragment {
  return sql`not exists (select from tenants served where served.id = ${tenantId} and served.status = 'suspended')`;
}
