import type { TenantId } from "../../../../platform/access/index.ts";
import type { Database, Sql } from "../../../../platform/db/index.ts";
import type { EventRecorder } from "../../../operations/index.ts";
import { groupNamesOf } from "../../admission/index.ts";
import { nextStep } from "../domain/dependency.ts";
import { applyTransitions } from "../transitions/item-transitions.ts";
import { shardCount } from "../transitions/queue-counts.ts";
import { type EndedItem, readItemExtras } from "../transitions/transition-store.ts";
import * as store from "./settled-dependency-store.ts";

interface Dependencies {
  readonly db: Database;
  readonly now: () => number;
  readonly events: EventRecorder;
  readonly wake: (tenantId: string, poolId: string) => void;
  /** Called after the commit with cancelled items. */
  readonly onEnded: (items: readonly EndedItem[]) => void;
}

const batchSize = 500;
const failedReason = "dependency_failed";

/**
 * Creates the part of the sweep that continues with items whose dependencies have ended. The outcomes are stored in the
 * transactions that end these items, so nothing is lost if a node dies before it sweeps. Returns whether there may be more
 * to do immediately.
 */
export function createDependencySweep({ db, now, events, wake, onEnded }: Dependencies): () => Promise<boolean> {
  async function cancel(tx: Sql, items: readonly store.WaitingItem[], nowMs: number) {
    const groups = (await readItemExtras(tx, items)).flatMap(groupNamesOf);
    const transitions = items.map(({ tenantId, id, poolId }) => ({
      ...{ tenantId, id, poolId, from: "waiting" as const, to: "cancelled" as const },
    }));
    const { transitioned, freed } = await applyTransitions(tx, transitions, groups, nowMs, nowMs % shardCount);
    await store.deleteDependencies(tx, items);
    const entries = transitioned.map(({ tenantId, id, poolId }) => ({
      tenantId,
      type: "queue.item.cancelled" as const,
      subject: id,
      data: { pool_id: poolId, reason: failedReason },
    }));
    await events.recordMany(tx, entries, nowMs);
    return { transitioned, freed };
  }

  /** Deletes the settled dependencies, and makes items ready that wait for nothing any more. */
  async function release(tx: Sql, items: readonly store.ItemKey[]) {
    // While an item is locked, no other node decides whether it still waits.
    const locked = await store.lockWaitingItems(tx, items);
    await store.deleteSettled(tx, items);
    return store.releaseItems(tx, locked);
  }

  function wakeAll(pools: readonly { readonly tenantId: TenantId | string; readonly poolId: string }[]): void {
    for (const [poolId, tenantId] of new Map(pools.map((each) => [each.poolId, each.tenantId]))) wake(tenantId, poolId);
  }

  return async () => {
    const settled = await store.findSettled(db.sql, batchSize);
    if (settled.length === 0) return false;
    const cancelled = settled.filter(({ waiting, outcomes }) => {
      return waiting !== null && nextStep(waiting.resume, outcomes) === "cancel";
    });
    const others = settled.filter((each) => !cancelled.includes(each));
    if (cancelled.length > 0) {
      const nowMs = now();
      const items = cancelled.map(({ tenantId, id, waiting }) => ({ tenantId, id, poolId: waiting!.poolId }));
      const { transitioned, freed } = await db.transaction((tx) => cancel(tx, items, nowMs));
      wakeAll(freed);
      onEnded(transitioned);
    }
    if (others.length > 0) wakeAll(await db.transaction((tx) => release(tx, others)));
    // A cancelled item may have items that wait for it.
    const read = settled.reduce((sum, { outcomes }) => sum + outcomes.length, 0);
    return read === batchSize || cancelled.length > 0;
  };
}
