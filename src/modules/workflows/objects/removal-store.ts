import type { TenantId } from "../../../platform/access/index.ts";
import type { Sql } from "../../../platform/db/index.ts";
import { graceMs, type ObjectIntent } from "./domain/intent.ts";

/** An object whose bytes are to be removed. */
export type RemovableObject = Pick<ObjectIntent, "tenantId" | "runId" | "streamId" | "id" | "objectKey">;

/** The keys of all tenants' objects whose bytes must be stored. */
export async function findStoredObjectKeys(sql: Sql): Promise<string[]> {
  const rows = await sql<{ objectKey: string }[]>`
    select object_key as "objectKey" from workflow_object_intents
    where status in ('uploaded', 'committed') and removed_at is null`;
  return rows.map(({ objectKey }) => objectKey);
}

/** The SQL queries that expire intents and remove objects. */
export function removalStore(sql: Sql) {
  return {
    /** Ends intents that were not committed in time; returns how many. */
    async expire(now: Date, limit: number): Promise<number> {
      const rows = await sql`
        update workflow_object_intents i
        set status = 'expired', ended_at = i.expires_at,
          remove_after = greatest(${now}::timestamptz, i.expires_at + make_interval(secs => ${graceMs / 1000}))
        from (
          select tenant_id, id from workflow_object_intents
          where remove_after <= ${now} and status in ('prepared', 'uploaded')
          order by remove_after limit ${limit} for update skip locked
        ) late
        where i.tenant_id = late.tenant_id and i.id = late.id
        returning 1`;
      return rows.length;
    },

    /** Objects without a record whose bytes are in this region, or nowhere. */
    async findRemovable(region: string, now: Date, limit: number): Promise<RemovableObject[]> {
      return sql<RemovableObject[]>`
        select tenant_id, run_id, stream_id, id, object_key from workflow_object_intents
        where remove_after <= ${now} and status not in ('prepared', 'uploaded')
          and (${region} = any(regions) or regions = '{}')
        order by remove_after limit ${limit}`;
    },

    /** Whether the stream of an object is held. A stream that does not exist any more is not. */
    async isHeld({ tenantId, runId, streamId }: RemovableObject): Promise<boolean> {
      const [row] = await sql<{ held: boolean }[]>`
        select hold is not null as held from workflow_stream_heads
        where tenant_id = ${tenantId} and run_id = ${runId} and stream_id = ${streamId}`;
      return row?.held ?? false;
    },

    /** Looks at objects again later. */
    async postpone(tenantId: TenantId, ids: readonly string[], until: Date): Promise<void> {
      await sql`
        update workflow_object_intents set remove_after = ${until}
        where tenant_id = ${tenantId} and id = any(${[...ids]}) and remove_after is not null`;
    },

    /** Notes that objects have no bytes in a region any more. */
    async setRemoved(tenantId: TenantId, ids: readonly string[], region: string, now: Date): Promise<void> {
      await sql`
        update workflow_object_intents
        set regions = array_remove(regions, ${region}),
          remove_after = case when cardinality(array_remove(regions, ${region})) = 0 then null else remove_after end,
          removed_at = case when cardinality(array_remove(regions, ${region})) = 0 then ${now}::timestamptz end
        where tenant_id = ${tenantId} and id = any(${[...ids]})`;
    },

    /** Deletes the rows of objects that were removed long ago; returns how many. */
    async deleteRemoved(before: Date, limit: number): Promise<number> {
      const { count } = await sql`
        delete from workflow_object_intents i using (
          select tenant_id, id from workflow_object_intents where removed_at < ${before} limit ${limit}
        ) old
        where i.tenant_id = old.tenant_id and i.id = old.id`;
      return count;
    },

    /** Schedules the removal of a tenant's objects; returns whether any still has bytes. */
    async releaseTenant(tenantId: TenantId, now: Date): Promise<boolean> {
      await sql`
        update workflow_object_intents
        set status = case when status in ('prepared', 'uploaded') then 'expired' else status end,
          ended_at = coalesce(ended_at, ${now}::timestamptz),
          remove_after = coalesce(remove_after, greatest(${now}::timestamptz,
            expires_at + make_interval(secs => ${graceMs / 1000})))
        where tenant_id = ${tenantId} and removed_at is null
          and (remove_after is null or status in ('prepared', 'uploaded'))`;
      const rows = await sql`
        select from workflow_object_intents where tenant_id = ${tenantId} and removed_at is null limit 1`;
      return rows.length > 0;
    },
  };
}
