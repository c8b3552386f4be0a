import type { Sql } from "../../../../platform/db/index.ts";
import { ulidMs } from "../../../../platform/ids/ulid.ts";
import type { HealthScope, HealthSource, HealthTime, ItemHealth } from "../../../health-source.ts";
import type { ItemSweeper } from "../sweep/item-sweeper.ts";

/** Creates the source of health reports about queue items. The sweeper makes lost and due items ready, so its passes are the heartbeat. */
export function createItemHealth({ lastPassMs }: Pick<ItemSweeper, "lastPassMs">): HealthSource<ItemHealth> {
  return { lastPassMs, read: readItemHealth };
}

/** The age of an item counts from when it was accepted, which is the time of its id. */
async function readItemHealth(sql: Sql, scope: HealthScope, { now }: HealthTime): Promise<ItemHealth> {
  const { ready, oldestId } = await readReadyItems(sql, scope);
  return { ready, oldestReadyMs: oldestId === null ? 0 : Math.max(0, now.getTime() - ulidMs(oldestId)) };
}

/** The most items that are counted. */
const countMax = 10_000;

/** Counts the ready items of an environment's pools and finds the oldest one. */
async function readReadyItems(
  sql: Sql,
  { tenantId, environmentId }: HealthScope,
): Promise<{ ready: number; oldestId: string | null }> {
  const pools = sql`select tenant_id, id from pools where tenant_id = ${tenantId} and environment_id = ${environmentId}`;
  const [row] = await sql<{ ready: number; oldestId: string | null }[]>`
    select
      (select count(*)::int from (
        select from (${pools}) p join queue_items q on q.tenant_id = p.tenant_id and q.pool_id = p.id
        where q.state = 'ready' limit ${countMax}
      ) counted) as ready,
      (select min(oldest.id) from (${pools}) p cross join lateral (
        select q.id from queue_items q where q.tenant_id = p.tenant_id and q.pool_id = p.id and q.state = 'ready'
        order by q.id limit 1
      ) oldest) as oldest_id`;
  return row!;
}
