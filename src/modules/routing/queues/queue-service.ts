import { setTimeout as delay } from "node:timers/promises";
import type { Context } from "../../../chain/call.ts";
import { fail, invalid } from "../../../errors/index.ts";
import type { TenantId } from "../../../platform/access/index.ts";
import { lockFor, notFound } from "../../../platform/db/index.ts";
import type { EventRecorder } from "../../operations/index.ts";
import { groupNamesOf, readGroups } from "../admission/index.ts";
import type { PoolReader, ReservationConfig } from "../pools/index.ts";
import { isEndState, type QueueItem } from "./domain/queue-item.ts";
import { recallMaxMs } from "./leasing/lease-buffer.ts";
import { readQueueActive } from "./leasing/lease-store.ts";
import { leaseLost } from "./leasing/report-message.ts";
import { assignItemTo, offerItemTo } from "./offers/item-offer-store.ts";
import { offeredEvent } from "./offers/offer-events.ts";
import type { OfferEndListener } from "./offers/offer-expiry.ts";
import type { Offeree } from "./offers/offer-store.ts";
import { createQueuePauses, readQueueStatus } from "./queue-pauses.ts";
import { queueStore } from "./queue-store.ts";
import { applyTransitions, applyTransitionsUncounted } from "./transitions/item-transitions.ts";
import { releaseLeases } from "./transitions/lease-release.ts";
import { addCounts, type CountChange, shardCount } from "./transitions/queue-counts.ts";
import type { EndedItem, ItemTransition } from "./transitions/transition-store.ts";
import type { ItemWaits } from "./waits/item-waits.ts";
import { readUntilDone } from "./waits/waits.ts";

interface Dependencies {
  readonly pools: PoolReader;
  readonly waits: ItemWaits;
  readonly events: EventRecorder;
  readonly wake: (tenantId: string, poolId: string) => void;
  /** Signals that a pool has ready items that may have no recipient. */
  readonly wakeReady: (tenantId: string, poolId: string) => void;
  /** Has every node give back the items of a pool that it leased ahead. Resolves when this node has done so. */
  readonly recall: (tenantId: TenantId, poolId: string) => Promise<void>;
  readonly onOfferEnded: OfferEndListener;
  /** Called after the commit with those that got an offer. */
  readonly onOffered: (made: readonly Offeree[]) => void;
  /** Called after the commit with items that an operator ended. */
  readonly onEnded: (items: readonly EndedItem[]) => void;
}

/** The operator use cases. */
export type QueueService = ReturnType<typeof createQueueService>;

const drainBatch = 1000;
/** Extra items to read, to replace those that workers lease concurrently. */
const drainSpare = 500;

export function createQueueService(dependencies: Dependencies) {
  const { pools, waits, events, wake, wakeReady, recall, onOffered, onOfferEnded, onEnded } = dependencies;

  async function itemOf(context: Context, poolId: string, id: string): Promise<QueueItem> {
    await pools.requireKnownPool(context, poolId);
    const item = await queueStore(context.sql).findItem(context.tenantId, poolId, id);
    if (item === undefined) throw notFound("queue item");
    return item;
  }

  /**
   * Waits until recently leased items are with a worker or wait again. A node may have leased them ahead, and an operator
   * must find such items as if they were waiting. With an id it concerns only that item.
   */
  async function settleRecentLeases({ sql, tenantId }: Pick<Context, "sql" | "tenantId">, poolId: string, id?: string) {
    if (!(await queueStore(sql).isRecentlyLeased(tenantId, poolId, recallMaxMs, id))) return;
    await Promise.all([recall(tenantId, poolId), delay(recallMaxMs)]);
  }

  /** Reads an item that an operator is about to change. */
  async function settledItemOf(context: Context, poolId: string, id: string): Promise<QueueItem> {
    const item = await itemOf(context, poolId, id);
    if (item.state !== "leased") return item;
    await settleRecentLeases(context, poolId, id);
    return itemOf(context, poolId, id);
  }

  /** Transitions one item in the call's transaction; fails when the item has already ended. */
  async function transitionOne(context: Context, item: QueueItem, to: Pick<ItemTransition, "from" | "to">) {
    const { sql, nowMs, tenantId } = context;
    const { id, poolId } = item;
    const shard = nowMs % shardCount;
    const { transitioned, freed } = await applyTransitions(
      sql,
      [{ tenantId, id, poolId, ...to }],
      groupNamesOf(item),
      nowMs,
      shard,
    );
    if (transitioned.length === 0) throw alreadyEnded(item);
    context.afterCommit(() => {
      onEnded(transitioned);
      for (const each of freed) wake(each.tenantId, each.poolId);
    });
  }

  /** Announces that the open offer of an item, if it had one, was withdrawn. */
  function announceWithdrawn({ tenantId, poolId, recipientId, holdReason }: QueueItem): void {
    if (holdReason === "offer") onOfferEnded({ tenantId, poolId, recipientId, outcome: "withdrawn" });
  }

  /** Offers an item to a recipient that an operator chose. An open offer to another one is withdrawn. */
  async function offerItem(context: Context, item: QueueItem, recipientId: string, { timeoutS }: ReservationConfig) {
    const { id, poolId, state } = item;
    const { sql, tenantId, principal } = context;
    if (!(await readQueueActive(sql, tenantId, poolId))) {
      throw fail("FAILED_PRECONDITION", {
        public:
          "The queue is paused or its pool is disabled, so nobody could accept the offer. Assign the item when it is resumed.",
      });
    }
    const to = { recipientId, timeoutS, by: principal.subject };
    const made = await offerItemTo(sql, { tenantId, poolId, id }, to);
    if (made === undefined) {
      throw fail("FAILED_PRECONDITION", {
        public: `The item is ${state.replace("_", " ")}. Only an item that is ready or offered can be offered to a recipient.`,
      });
    }
    const { type, data } = offeredEvent({ tenantId, poolId, itemId: id, ...made }, made.expiresAt);
    await events.record(context, type, id, data);
    context.afterCommit(() => {
      announceWithdrawn(item);
      onOffered([{ tenantId, poolId, recipientId }]);
      wake(tenantId, poolId);
    });
  }

  return {
    ...createQueuePauses({ pools, events, wake: wakeReady, recall }),
    statusOf: async (context: Context, poolId: string) => {
      await pools.requirePool(context, poolId);
      return readQueueStatus(context, poolId);
    },
    itemOf,
    settleRecentLeases,

    /** Reads an item; waits up to `waitMs` for its end. */
    async awaitItem(context: Context, poolId: string, id: string, waitMs: number): Promise<QueueItem> {
      return readUntilDone(context, {
        waits,
        target: { tenantId: context.tenantId, id },
        waitMs,
        read: () => itemOf(context, poolId, id),
        isDone: ({ state }) => isEndState(state),
      });
    },

    /**
     * Removes the oldest items, in batches so that no statement grows with the queue. All groups are locked first and
     * counts are written last: the global lock order is groups, items, counts. Drains of one pool run one at a time, so
     * that each sees the items that the previous one left.
     */
    async drainQueue(context: Context, poolId: string, max: number, reason: string) {
      await pools.requirePool(context, poolId);
      const { sql, tenantId, nowMs } = context;
      const store = queueStore(sql);
      const poolsToWake = new Set<string>();
      const counts: CountChange[] = [];
      const ended: EndedItem[] = [];
      await settleRecentLeases(context, poolId);
      await lockFor(sql, "queue_drains", poolId);
      const oldest = await store.oldest(tenantId, poolId, max + drainSpare);
      await readGroups(sql, oldest.flatMap(groupNamesOf), true);
      for (let from = 0; from < oldest.length && counts.length < max; ) {
        const batch = oldest.slice(from, from + Math.min(drainBatch, max - counts.length));
        from += batch.length;
        const drained = { tenantId, poolId, from: "waiting", to: "drained" } as const;
        const transitions = batch.map(({ id }) => ({ ...drained, id }));
        const done = await applyTransitionsUncounted(sql, transitions, batch.flatMap(groupNamesOf), nowMs);
        counts.push(...done.counts);
        ended.push(...done.transitioned);
        for (const each of done.freed) poolsToWake.add(each.poolId);
      }
      await addCounts(sql, counts, nowMs % shardCount);
      const drained = counts.length;
      if (drained > 0) await events.record(context, "queue.drained", poolId, { count: drained, reason });
      context.afterCommit(() => {
        for (const each of poolsToWake) wake(tenantId, each);
        onEnded(ended);
      });
      return { drained, remaining: await store.depth(tenantId, poolId) };
    },

    async cancelItem(context: Context, poolId: string, id: string, reason: string): Promise<QueueItem> {
      const item = await settledItemOf(context, poolId, id);
      await transitionOne(context, item, { from: "unfinished", to: "cancelled" });
      await events.record(context, "queue.item.cancelled", id, { pool_id: poolId, reason });
      return itemOf(context, poolId, id);
    },

    /**
     * Ends the lease of an item: the one with a token, or any if it is empty. The item is ready again, and its worker can no
     * longer report a result.
     */
    async releaseItem(context: Context, poolId: string, id: string, reason: string, token: string): Promise<QueueItem> {
      const item = await settledItemOf(context, poolId, id);
      const { sql, tenantId, nowMs } = context;
      const leaseToken = await queueStore(sql).findLeaseToken(tenantId, poolId, id);
      if (token !== "" && token !== leaseToken) throw leaseLost();
      if (item.state !== "leased" || leaseToken === undefined) throw notLeased(item);
      const { released, freed } = await releaseLeases(sql, [{ ...item, leaseToken }], nowMs);
      const [before] = released;
      if (before === undefined) throw notLeased(item);
      const data = { pool_id: poolId, recipient_id: before.recipientId, reason };
      await events.record(context, "queue.item.released", id, data);
      context.afterCommit(() => {
        wakeReady(tenantId, poolId);
        for (const each of freed) wake(each.tenantId, each.poolId);
      });
      return itemOf(context, poolId, id);
    },

    /**
     * Assigns a waiting item to a recipient of its pool. A held item stays held. In a pool with reservations, the item is
     * offered to the recipient instead.
     */
    async assignItem(context: Context, poolId: string, id: string, recipientId: string): Promise<QueueItem> {
      const { pool, recipients } = await pools.requirePool(context, poolId);
      const recipient = recipients.find((each) => each.id === recipientId);
      if (recipient === undefined) throw notFound("recipient");
      if (recipient.delivery.mode === "decision_only") {
        throw invalid(
          "recipient_id",
          "recipient",
          "must be a recipient with delivery mode pull or push; a decision_only recipient takes no items",
        );
      }
      if (recipient.status !== "active") {
        throw fail("FAILED_PRECONDITION", {
          public: `The recipient is ${recipient.status}. Only an active recipient can be assigned items.`,
        });
      }
      const item = await settledItemOf(context, poolId, id);
      const { sql, tenantId, principal } = context;
      const { reservation } = pool.config;
      if (reservation !== undefined && recipient.delivery.mode === "pull") {
        await offerItem(context, item, recipientId, reservation);
        return itemOf(context, poolId, id);
      }
      const to = { recipientId, delivery: recipient.delivery.mode, by: principal.subject };
      if (!(await assignItemTo(sql, { tenantId, poolId, id }, to))) throw alreadyEnded(item);
      if (pool.config.itemEvents) {
        await events.record(context, "queue.item.assigned", id, { pool_id: poolId, recipient_id: recipientId });
      }
      context.afterCommit(() => {
        announceWithdrawn(item);
        wake(tenantId, poolId);
      });
      return itemOf(context, poolId, id);
    },
  };
}

function alreadyEnded({ state }: QueueItem) {
  return fail("FAILED_PRECONDITION", { public: `The item is already ${state.replace("_", " ")}.` });
}

function notLeased({ state }: QueueItem) {
  return fail("FAILED_PRECONDITION", {
    public: `No worker has a lease on the item, which is ${state.replace("_", " ")}. Only a leased item can be released.`,
  });
}
