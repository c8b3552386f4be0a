import type { Clock } from "../../platform/clock/clock.ts";
import type { Database } from "../../platform/db/index.ts";
import { ulidMs } from "../../platform/ids/ulid.ts";
import type { Log } from "../../platform/log/log.ts";
import type { EventRecorder } from "../events/index.ts";
import type { PoolDoor } from "../pools/index.ts";
import type { Leftovers } from "../queues/index.ts";
import {
  absentRecipients,
  assignItems,
  poolsWithUnassigned,
  takeBackItems,
  type UnassignedItem,
  unassignedItems,
  type WaitedFor,
  type WaitingPool,
} from "./assign-store.ts";
import { decisionMsMax, overdueAfter } from "./decision-time.ts";
import { decide } from "./domain/decide.ts";
import type { RoutableItem } from "./domain/item.ts";
import type { LivePools } from "./live-pools.ts";

interface Parts {
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Log;
  readonly pools: PoolDoor;
  readonly live: LivePools;
  readonly events: EventRecorder;
  /** What becomes of items that nobody in the pool takes. */
  readonly leftovers: Leftovers;
  readonly wake: (tenantId: string, poolId: string) => void;
}

/** Finds recipients for items that nobody could take when they came, whose attempt failed, or whose recipient is away. */
export interface Assigning {
  /** One round over all pools; answers how many items were given to somebody. */
  assign(): Promise<number>;
  start(): void;
  stop(): Promise<void>;
}

const poolsAtOnce = 500;
const itemsAtOnce = 500;
const itemsAtOnceFreed = 50;
const everyMs = 250;
/** In every so manieth round it is looked whether those for whom items wait are still there. */
const lookEvery = 4;
const lookedAtOnce = 2000;
const start = { rank: Number.MIN_SAFE_INTEGER, id: "" };

/** Makes this node's assigning. All nodes do it; an item is given away by whoever is first. */
export function createAssigning({ db, clock, log, pools, live, events, leftovers, wake }: Parts): Assigning {
  // Where the next round begins in a pool, so that items nobody can take do not hide those behind them.
  const places = new Map<string, { rank: number; id: string }>();
  // Pools in which items were left over, and of these the ones in which somebody has become free since.
  const leftOver = new Map<string, WaitingPool>();
  const freed = new Map<string, WaitingPool>();
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<unknown> = Promise.resolve();
  let filling: Promise<void> | undefined;
  let stopped = true;
  let rounds = 0;
  let lookedAt: WaitedFor | undefined;

  /** Takes back what waits for recipients that are paused, offline or removed. */
  async function takeBack(): Promise<void> {
    const { absent, last } = await absentRecipients(db.sql, lookedAt, lookedAtOnce);
    lookedAt = last;
    await takeBackItems(db.sql, absent, itemsAtOnce * 10);
  }

  async function assignNext(pool: WaitingPool): Promise<number> {
    const { poolId } = pool;
    const items = await unassignedItems(db.sql, pool, places.get(poolId) ?? start, itemsAtOnce);
    if (items.length < itemsAtOnce) places.delete(poolId);
    else places.set(poolId, items.at(-1)!);
    return assignAmong(pool, items);
  }

  /** Gives work to whoever became free, without waiting for the next round: only those that go first are looked at. */
  async function fill(): Promise<void> {
    for (const [poolId, pool] of freed) {
      freed.delete(poolId);
      try {
        await assignAmong(pool, await unassignedItems(db.sql, pool, start, itemsAtOnceFreed));
      } catch (error) {
        log.warn({ err: error }, "waiting items could not be given to a recipient that became free");
      }
    }
    filling = undefined;
  }

  live.onReleased((poolId) => {
    const pool = leftOver.get(poolId);
    if (pool === undefined || stopped) return;
    freed.set(poolId, pool);
    filling ??= fill();
  });

  async function assignAmong(pool: WaitingPool, items: readonly UnassignedItem[]): Promise<number> {
    const { tenantId, poolId } = pool;
    const snapshot = await pools.snapshot(tenantId, poolId);
    if (snapshot === undefined || items.length === 0) {
      leftOver.delete(poolId);
      return 0;
    }
    const view = await live.view(snapshot);
    const nowMs = clock.now();
    const chosen: Parameters<typeof assignItems>[2][number][] = [];
    const elsewhere = new Map<string, string[]>();
    const nowhere: string[] = [];
    for (const item of items) {
      const seed = Math.floor(Math.random() * 2 ** 53);
      const at = { nowMs, seed, waitedS: (nowMs - ulidMs(item.id)) / 1000, overdue: overdueAfter(decisionMsMax) };
      const { outcome, recipientId, deliveryMode, redirectPoolId } = decide(view.pool, view.live, routable(item), at);
      if (outcome === "routed") {
        live.assigned(view, recipientId, nowMs);
        chosen.push({ id: item.id, recipientId, delivery: deliveryMode === "push" ? "push" : "pull" });
      } else if (outcome === "redirected") {
        elsewhere.set(redirectPoolId, [...(elsewhere.get(redirectPoolId) ?? []), item.id]);
      } else if (outcome === "no_match") nowhere.push(item.id);
    }
    const { dlq, itemEvents } = snapshot.pool.config;
    for (const [toPoolId, ids] of elsewhere) await leftovers.sendOn({ ...pool, ids }, toPoolId, nowMs);
    if (nowhere.length > 0) await leftovers.bury({ ...pool, ids: nowhere }, dlq.maxRetries, nowMs);
    if (chosen.length === 0) return 0;
    const given = await give(pool, chosen, nowMs, itemEvents);
    for (const { id, recipientId } of chosen) if (!given.has(id)) live.released(poolId, recipientId);
    wake(tenantId, poolId);
    return given.size;
  }

  async function give(
    { tenantId, poolId }: WaitingPool,
    chosen: Parameters<typeof assignItems>[2],
    nowMs: number,
    itemEvents: boolean,
  ) {
    const { given, told } = await db.transaction(async (tx) => {
      const ids = await assignItems(tx, tenantId, chosen);
      const entries = chosen.flatMap(({ id, recipientId }) =>
        itemEvents && ids.has(id)
          ? [
              {
                tenantId,
                type: "queue.item.assigned" as const,
                subject: id,
                data: { pool_id: poolId, recipient_id: recipientId },
              },
            ]
          : [],
      );
      return { given: ids, told: await events.recordMany(tx, entries, nowMs) };
    });
    told.wake();
    return given;
  }

  async function assign(): Promise<number> {
    let given = 0;
    for (const pool of await poolsWithUnassigned(db.sql, poolsAtOnce)) given += await assignNext(pool);
    return given;
  }

  async function round(): Promise<void> {
    try {
      if (rounds++ % lookEvery === 0) await takeBack();
      await assign();
    } catch (error) {
      log.warn({ err: error }, "waiting items could not be given to recipients");
    }
    if (!stopped) plan();
  }

  function plan(): void {
    timer = setTimeout(() => {
      running = round();
    }, everyMs);
  }

  return {
    assign,
    start() {
      stopped = false;
      plan();
    },
    async stop() {
      stopped = true;
      clearTimeout(timer);
      await running;
      await filling;
    },
  };
}

function routable({ type, key, attributes, requirements, priority }: UnassignedItem): RoutableItem {
  return { type, key, attributes, requirements: requirements as unknown as RoutableItem["requirements"], priority };
}
