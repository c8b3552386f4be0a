import { randomUUID } from "node:crypto";
import { type Clock, systemClock } from "../clock/clock.ts";
import { type Batcher, createBatcher, type Database, type Fragment, type Signals, type Sql } from "../db/index.ts";
import { createRepeatedTask } from "../jobs/index.ts";
import type { Log } from "../log/log.ts";
import { fairShare } from "./shares.ts";
import {
  claimShards,
  currentShards,
  joinNodes,
  type Lease,
  leaveNodes,
  type Renewal,
  releaseShards,
  renewLeases,
  type ShardEpoch,
} from "./store.ts";

/** This node's part of the shards of one kind. */
export interface Shards {
  /** Joins the other nodes. */
  start(): void;
  /** Gives all shards back at once. */
  stop(): Promise<void>;
  /** The shards of this node with their epochs. Empty when the node is fenced, or the lease has run out by its own clocks. */
  owned(): ReadonlyMap<number, number>;
  /** Calls the listener after every change of the owned shards. Returns the unsubscribe function. */
  onChange(listener: () => void): () => void;
  /**
   * A query for the `shard` numbers whose epochs are still current. A statement that writes under the protection of
   * shards must use it: `with current as (${shards.currentSql(sql, claims)}) update … where shard in (select shard from
   * current)`. The shards are locked until the end of the transaction, so no other node can claim them before the write
   * is committed. Pass only the shards that the statement writes to.
   */
  currentSql(sql: Sql, claims: Iterable<readonly [shard: number, epoch: number]>): Fragment;
}

interface Dependencies {
  readonly db: Database;
  /** Decides whether the node is fenced. */
  readonly clock: Clock;
  readonly system?: Clock;
  readonly log: Log;
  /** Wakes the other nodes when shards become free. Without it, they notice within a third of their lease. */
  readonly signals?: Signals;
  /** Names the work that is divided, for example "workflow.runs". */
  readonly kind: string;
  /** The number of shards; the same on all nodes. */
  readonly count: number;
  /** How long the shards of a node that has died stay without an owner. */
  readonly leaseMs: number;
}

/** The end of a lease by two clocks: the system clock may be set back, and the monotonic one stops while the machine sleeps. */
interface LeaseEnd {
  readonly systemMs: number;
  readonly monotonicMs: number;
}

/** A node between joining and leaving. */
interface Membership {
  readonly nodeId: string;
  leaseUntil: LeaseEnd;
  owned: ReadonlyMap<number, number>;
}

/** The renewals of a node: those of several kinds that are due together are one statement. */
const renewals = new WeakMap<Database, Batcher<Lease, Renewal>>();

function renewalsOf(db: Database): Batcher<Lease, Renewal> {
  const known = renewals.get(db) ?? createBatcher({ flush: (leases: Lease[]) => renewLeases(db.sql, leases) });
  renewals.set(db, known);
  return known;
}

const none: ReadonlyMap<number, number> = new Map();

/** Creates this node's part of the shards of a kind. All nodes get equal shares, give or take one shard. */
export function createShards(dependencies: Dependencies): Shards {
  const { db, clock, system = systemClock, log, signals, kind, count, leaseMs } = dependencies;
  const topic = `shards.${kind}`;
  const renewEveryMs = leaseMs / 3;
  const listeners = new Set<() => void>();
  let membership: Membership | undefined;
  let reported = none;
  let isStopped = true;
  let timer: NodeJS.Timeout | undefined;

  function owned(): ReadonlyMap<number, number> {
    if (isStopped || membership === undefined || clock.isFenced?.()) return none;
    const { systemMs, monotonicMs } = membership.leaseUntil;
    return system.now() < systemMs && performance.now() < monotonicMs ? membership.owned : none;
  }

  /** The end of a lease that starts now. */
  function leaseEnd(): LeaseEnd {
    return { systemMs: system.now() + leaseMs, monotonicMs: performance.now() + leaseMs };
  }

  function reportChange(): void {
    const now = owned();
    if (isSame(now, reported)) return;
    reported = now;
    for (const listener of listeners) listener();
  }

  async function join(): Promise<Membership> {
    const joined = { nodeId: randomUUID(), leaseUntil: leaseEnd(), owned: none };
    await joinNodes(db.sql, kind, joined.nodeId, count, leaseMs);
    // The others have more than their share now.
    signals?.wake(topic);
    return joined;
  }

  async function renew(member: Membership): Promise<Renewal> {
    // The database counts from a later time, so the lease never ends there first.
    const until = leaseEnd();
    const renewal = await renewalsOf(db).run({ kind, nodeId: member.nodeId, count, leaseMs });
    if (renewal.renewed) {
      member.leaseUntil = until;
      member.owned = new Map(renewal.owned);
    }
    return renewal;
  }

  /** Claims what is missing to the fair share, or gives back what is above it. */
  async function balance(member: Membership, { nodeIds, owned, freeCount }: Renewal): Promise<void> {
    const share = fairShare(count, nodeIds, member.nodeId);
    if (owned.length < share && freeCount > 0) {
      const claimed = await claimShards(db, kind, member.nodeId, count, share - owned.length);
      member.owned = new Map<number, number>([...owned, ...claimed] satisfies ShardEpoch[]);
    } else if (owned.length > share) {
      // Nothing here may use them from the moment when another node can claim them.
      member.owned = new Map(owned.slice(0, share));
      reportChange();
      const surplus = owned.slice(share).map(([shard]) => shard);
      await releaseShards(db.sql, kind, member.nodeId, surplus);
      signals?.wake(topic);
    }
  }

  /** Frees all shards of this node. */
  async function leave(): Promise<void> {
    const left = membership;
    membership = undefined;
    reportChange();
    if (left === undefined) return;
    await leaveNodes(db.sql, kind, left.nodeId);
    signals?.wake(topic);
  }

  /** Returns when to renew again: at the same moments for all kinds of a node. */
  async function maintain(): Promise<number> {
    await renewAndBalance();
    return renewEveryMs - (performance.now() % renewEveryMs);
  }

  async function renewAndBalance(): Promise<void> {
    if (clock.isFenced?.()) return leave();
    membership ??= await join();
    const renewal = await renew(membership);
    if (renewal.renewed) {
      await balance(membership, renewal);
    } else {
      log.warn({ kind }, "the lease of this node's shards has expired");
      membership = undefined;
      task.run();
    }
    reportChange();
  }

  const task = createRepeatedTask({
    work: maintain,
    maxWaitMs: renewEveryMs,
    onError: (error) => {
      log.warn({ err: error, kind }, "shards cannot be maintained");
      reportChange();
    },
    subscribe: ({ run }) => (signals === undefined ? [] : [signals.onWake(topic, run)]),
  });

  return {
    start() {
      isStopped = false;
      // A statement may hang for longer than the lease.
      timer = setInterval(reportChange, leaseMs / 3);
      void task.start();
    },
    async stop() {
      isStopped = true;
      reportChange();
      clearInterval(timer);
      await task.stop();
      await leave().catch((error) =>
        log.warn({ err: error, kind }, "shards cannot be given back; their lease will expire"),
      );
    },
    owned,
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    currentSql: (sql, claims) => currentShards(sql, kind, claims),
  };
}

function isSame(a: ReadonlyMap<number, number>, b: ReadonlyMap<number, number>): boolean {
  return a.size === b.size && [...a].every(([shard, epoch]) => b.get(shard) === epoch);
}
