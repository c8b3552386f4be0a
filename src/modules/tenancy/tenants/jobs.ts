import type { TenantId } from "../../../platform/access/index.ts";
import type { Clock } from "../../../platform/clock/clock.ts";
import { deleteBatch, type Sql } from "../../../platform/db/index.ts";
import { enqueueJobs, type JobKind, runInBatches } from "../../../platform/jobs/index.ts";

/** The kind of the job that purges a deleted tenant's data. */
export const purgeTenantKind = "tenant.purge";

const batchSize = 5000;

interface Dependencies {
  readonly sql: Sql;
  readonly clock: Clock;
  /** Has the data of a tenant removed that is not in the database; returns whether any is left. */
  readonly releaseTenant: (tenantId: TenantId) => Promise<boolean>;
}

/** How long to wait for data that is not in the database, such as large objects under a legal hold. */
const waitMs = 5 * 60_000;

/** Deletes every row of a deleted tenant, table by table in batches, then the tenant itself. */
export function purgeTenantJob({ sql, clock, releaseTenant }: Dependencies): JobKind {
  return {
    kind: purgeTenantKind,
    async handler({ tenantId, id, signal }) {
      // Never purge a tenant that is not deleted, whatever enqueued the job.
      const [deleted] = await sql`select from tenants where id = ${tenantId} and status = 'deleted'`;
      if (deleted === undefined) return;
      if (await releaseTenant(tenantId as TenantId)) {
        const nowMs = clock.now();
        await enqueueJobs(sql, [{ tenantId, kind: purgeTenantKind, runAt: new Date(nowMs + waitMs) }], nowMs);
        return;
      }
      // Partitions one by one, because each key would be looked up in all of them.
      const tables = await sql<{ name: string }[]>`
        select t.relname::text as name from pg_class t join pg_attribute c on c.attrelid = t.oid
        where t.relnamespace = current_schema()::regnamespace and t.relkind = 'r' and c.attname = 'tenant_id'
          and t.relname <> 'jobs'
        order by 1`;
      for (const { name } of tables) {
        const rows = { table: name, where: sql`tenant_id = ${tenantId}` };
        await runInBatches(signal, batchSize, (limit) => deleteBatch(sql, rows, limit));
      }
      await sql`delete from jobs where tenant_id = ${tenantId} and id <> ${id}`;
      await sql`delete from tenants where id = ${tenantId} and status = 'deleted'`;
    },
  };
}
