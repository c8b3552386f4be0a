import type { Sql } from "../../../platform/db/index.ts";
import { type JobKind, runInBatches } from "../../../platform/jobs/index.ts";

/** The kind of the job that purges a deleted tenant's data. */
export const purgeTenantKind = "tenant.purge";

const batchSize = 5000;

/** Deletes every row of a deleted tenant, table by table in batches, then the tenant itself. */
export function purgeTenantJob(sql: Sql): JobKind {
  return {
    kind: purgeTenantKind,
    async handler({ tenantId, id, signal }) {
      // Never purge a tenant that is not deleted, whatever enqueued the job.
      const [deleted] = await sql`select from tenants where id = ${tenantId} and status = 'deleted'`;
      if (deleted === undefined) return;
      const tables = await sql<{ name: string }[]>`
        select c.table_name as name from information_schema.columns c
        join information_schema.tables t using (table_schema, table_name)
        where c.table_schema = current_schema() and c.column_name = 'tenant_id' and t.table_type = 'BASE TABLE'
          and c.table_name <> 'jobs'
        order by c.table_name`;
      for (const { name } of tables) {
        await runInBatches(signal, batchSize, async (limit) => {
          const purged = await sql`
            delete from ${sql(name)} where ctid = any(array(
              select ctid from ${sql(name)} where tenant_id = ${tenantId} limit ${limit}))`;
          return purged.count;
        });
      }
      await sql`delete from jobs where tenant_id = ${tenantId} and id <> ${id}`;
      await sql`delete from tenants where id = ${tenantId} and status = 'deleted'`;
    },
  };
}
