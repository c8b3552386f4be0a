import type { TenantId } from "../access/index.ts";
import type { Sql } from "../db/index.ts";

/**
 * Estimates the bytes of the tenants that store the most. PostgreSQL's own statistics say which share of a table's rows a tenant has, so
 * no row is read. The statistics of a table name the hundred tenants with the most rows, and follow changes by a minute or two.
 * Large objects are counted exactly.
 */
export async function estimateTenantBytes(sql: Sql): Promise<ReadonlyMap<TenantId, number>> {
  const rows = await sql<{ tenantId: TenantId; bytes: number }[]>`
    select tenant_id as "tenantId", sum(bytes)::float8 as bytes from (
      select tenant_id, pg_total_relation_size(c.oid) * share as bytes
      from pg_class c join pg_stats s on s.schemaname = current_schema() and s.tablename = c.relname
        cross join unnest(s.most_common_vals::text::text[], s.most_common_freqs) as common(tenant_id, share)
      where c.relnamespace = current_schema()::regnamespace and c.relkind = 'r' and s.attname = 'tenant_id'
      union all
      select tenant_id, size_bytes from workflow_object_intents
      where status in ('uploaded', 'committed') and removed_at is null) stored
    group by tenant_id`;
  return new Map(rows.map(({ tenantId, bytes }) => [tenantId, bytes]));
}
