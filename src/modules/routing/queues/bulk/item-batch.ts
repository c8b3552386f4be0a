import type { Sql } from "../../../../platform/db/index.ts";
import type { EventEntry } from "../../../operations/index.ts";
import { groupNamesOf } from "../../admission/index.ts";
import { applyTransitions } from "../transitions/item-transitions.ts";
import { releaseLeases } from "../transitions/lease-release.ts";
import { shardCount } from "../transitions/queue-counts.ts";
import type { EndedItem, TransitionedItem } from "../transitions/transition-store.ts";
import { bulkStore } from "./bulk-store.ts";
import type { BulkOperation } from "./domain/bulk-operation.ts";
import type { ScannedItem } from "./item-scan.ts";

/** A changed item, and the recipient that it had before; empty for none. */
type ChangedItem = Pick<TransitionedItem, "id" | "recipientId">;

/** The items that a batch changed, and the pools with items that can proceed. */
export interface ChangedItems {
  readonly items: readonly ChangedItem[];
  readonly ended: readonly EndedItem[];
  readonly poolIds: readonly string[];
}

/** Cancels or requeues items in the caller's transaction. Items that changed since they were read stay as they are. */
export async function changeItems(tx: Sql, operation: BulkOperation, items: readonly ScannedItem[], nowMs: number) {
  return operation.action === "cancel" ? cancelItems(tx, items, nowMs) : requeueItems(tx, operation, items, nowMs);
}

async function cancelItems(tx: Sql, items: readonly ScannedItem[], nowMs: number): Promise<ChangedItems> {
  const transitions = items.map(({ tenantId, poolId, id }) => ({
    ...{ tenantId, poolId, id, from: "unfinished" as const, to: "cancelled" as const },
  }));
  const groups = items.flatMap(groupNamesOf);
  const { transitioned, freed } = await applyTransitions(tx, transitions, groups, nowMs, nowMs % shardCount);
  const poolIds = freed.map(({ poolId }) => poolId);
  return { items: transitioned, ended: transitioned, poolIds };
}

async function requeueItems(
  tx: Sql,
  { tenantId, poolId }: BulkOperation,
  items: readonly ScannedItem[],
  nowMs: number,
): Promise<ChangedItems> {
  const leases = items.filter(({ state }) => state === "leased");
  const { released, freed } = await releaseLeases(tx, leases, nowMs);
  const waiting = items.filter(({ state }) => state === "pending").map(({ id }) => id);
  const ready = await bulkStore(tx).skipBackoff(tenantId, poolId, waiting);
  // The recipient of an item is chosen again after a failure, so one that waits for a retry has none.
  const changed = [...released, ...ready.map((id) => ({ id, recipientId: "" }))];
  const poolIds = [...freed.map((each) => each.poolId), ...(changed.length > 0 ? [poolId] : [])];
  return { items: changed, ended: [], poolIds };
}

/** The events of changed items, as for an operator who changes them one by one. */
export function itemEvents(operation: BulkOperation, items: readonly ChangedItem[]): EventEntry[] {
  const { tenantId, poolId: pool_id, action, reason } = operation;
  return items.map(({ id: subject, recipientId: recipient_id }) =>
    action === "cancel"
      ? { tenantId, type: "queue.item.cancelled", subject, data: { pool_id, reason } }
      : { tenantId, type: "queue.item.released", subject, data: { pool_id, recipient_id, reason } },
  );
}
