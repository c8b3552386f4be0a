import type { Clock } from "../../../../platform/clock/clock.ts";
import type { Database, Sql } from "../../../../platform/db/index.ts";
import type { Log } from "../../../../platform/log/log.ts";
import type { EventRecorder } from "../../../operations/index.ts";
import { groupKey, groupNamesOf, readGroups, saveGroups, vacateGroup } from "../../admission/index.ts";
import type { PoolReader } from "../../pools/index.ts";
import type { Finish, Finishing } from "../completion/completion-service.ts";
import { move } from "../transitions/item-transitions.ts";
import { shardCount } from "../transitions/queue-counts.ts";
import { groupsOfItems } from "../transitions/transition-store.ts";
import * as store from "./sweep-store.ts";

interface Parts {
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Log;
  readonly pools: Pick<PoolReader, "snapshot">;
  readonly finishing: Finishing;
  readonly events: EventRecorder;
  readonly wake: (tenantId: string, poolId: string) => void;
}

/** Does what time brings: items fall due, leases and lives end. Every node sweeps. */
export interface Sweeping {
  /** Looks at a moment at the latest: something falls due then. */
  expect(atMs: number): void;
  /** One round of everything; answers whether there may be more to do at once. */
  sweep(): Promise<boolean>;
  start(): void;
  stop(): Promise<void>;
}

const bite = 500;
const idleMs = 1000;
const slowEveryMs = 5000;

/** Makes this node's sweeping. */
export function createSweeping({ db, clock, log, pools, finishing, events, wake }: Parts): Sweeping {
  let timer: NodeJS.Timeout | undefined;
  let wakeAtMs = Number.POSITIVE_INFINITY;
  let running: Promise<void> | undefined;
  let stopped = true;
  let slowAtMs = 0;
  let turn = 0;
  const nextShard = () => turn++ % shardCount;

  async function endOverdueLeases(): Promise<boolean> {
    const overdue = await store.overdueLeases(db.sql, bite);
    const finishes: Finish[] = [];
    for (const { tenantId, poolId, id, leaseToken } of overdue) {
      const snapshot = await pools.snapshot(tenantId, poolId);
      if (snapshot === undefined) continue;
      const { retry, dlq, itemEvents } = snapshot.pool.config;
      finishes.push({
        tenantId,
        poolId,
        id,
        token: leaseToken,
        overdue: true,
        failure: { retryable: true, reasonCode: "lease_expired", reason: "The worker was not heard of in time." },
        phase: "lease",
        retry,
        maxRetries: dlq.maxRetries,
        itemEvents,
      });
    }
    if (finishes.length > 0) await finishing.finish(finishes);
    const untold = await store.endUntold(db.sql, clock.now(), bite);
    return overdue.length === bite || untold === bite;
  }

  async function readyDue(): Promise<boolean> {
    const plain = await store.readyDueItems(db.sql, bite);
    wakeAll(plain);
    const windows = await store.endedWindows(db.sql, bite);
    if (windows.length > 0) wakeAll(await db.transaction((tx) => endWindows(tx, windows)));
    return plain.length === bite || windows.length === bite;
  }

  /** Lets items go on whose debounce window has ended; a newer item may have begun another window since. */
  async function endWindows(tx: Sql, items: readonly store.DueItem[]) {
    const kind = "debounce" as const;
    const names = items.map(({ tenantId, debounceGroup }) => ({ tenantId, kind, groupId: debounceGroup }));
    const owned = await readGroups(tx, names, true);
    const ready = await store.leaveWindows(tx, items);
    const left = ready.flatMap(({ id, debounceGroup }) => {
      const group = owned.get(groupKey({ kind, groupId: debounceGroup }));
      return group?.state.itemId === id ? [{ ...group, state: vacateGroup(group.state) }] : [];
    });
    await saveGroups(tx, left, clock.now());
    return ready;
  }

  /** What no event leads to: lives that end. */
  async function slowRound(): Promise<boolean> {
    const nowMs = clock.now();
    if (nowMs < slowAtMs) return false;
    slowAtMs = nowMs + slowEveryMs;
    const outlived = await store.outlivedItems(db.sql, nowMs, bite);
    if (outlived.length > 0) {
      const done = await db.transaction((tx) => expire(tx, outlived, nowMs));
      done.wake();
      wakeAll(done.freed);
    }
    if (outlived.length === bite) slowAtMs = 0;
    return outlived.length === bite;
  }

  async function expire(tx: Sql, outlived: Awaited<ReturnType<typeof store.outlivedItems>>, nowMs: number) {
    const groups = (await groupsOfItems(tx, outlived)).flatMap(groupNamesOf);
    const moves = outlived.map((item) => ({ ...item, from: "waiting" as const, to: "expired" as const }));
    const { moved, freed } = await move(tx, moves, groups, nowMs, nextShard());
    const told = moved.map(({ tenantId, id, poolId }) => ({
      tenantId,
      type: "queue.item.expired" as const,
      subject: id,
      data: { pool_id: poolId },
    }));
    return { freed, ...(await events.recordMany(tx, told, nowMs)) };
  }

  function wakeAll(items: readonly { tenantId: string; poolId: string }[]): void {
    const pools = new Map(items.map(({ tenantId, poolId }) => [poolId, tenantId]));
    for (const [poolId, tenantId] of pools) wake(tenantId, poolId);
  }

  async function sweep(): Promise<boolean> {
    const more = [await endOverdueLeases(), await readyDue(), await slowRound()];
    return more.includes(true);
  }

  async function round(): Promise<void> {
    let waitMs = idleMs;
    try {
      if (await sweep()) waitMs = 0;
      else {
        const inMs = await store.nextMomentIn(db.sql);
        if (inMs !== undefined) waitMs = Math.min(idleMs, Math.max(5, inMs));
      }
    } catch (error) {
      log.warn({ err: error }, "a sweep of the queues failed");
    }
    running = undefined;
    // Whoever expected something meanwhile may be sooner.
    const atMs = Math.min(clock.now() + waitMs, wakeAtMs);
    wakeAtMs = Number.POSITIVE_INFINITY;
    plan(atMs);
  }

  function plan(atMs: number): void {
    if (stopped || atMs >= wakeAtMs) return;
    wakeAtMs = atMs;
    if (running !== undefined) return;
    clearTimeout(timer);
    timer = setTimeout(
      () => {
        wakeAtMs = Number.POSITIVE_INFINITY;
        running = round();
      },
      Math.max(0, atMs - clock.now()),
    );
  }

  return {
    expect: plan,
    sweep,
    start() {
      stopped = false;
      plan(clock.now());
    },
    async stop() {
      stopped = true;
      clearTimeout(timer);
      await running;
    },
  };
}
