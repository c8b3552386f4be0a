import type { TenantId } from "../../../../platform/access/index.ts";
import type { Sql } from "../../../../platform/db/index.ts";
import { groupNamesOf } from "../../admission/index.ts";
import { applyTransitions } from "./item-transitions.ts";
import { shardCount } from "./queue-counts.ts";
import type { ItemTransition, TransitionedItem } from "./transition-store.ts";

/** A lease that ends without a result. */
export interface ReleasedLease {
  readonly tenantId: TenantId;
  readonly poolId: string;
  readonly id: string;
  readonly leaseToken: string;
  readonly singletonGroup: string;
  readonly debounceGroup: string;
  readonly concurrencyGroup: string;
}

/** The transition of an item whose lease ends without a result: its recipient is chosen again. */
export const unassigned = { to: "ready", recipientId: "", delivery: "pull" } as const;

/**
 * Makes leased items ready in the caller's transaction, without a failed attempt. The recipient is chosen again. Leases that are
 * no longer held are left out of the result.
 */
export async function releaseLeases(tx: Sql, leases: readonly ReleasedLease[], nowMs: number) {
  if (leases.length === 0) return { released: [], freed: [] };
  const transitions = leases.map(
    ({ tenantId, poolId, id, leaseToken }): ItemTransition => ({
      ...{ tenantId, poolId, id, from: { token: leaseToken }, ...unassigned },
    }),
  );
  const groups = leases.flatMap(groupNamesOf);
  const { transitioned, freed } = await applyTransitions(tx, transitions, groups, nowMs, nowMs % shardCount);
  await restoreAttempts(tx, transitioned);
  return { released: transitioned, freed };
}

/** Undoes the count of an attempt. The transaction holds the items' locks. */
export async function restoreAttempts(tx: Sql, items: readonly TransitionedItem[]): Promise<void> {
  if (items.length === 0) return;
  await tx`
    update queue_items q set attempt = greatest(q.attempt - 1, 0)
    from unnest(${items.map(({ tenantId }) => tenantId)}::text[], ${items.map(({ id }) => id)}::text[])
      as released(tenant_id, id)
    where q.tenant_id = released.tenant_id and q.id = released.id and q.state = 'ready'`;
}
