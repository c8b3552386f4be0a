import type { Sql } from "../../../platform/db/index.ts";
import { type JobKind, runInBatches } from "../../../platform/jobs/index.ts";

/** The kind of the job that removes a deleted tenant's data. */
export const purgeTenantKind = "tenant.purge";

const rowsAtOnce = 5000;

/** Removes every row of a deleted tenant, table by table and in bites, then the tenant itself. */
export function purgeTenantJob(sql: Sql): JobKind {
  return {
    kind: purgeTenantKind,
    async handler({ tenantId, id, signal }) {
      // Whatever led here: what is not deleted is not purged.
      const [deleted] = await sql`select from tenants where id = ${tenantId} and status = 'deleted'`;
      if (deleted === undefined) return;
      const tables = await sql<{ name: string }[]>`
        select c.table_name as name from information_schema.columns c
        join information_schema.tables t using (table_schema, table_name)
        where c.table_schema = current_schema() and c.column_name = 'tenant_id' and t.table_type = 'BASE TABLE'
          and c.table_name <> 'jobs'
        order by c.table_name`;
      for (const { name } of tables) {
        await runInBatches(signal, rowsAtOnce, async (limit) => {
          const removed = await sql`
            delete from ${sql(name)} where ctid = any(array(
              select ctid from ${sql(name)} where tenant_id = ${tenantId} limit ${limit}))`;
          return removed.count;
        });
      }
      await sql`delete from jobs where tenant_id = ${tenantId} and id <> ${id}`;
      await sql`delete from tenants where id = ${tenantId} and status = 'deleted'`;
    },
  };
}
