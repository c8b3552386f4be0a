import type { Context } from "../../../chain/call.ts";
import { fail, invalid } from "../../../errors/index.ts";
import { notFound } from "../../../platform/db/index.ts";
import type { EventRecorder } from "../../operations/index.ts";
import { groupNamesOf, readGroups } from "../admission/index.ts";
import type { PoolReader } from "../pools/index.ts";
import type { QueueItem } from "./domain/queue-item.ts";
import { type QueueStatus, queueStatuses, queueStore } from "./queue-store.ts";
import { move, moveUncounted } from "./transitions/item-transitions.ts";
import { addCounts, type CountChange, shardCount } from "./transitions/queue-counts.ts";
import type { Move } from "./transitions/transition-store.ts";

interface Parts {
  readonly pools: PoolReader;
  readonly events: EventRecorder;
  readonly wake: (tenantId: string, poolId: string) => void;
}

/** The use cases of operators. */
export type QueueService = ReturnType<typeof createQueueService>;

const drainAtOnce = 1000;
/** How many more items are looked at, in place of those that workers take meanwhile. */
const drainSpare = 500;

/** Makes the use cases of operators. */
export function createQueueService({ pools, events, wake }: Parts) {
  async function statusOf({ sql, tenantId, nowMs }: Context, poolId: string): Promise<QueueStatus> {
    return (await queueStatuses(sql, tenantId, [poolId], nowMs)).get(poolId)!;
  }

  async function setPaused(context: Context, poolId: string, paused: boolean, reason: string): Promise<QueueStatus> {
    await pools.requirePool(context, poolId);
    const { sql, tenantId, nowMs, principal } = context;
    await queueStore(sql).setPaused(tenantId, poolId, { paused, at: new Date(nowMs), by: principal.subject, reason });
    await events.record(context, paused ? "queue.paused" : "queue.resumed", poolId, { reason });
    if (!paused) context.afterCommit(() => wake(tenantId, poolId));
    return statusOf(context, poolId);
  }

  async function itemOf(context: Context, poolId: string, id: string): Promise<QueueItem> {
    await pools.requirePool(context, poolId);
    const item = await queueStore(context.sql).findItem(context.tenantId, poolId, id);
    if (item === undefined) throw notFound("queue item");
    return item;
  }

  /** Moves one item in the call's transaction; refused when it has gone on meanwhile. */
  async function moveOne(context: Context, item: QueueItem, to: Pick<Move, "from" | "to">): Promise<void> {
    const { sql, nowMs, tenantId } = context;
    const { id, poolId } = item;
    const shard = nowMs % shardCount;
    const { moved, freed } = await move(sql, [{ tenantId, id, poolId, ...to }], groupNamesOf(item), nowMs, shard);
    if (moved.length === 0) throw finished(item);
    context.afterCommit(() => {
      for (const each of freed) wake(each.tenantId, each.poolId);
    });
  }

  return {
    statusOf: async (context: Context, poolId: string) => {
      await pools.requirePool(context, poolId);
      return statusOf(context, poolId);
    },
    itemOf,
    pauseQueue: (context: Context, poolId: string, reason: string) => setPaused(context, poolId, true, reason),
    resumeQueue: (context: Context, poolId: string) => setPaused(context, poolId, false, ""),

    /**
     * Removes the oldest items, in bites so that none of its statements grows with the queue. All their groups are
     * locked first and counts come last: groups, items, counts is the order in which everybody goes. Drains of one pool
     * run one after the other, so that each finds what the one before has left.
     */
    async drainQueue(context: Context, poolId: string, max: number, reason: string) {
      await pools.requirePool(context, poolId);
      const { sql, tenantId, nowMs } = context;
      const store = queueStore(sql);
      const woken = new Set<string>();
      const counts: CountChange[] = [];
      await store.lockDrains(poolId);
      const oldest = await store.oldest(tenantId, poolId, max + drainSpare);
      await readGroups(sql, oldest.flatMap(groupNamesOf), true);
      for (let from = 0; from < oldest.length && counts.length < max; ) {
        const bite = oldest.slice(from, from + Math.min(drainAtOnce, max - counts.length));
        from += bite.length;
        const moves = bite.map(({ id }) => ({
          tenantId,
          id,
          poolId,
          from: "waiting" as const,
          to: "drained" as const,
        }));
        const done = await moveUncounted(sql, moves, bite.flatMap(groupNamesOf), nowMs);
        counts.push(...done.counts);
        for (const each of done.freed) woken.add(each.poolId);
      }
      await addCounts(sql, counts, nowMs % shardCount);
      const drained = counts.length;
      if (drained > 0) await events.record(context, "queue.drained", poolId, { count: drained, reason });
      context.afterCommit(() => {
        for (const each of woken) wake(tenantId, each);
      });
      return { drained, remaining: await store.depth(tenantId, poolId) };
    },

    async cancelItem(context: Context, poolId: string, id: string, reason: string): Promise<QueueItem> {
      const item = await itemOf(context, poolId, id);
      await moveOne(context, item, { from: "unfinished", to: "cancelled" });
      await events.record(context, "queue.item.cancelled", id, { pool_id: poolId, reason });
      return itemOf(context, poolId, id);
    },

    /** Gives a waiting item to a recipient of its pool. What holds it still does. */
    async assignItem(context: Context, poolId: string, id: string, recipientId: string): Promise<QueueItem> {
      const { pool, recipients } = await pools.requirePool(context, poolId);
      const recipient = recipients.find((each) => each.id === recipientId);
      if (recipient === undefined) throw notFound("recipient");
      if (recipient.delivery.mode === "decision_only") {
        throw invalid("recipient_id", "recipient", "must name a recipient that takes work");
      }
      if (recipient.status !== "active") {
        throw fail("FAILED_PRECONDITION", { public: `The recipient gets no new work: it is ${recipient.status}.` });
      }
      const item = await itemOf(context, poolId, id);
      const { sql, tenantId } = context;
      const to = { recipientId, delivery: recipient.delivery.mode };
      if (!(await queueStore(sql).assign(tenantId, poolId, id, to))) throw finished(item);
      if (pool.config.itemEvents) {
        await events.record(context, "queue.item.assigned", id, { pool_id: poolId, recipient_id: recipientId });
      }
      context.afterCommit(() => wake(tenantId, poolId));
      return itemOf(context, poolId, id);
    },
  };
}

function finished({ state }: QueueItem) {
  return fail("FAILED_PRECONDITION", { public: `The item is ${state.replace("_", " ")}, and stays so.` });
}
