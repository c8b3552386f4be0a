import type { TenantId } from "../../../../platform/access/index.ts";
import type { Database, Sql } from "../../../../platform/db/index.ts";
import type { EventRecorder } from "../../../operations/index.ts";

/** A queue that was resumed. */
interface ResumedQueue {
  readonly tenantId: TenantId;
  readonly poolId: string;
}

interface Dependencies {
  readonly db: Database;
  readonly events: EventRecorder;
  readonly now: () => number;
}

/** Creates the end of pauses: resumes the queues whose time is over, with their events; returns them. */
export function createPauseEnd({ db, events, now }: Dependencies) {
  return async (limit: number): Promise<readonly ResumedQueue[]> => {
    if (!(await hasDueQueues(db.sql))) return [];
    return db.transaction(async (tx) => {
      const resumed = await resumeDueQueues(tx, limit);
      const entries = resumed.map(({ tenantId, poolId: subject }) => ({
        ...{ tenantId, subject, type: "queue.resumed" as const, data: { reason: "pause_ended" } },
      }));
      await events.recordMany(tx, entries, now());
      return resumed;
    });
  };
}

async function hasDueQueues(sql: Sql): Promise<boolean> {
  const [row] = await sql<{ found: boolean }[]>`
    select exists (select from queue_states where resume_at <= now()) as found`;
  return row!.found;
}

/** Other nodes skip the locked rows, so each queue is resumed once. The end is by the database's clock. */
async function resumeDueQueues(tx: Sql, limit: number): Promise<ResumedQueue[]> {
  return tx<ResumedQueue[]>`
    with due as (
      select tenant_id, pool_id from queue_states where resume_at <= now()
      order by resume_at limit ${limit} for update skip locked
    )
    update queue_states s set paused = false, paused_at = null, reason = '', resume_at = null
    from due where s.tenant_id = due.tenant_id and s.pool_id = due.pool_id
    returning s.tenant_id, s.pool_id`;
}
