import type { TenantId } from "../../../platform/access/index.ts";
import type { Sql } from "../../../platform/db/index.ts";
import type { StoredValue } from "./domain/config-value.ts";

/** The SQL queries of dynamic configuration. There is one row per setting that a tenant has set. */
export function configStore(sql: Sql) {
  const columns = sql`key, value, updated_by, updated_at, record_version`;
  return {
    find: (tenantId: TenantId, key: string) =>
      sql<StoredValue[]>`
        select ${columns} from config_values where tenant_id = ${tenantId} and key = ${key}`.first(),

    /** Returns the values that a tenant has set, of these keys. */
    async findAll(tenantId: TenantId, keys: readonly string[]): Promise<StoredValue[]> {
      return sql<StoredValue[]>`
        select ${columns} from config_values where tenant_id = ${tenantId} and key = any(${keys as string[]})`;
    },

    /** Sets a value; undefined if `expectedVersion` is not current. The version of an unset value is 0. */
    set(
      tenantId: TenantId,
      { key, value, updatedBy, updatedAt }: Omit<StoredValue, "recordVersion">,
      expectedVersion: number | undefined,
    ): Promise<StoredValue | undefined> {
      const expected = expectedVersion ?? null;
      return sql<StoredValue[]>`
        insert into config_values (tenant_id, key, value, updated_by, updated_at)
        select ${tenantId}, ${key}, ${sql.json(value)}, ${updatedBy}, ${updatedAt}
        where coalesce(${expected}::int, 0) = 0
          or exists (select from config_values where tenant_id = ${tenantId} and key = ${key})
        on conflict (tenant_id, key) do update set
          value = excluded.value, updated_by = excluded.updated_by, updated_at = excluded.updated_at,
          record_version = config_values.record_version + 1
        where config_values.record_version = coalesce(${expected}::int, config_values.record_version)
        returning ${columns}`.first();
    },

    /** Deletes a value; returns whether there was one. */
    async remove(tenantId: TenantId, key: string): Promise<boolean> {
      const { count } = await sql`delete from config_values where tenant_id = ${tenantId} and key = ${key}`;
      return count > 0;
    },
  };
}
