import type { Clock } from "../../platform/clock/clock.ts";
import type { Database, Sql } from "../../platform/db/index.ts";
import type { Log } from "../../platform/log/log.ts";
import type { EventRecorder } from "../events/index.ts";
import type { PoolDoor } from "../pools/index.ts";
import { shardCount } from "./counts.ts";
import { type GroupRef, type GroupState, groupKey, groupsToResume, resume } from "./domain/admission.ts";
import type { Finish, Finishing } from "./finishing.ts";
import { type GroupName, groupNamesOf, type OwnedGroup, readGroups, saveGroups } from "./group-store.ts";
import { groupsOfItems } from "./move-store.ts";
import { handOn, move } from "./moving.ts";
import * as store from "./sweep-store.ts";

interface Parts {
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Log;
  readonly pools: Pick<PoolDoor, "snapshot">;
  readonly finishing: Finishing;
  readonly events: EventRecorder;
  readonly wake: (tenantId: string, poolId: string) => void;
}

/** Does what time brings: items fall due, leases and lives end, places are handed on. Every node sweeps. */
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
    const nowMs = clock.now();
    const plain = await store.readyDueItems(db.sql, nowMs, bite);
    wakeAll(plain);
    const grouped = await store.dueInGroups(db.sql, nowMs, bite);
    if (grouped.length > 0) wakeAll(await db.transaction((tx) => resumeAll(tx, grouped, nowMs)));
    return plain.length === bite || grouped.length === bite;
  }

  async function resumeAll(tx: Sql, items: readonly store.DueItem[], nowMs: number) {
    const names: GroupName[] = items.flatMap((item) =>
      groupsToResume(refsOf(item), passedBy(item)).map((ref) => ({ tenantId: item.tenantId, ...ref })),
    );
    const owned = new Map(await readGroups(tx, names, true));
    const states = new Map<string, GroupState>([...owned].map(([key, { state }]) => [key, state]));
    const due = await store.lockDue(tx, items, nowMs);
    const changed = new Map<string, OwnedGroup>();
    const onward: (store.Onward & { poolId: string })[] = [];
    for (const item of items) {
      const { tenantId, id, poolId } = item;
      const snapshot = await pools.snapshot(tenantId, poolId);
      if (!due.has(id) || snapshot === undefined) continue;
      const config = snapshot.pool.config.admission;
      const { verdict, next } = resume({ itemId: id, refs: refsOf(item), config, nowMs }, states, passedBy(item));
      for (const state of next) {
        const key = groupKey(state);
        const base = { tenantId, kind: state.kind, groupId: state.groupId, poolId, stored: false };
        const known = owned.get(key) ?? { ...base, environmentId: snapshot.pool.environmentId, state };
        states.set(key, state);
        owned.set(key, { ...known, state });
        changed.set(key, { ...known, state });
      }
      const ready = verdict.status === "admitted";
      onward.push({
        tenantId,
        id,
        poolId,
        state: ready ? "ready" : "held",
        dueAtMs: verdict.dueAtMs,
        holdReason: verdict.holdReason,
        hasSlot: verdict.hasSlot,
      });
    }
    const [saved] = await Promise.all([saveGroups(tx, [...changed.values()], nowMs), store.goOn(tx, onward)]);
    // A group that somebody else began meanwhile is not the fresh one that was seen: the next round sees it.
    if (saved < changed.size) throw new Error("a group was begun by two at once");
    return onward.filter(({ state }) => state === "ready");
  }

  /** What no event leads to: lives that end, and limits that were changed while items wait for their places. */
  async function slowRound(): Promise<boolean> {
    const nowMs = clock.now();
    if (nowMs < slowAtMs) return false;
    slowAtMs = nowMs + slowEveryMs;
    const outlived = await store.outlivedItems(db.sql, nowMs, bite);
    if (outlived.length > 0) {
      const done = await db.transaction((tx) => expire(tx, outlived, nowMs));
      done.wake();
      wakeAll(done.promoted);
    }
    const waited = await store.groupsWithWaiters(db.sql, bite);
    if (waited.length > 0) wakeAll(await db.transaction((tx) => handOnFree(tx, waited, nowMs)));
    if (outlived.length === bite) slowAtMs = 0;
    return outlived.length === bite;
  }

  async function expire(tx: Sql, outlived: Awaited<ReturnType<typeof store.outlivedItems>>, nowMs: number) {
    const groups = (await groupsOfItems(tx, outlived)).flatMap(groupNamesOf);
    const moves = outlived.map((item) => ({ ...item, from: "waiting" as const, to: "expired" as const }));
    const { moved, promoted } = await move(tx, moves, groups, nowMs, nextShard());
    const told = moved.map(({ tenantId, id, poolId }) => ({
      tenantId,
      type: "queue.item.expired" as const,
      subject: id,
      data: { pool_id: poolId },
    }));
    return { promoted, ...(await events.recordMany(tx, told, nowMs)) };
  }

  async function handOnFree(tx: Sql, waited: Awaited<ReturnType<typeof store.groupsWithWaiters>>, nowMs: number) {
    const names = waited.map(({ tenantId, concurrencyGroup }) => ({
      tenantId,
      kind: "concurrency" as const,
      groupId: concurrencyGroup,
    }));
    const owned = await readGroups(tx, names, true);
    const open: OwnedGroup[] = [];
    for (const { tenantId, poolId, concurrencyGroup } of waited) {
      const group = owned.get(groupKey({ kind: "concurrency", groupId: concurrencyGroup }));
      const limit = (await pools.snapshot(tenantId, poolId))?.pool.config.admission.concurrency?.limit;
      // Without the constraint nothing holds them any more.
      const slots = limit ?? Number.MAX_SAFE_INTEGER;
      if (group !== undefined && group.state.inUse < slots) {
        open.push({ ...group, state: { ...group.state, slots: Math.min(slots, 2 ** 31 - 1) } });
      }
    }
    return handOn(tx, open, nowMs);
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
        const next = await store.nextMoment(db.sql, clock.now());
        if (next !== undefined) waitMs = Math.min(idleMs, Math.max(5, next - clock.now()));
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

/** The constraint that an item has waited for. */
function passedBy({ holdReason }: store.DueItem): "debounce" | "throttle" {
  return holdReason === "debounce" ? "debounce" : "throttle";
}

function refsOf({ singletonGroup, debounceGroup, throttleGroup, concurrencyGroup }: store.DueItem): GroupRef[] {
  const refs: GroupRef[] = [
    { kind: "singleton", groupId: singletonGroup },
    { kind: "debounce", groupId: debounceGroup },
    { kind: "throttle", groupId: throttleGroup },
    { kind: "concurrency", groupId: concurrencyGroup },
  ];
  return refs.filter(({ groupId }) => groupId !== "");
}
