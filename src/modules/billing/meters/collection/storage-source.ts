import type { Sql } from "../../../../platform/db/index.ts";
import type { TenantUsage, UsageSource } from "../../../usage-source.ts";

/**
 * Measures the bytes that tenants store. A table's size, indexes included, is divided among the tenants by their number of
 * rows: exact sizes would need a read of every row.
 */
export const storageUsage: UsageSource = {
  meterKey: "service.storage",
  kind: "gauge",
  async measure(sql) {
    const tables = await sql<{ name: string; bytes: number }[]>`
      select t.relname::text as name, pg_total_relation_size(t.oid) as bytes
      from pg_class t join pg_attribute c on c.attrelid = t.oid
      where t.relnamespace = current_schema()::regnamespace and t.relkind = 'r' and c.attname = 'tenant_id'`;
    const bytesOf = new Map<TenantUsage["tenantId"], number>();
    for (const { name, bytes } of tables) {
      const rows = await countRows(sql, name);
      const total = rows.reduce((sum, { count }) => sum + count, 0);
      for (const { tenantId, count } of rows) {
        const share = Number((BigInt(bytes) * BigInt(count)) / BigInt(total));
        bytesOf.set(tenantId, (bytesOf.get(tenantId) ?? 0) + share);
      }
    }
    return Array.from(bytesOf, ([tenantId, quantity]) => ({ tenantId, quantity }));
  },
};

function countRows(sql: Sql, table: string): Promise<{ tenantId: TenantUsage["tenantId"]; count: number }[]> {
  return sql`select tenant_id, count(*) as count from ${sql(table)} group by tenant_id`;
}
