import type { Backlog, Sql } from "../../../../platform/db/index.ts";
import { ulidMs } from "../../../../platform/ids/ulid.ts";
import type { HealthScope, HealthSource, HealthTime, ItemHealth } from "../../../health-source.ts";
import type { ItemSweeper } from "../sweep/item-sweeper.ts";

/** Creates the source of health reports about queue items. The sweeper makes lost and due items ready, so its passes are the heartbeat. */
export function createItemHealth({ lastPassMs }: Pick<ItemSweeper, "lastPassMs">): HealthSource<ItemHealth> {
  return { lastPassMs, read: readItemHealth };
}

/** Items that wait for a worker, since they became ready. */
export const readyItems: Backlog = {
  name: "queue_items",
  rows: (sql) => sql`select due_at, id from queue_items where state = 'ready'`,
};

/** The most items that are read. So many are unhealthy whatever their age. */
const itemsMax = 10_000;

/** Counts ready items. Their age counts from when they became ready, which for most is when they were accepted. */
async function readItemHealth(sql: Sql, scope: HealthScope, { now }: HealthTime): Promise<ItemHealth> {
  const [row] = await sql<{ ready: number; oldestId: string | null; oldestDueAt: Date | null }[]>`
    select count(*)::int as ready, min(id) filter (where due_at is null) as oldest_id, min(due_at) as oldest_due_at
    from (
      select q.id, q.due_at from pools p
      join queue_items q on q.tenant_id = p.tenant_id and q.pool_id = p.id and q.state = 'ready'
      where p.tenant_id = ${scope.tenantId} and p.environment_id = ${scope.environmentId}
      limit ${itemsMax}
    ) items`;
  const { ready, oldestId, oldestDueAt } = row!;
  const readySinceMs = [oldestId && ulidMs(oldestId), oldestDueAt?.getTime()].filter((ms) => typeof ms === "number");
  return { ready, oldestReadyMs: Math.max(0, ...readySinceMs.map((ms) => now.getTime() - ms)) };
}
