import type { TenantId } from "../../../../platform/access/index.ts";
import { recordRows, type Sql } from "../../../../platform/db/index.ts";
import type { PoolId } from "../domain/pool.ts";
import type { RecipientId } from "../domain/recipient.ts";
import type { RecipientPause } from "../domain/recipient-pause.ts";

type StoredPause = RecipientPause & { readonly recipientId: string };

/** A pause whose time is over. */
type EndedPause = Pick<RecipientPause, "cause" | "actor"> & { readonly recipientId: RecipientId };

/** A pool in which pauses end. */
export interface PoolWithPauses {
  readonly tenantId: TenantId;
  readonly poolId: string;
}

/** SQL queries for pauses. A recipient has a row only while it is paused; the caller holds the lock of its pool. */
export function pauseStore(sql: Sql) {
  const columns = sql`cause, reason, actor, anomaly_id, paused_at as since, resume_at as until`;
  return {
    find: (tenantId: TenantId, recipientId: RecipientId) =>
      sql<RecipientPause[]>`
        select ${columns} from recipient_pauses
        where tenant_id = ${tenantId} and recipient_id = ${recipientId}`.first(),

    /** The pauses of recipients; those that are not paused are missing. */
    async findMany(tenantId: TenantId, recipientIds: readonly string[]): Promise<ReadonlyMap<string, RecipientPause>> {
      if (recipientIds.length === 0) return new Map();
      const rows = await sql<(RecipientPause & { recipientId: string })[]>`
        select recipient_id, ${columns} from recipient_pauses
        where tenant_id = ${tenantId} and recipient_id = any(${recipientIds as string[]}::text[])`;
      return new Map(rows.map(({ recipientId, ...pause }) => [recipientId, pause]));
    },

    /** Stores the pauses of recipients. A request replaces an automatic pause; any other pause stays as it is. */
    async save(tenantId: TenantId, poolId: PoolId, pauses: readonly StoredPause[]): Promise<void> {
      if (pauses.length === 0) return;
      const rows = pauses.map(({ since, until, ...pause }) => ({ ...pause, pausedAt: since, resumeAt: until }));
      await sql`
        insert into recipient_pauses (tenant_id, recipient_id, pool_id, cause, reason, actor, anomaly_id, paused_at, resume_at)
        select ${tenantId}, recipient_id, ${poolId}, cause, reason, actor, anomaly_id, paused_at, resume_at
        from ${recordRows(sql, "recipient_pauses", rows)}
        on conflict (tenant_id, recipient_id) do update set cause = excluded.cause, reason = excluded.reason,
          actor = excluded.actor, anomaly_id = excluded.anomaly_id, paused_at = excluded.paused_at,
          resume_at = excluded.resume_at
        where recipient_pauses.cause = 'anomaly'`;
    },

    async remove(tenantId: TenantId, recipientId: RecipientId): Promise<void> {
      await sql`delete from recipient_pauses where tenant_id = ${tenantId} and recipient_id = ${recipientId}`;
    },

    /** Removes the pauses of a pool that have ended and returns them. */
    async removeEnded(tenantId: TenantId, poolId: string, now: Date): Promise<readonly EndedPause[]> {
      return sql<EndedPause[]>`
        delete from recipient_pauses where tenant_id = ${tenantId} and pool_id = ${poolId} and resume_at <= ${now}
        returning recipient_id, cause, actor`;
    },
  };
}

/** Lists the pools in which pauses have ended, after a pool, in order. */
export async function poolsWithEndedPauses(sql: Sql, now: Date, after: PoolWithPauses | undefined, limit: number) {
  return sql<PoolWithPauses[]>`
    select distinct tenant_id, pool_id from recipient_pauses
    where resume_at <= ${now} and (tenant_id, pool_id) > (${after?.tenantId ?? ""}, ${after?.poolId ?? ""})
    order by tenant_id, pool_id limit ${limit}`;
}
