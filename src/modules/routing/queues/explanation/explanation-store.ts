import type { TenantId } from "../../../../platform/access/index.ts";
import type { Sql } from "../../../../platform/db/index.ts";
import type { GroupRef } from "../../admission/index.ts";
import type { AssignmentRetry, QueueItem } from "../domain/queue-item.ts";
import { withSurvivors } from "../survivor-store.ts";

/** An item with its state and constraint groups. */
export interface AdmittedItem
  extends AssignmentRetry,
    Pick<QueueItem, "id" | "state" | "holdReason" | "dueAt" | "poolId" | "supersededById">,
    Pick<QueueItem, "singletonGroup" | "debounceGroup" | "throttleGroup" | "concurrencyGroup"> {
  readonly rank: number;
}

/** The count stops at this value. */
const countMax = 1000;

/** Finds an item of a pool, with its groups. */
export async function findAdmittedItem(sql: Sql, tenantId: TenantId, poolId: string, id: string) {
  const [row] = await sql<AdmittedItem[]>`
    select id, pool_id, state, hold_reason, due_at, superseded_by_id, singleton_group, debounce_group, throttle_group,
      concurrency_group, rank, assign_tries, assign_reason, assign_after
    from all_items where tenant_id = ${tenantId} and pool_id = ${poolId} and id = ${id}`;
  return row && (await withSurvivors(sql, tenantId, [row]))[0];
}

/** The pool of an item; undefined for a decision without an item. */
export async function findPoolOfItem(sql: Sql, tenantId: TenantId, id: string): Promise<string | undefined> {
  const [row] = await sql<{ poolId: string }[]>`
    select pool_id from all_items where tenant_id = ${tenantId} and id = ${id} and delivery <> 'none'`;
  return row?.poolId;
}

/** Counts the items of the pool that precede an item in its throttle or concurrency group, up to `countMax`. */
export async function countAhead(sql: Sql, tenantId: TenantId, { kind, groupId }: GroupRef, item: AdmittedItem) {
  if (kind === "singleton" || kind === "debounce") return 0;
  const inGroup =
    kind === "throttle"
      ? sql`throttle_group = ${groupId} and throttle_group <> ''`
      : sql`concurrency_group = ${groupId} and concurrency_group <> ''`;
  const [row] = await sql<{ ahead: number }[]>`
    select count(*)::int as ahead from (
      select from queue_items where tenant_id = ${tenantId} and pool_id = ${item.poolId} and state = 'ready'
        and ${inGroup} and (rank, id) < (${item.rank}, ${item.id}) limit ${countMax}
    ) ahead`;
  return row!.ahead;
}
