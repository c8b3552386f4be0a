import type { TenantId } from "../../../../platform/access/index.ts";
import type { Sql } from "../../../../platform/db/index.ts";
import { recordTable } from "../../../../platform/records/index.ts";
import type { Replay } from "../domain/replay.ts";

const replays = recordTable<Replay>("webhook_replays", {
  fixed: "tenant_id id endpoint_id since until selection status position replayed created_at completed_at",
});

export function replayStore(sql: Sql) {
  const { columns, insert } = replays(sql);
  return {
    insert,

    find: (tenantId: TenantId, endpointId: string, id: string) =>
      sql<Replay[]>`
        select ${columns} from webhook_replays
        where tenant_id = ${tenantId} and endpoint_id = ${endpointId} and id = ${id}`.first(),

    findRunning: (tenantId: TenantId, endpointId: string) =>
      sql<Replay[]>`
        select ${columns} from webhook_replays
        where tenant_id = ${tenantId} and endpoint_id = ${endpointId} and status = 'running'`.first(),

    /** Finds a running replay and locks it until the transaction ends. */
    lockRunning: (tenantId: TenantId, id: string) =>
      sql<Replay[]>`
        select ${columns} from webhook_replays
        where tenant_id = ${tenantId} and id = ${id} and status = 'running' for update`.first(),

    /** Stores a replay's progress. */
    async advance(replay: Replay): Promise<void> {
      await sql`
        update webhook_replays set status = ${replay.status}, position = ${replay.position},
          replayed = ${replay.replayed}, completed_at = ${replay.completedAt}
        where tenant_id = ${replay.tenantId} and id = ${replay.id}`;
    },

    /** Cancels the replays of all tenants whose job has been lost. */
    async cancelStale(createdBefore: Date, now: Date): Promise<number> {
      const { count } = await sql`
        update webhook_replays set status = 'cancelled', completed_at = ${now}
        where status = 'running' and created_at < ${createdBefore}`;
      return count;
    },
  };
}
