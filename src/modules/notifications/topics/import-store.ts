import type { TenantId } from "../../../platform/access/index.ts";
import type { Sql } from "../../../platform/db/index.ts";
import type { TopicImport } from "./domain/topic-import.ts";

export function importStore(sql: Sql) {
  const columns = sql`
    tenant_id, id, topic_key, context_keys, status, total, processed, added, changed, unchanged, unknown, unknown_names,
    created_at, updated_at`;
  return {
    async insert(accepted: TopicImport, names: readonly string[]): Promise<void> {
      await sql`
        insert into notification_topic_imports (tenant_id, id, topic_key, context_keys, names, status, total, created_at,
          updated_at)
        values (${accepted.tenantId}, ${accepted.id}, ${accepted.topicKey}, ${accepted.contextKeys as string[]},
          ${sql.json(names as never)}, ${accepted.status}, ${accepted.total}, ${accepted.createdAt}, ${accepted.updatedAt})`;
    },

    find: (tenantId: TenantId, topicKey: string, id: string) =>
      sql<TopicImport[]>`
        select ${columns} from notification_topic_imports
        where tenant_id = ${tenantId} and id = ${id} and topic_key = ${topicKey}`.first(),

    /** Locks a running import and returns its next names; undefined when it has ended. */
    lockNext: (tenantId: TenantId, id: string, batchSize: number) =>
      sql<(TopicImport & { names: string[] })[]>`
        select ${columns}, array(
          select name from jsonb_array_elements_text(names) with ordinality as each(name, position)
          where position > processed and position <= processed + ${batchSize} order by position) as names
        from notification_topic_imports
        where tenant_id = ${tenantId} and id = ${id} and status = 'running' for update`.first(),

    /** Finds an import and locks it until the transaction ends. */
    lock: (tenantId: TenantId, topicKey: string, id: string) =>
      sql<TopicImport[]>`
        select ${columns} from notification_topic_imports
        where tenant_id = ${tenantId} and id = ${id} and topic_key = ${topicKey} for update`.first(),

    /** Saves the progress of a locked import. The names of an import that has ended are no longer stored. */
    async advance(next: TopicImport): Promise<void> {
      await sql`
        update notification_topic_imports set status = ${next.status}, processed = ${next.processed}, added = ${next.added},
          changed = ${next.changed}, unchanged = ${next.unchanged}, unknown = ${next.unknown},
          unknown_names = ${next.unknownNames as string[]}, updated_at = ${next.updatedAt},
          names = case when ${next.status} = 'running' then names else '[]'::jsonb end
        where tenant_id = ${next.tenantId} and id = ${next.id}`;
    },

    /** Ends a running import that failed too often. */
    async fail(tenantId: TenantId, id: string, now: Date): Promise<void> {
      await sql`
        update notification_topic_imports set status = 'failed', names = '[]'::jsonb, updated_at = ${now}
        where tenant_id = ${tenantId} and id = ${id} and status = 'running'`;
    },

    /** Ends the running imports of all tenants without progress since a point in time, because their job has been lost. */
    async failStale(before: Date, now: Date): Promise<number> {
      const { count } = await sql`
        update notification_topic_imports set status = 'failed', names = '[]'::jsonb, updated_at = ${now}
        where status = 'running' and updated_at < ${before}`;
      return count;
    },
  };
}
