import type { Sql } from "../../../platform/db/index.ts";

/** An object whose bytes belong to a record, or are about to. */
interface StoredObject {
  readonly key: string;
  readonly size_bytes: number;
  readonly sha256: string;
}

/** The SQL queries that export and import objects. */
export function transferStore(region: string) {
  const hasBytes = (sql: Sql) => sql`status in ('uploaded', 'committed') and removed_at is null and regions <> '{}'`;
  return {
    /** A tenant's objects with bytes in the region of this node. */
    listObjects: (sql: Sql, tenantId: string): Promise<StoredObject[]> =>
      sql<StoredObject[]>`
        select object_key as key, size_bytes::float8 as size_bytes, sha256 from workflow_object_intents
        where tenant_id = ${tenantId} and ${hasBytes(sql)} and ${region} = any(regions) order by id`,

    /** Whether the keys of a tenant's objects are those that the service gave them. Other keys may be those of another tenant. */
    async hasOwnObjects(tx: Sql, tenantId: string): Promise<boolean> {
      const { count } = await tx`
        select from workflow_object_intents
        where tenant_id = ${tenantId} and object_key <> concat(tenant_id, '/', right(id, 2), '/', id) limit 1`;
      return count === 0;
    },

    /** Notes that a tenant's objects were imported to the region of this node. */
    async adoptObjects(tx: Sql, tenantId: string): Promise<void> {
      await tx`
        update workflow_object_intents set regions = case when ${hasBytes(tx)} then array[${region}::text] else '{}' end
        where tenant_id = ${tenantId}`;
    },
  };
}
