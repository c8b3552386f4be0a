import type { Fragment, Sql } from "../sql/sql.ts";

/** SQL: the tenant of a key that callers present before their tenant is known; null if no tenant has it. */
export function tenantOfKey(sql: Sql, key: string): Fragment {
  return sql`(select tenant_id from tenant_directory where key = ${key})`;
}

/** Adds a key of a tenant to the directory. No other tenant may have it. */
export async function addTenantKey(sql: Sql, tenantId: string, key: string): Promise<void> {
  await sql`insert into tenant_directory (key, tenant_id) values (${key}, ${tenantId})`;
}

export async function removeTenantKey(sql: Sql, tenantId: string, key: string): Promise<void> {
  await sql`delete from tenant_directory where key = ${key} and tenant_id = ${tenantId}`;
}
