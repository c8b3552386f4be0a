import { randomBytes } from "node:crypto";
import type { TenantId } from "../../platform/access/index.ts";
import {
  type Batcher,
  createBatcher,
  type Database,
  nextWake,
  type Signals,
  type Sql,
} from "../../platform/db/index.ts";
import type { Recipient } from "../pools/index.ts";
import { shardCount } from "./counts.ts";
import { type LeasedRow, leaseItems, lockInFlight, type OfferedItem, offeredItems } from "./lease-store.ts";

/** A worker that asks for work. */
export interface WorkAsked {
  readonly tenantId: TenantId;
  readonly poolId: string;
  /** Whose items; "" for any of the pool's. */
  readonly recipientId: string;
  /** The recipients of the pool that get work, for a worker that serves all of them. */
  readonly recipientIds: readonly string[];
  /** Whether such a worker also gets what nobody was chosen for. */
  readonly unchosen: boolean;
  /** Items that are fetched, or items that are sent. */
  readonly delivery: "pull" | "push";
  /** How many items the recipient may have at once; 0 for no bound. */
  readonly capacity: number;
  readonly leaseS: number;
  readonly ageingMs: number;
  /** 0 for a recipient that gets nothing now. */
  readonly max: number;
  readonly waitMs: number;
  readonly signal: AbortSignal;
}

/** Hands out work. */
export interface Leasing {
  /** Items for a worker; it waits for some when there are none. */
  lease(asked: WorkAsked, offered?: Offered, keep?: Keep): Promise<LeasedRow[]>;
}

/** What has to happen in one transaction with the handing out of items; when it throws they stay where they are. */
export type Keep = (tx: Sql, rows: readonly LeasedRow[]) => Promise<void>;

/** Whether a worker may have an item that nobody was chosen for. */
export type Offered = (item: OfferedItem) => boolean | Promise<boolean>;

const recipientsAtOnce = 64;
const offeredAtOnce = 100;
const pollMs = 1000;

/** Workers share a statement up to so many items, and get one of their own beside it only for many. */
const byItems = { lanes: 2, batchMax: 500, besideMin: 50, weigh: ({ max }: WorkAsked) => max };

/** Whether a recipient gets what waits for it: one that drains works off what it has. */
export function getsWork({ status }: Pick<Recipient, "status">): boolean {
  return status === "active" || status === "draining";
}

/** What wakes those who wait for work in a pool. */
export function queueTopic(tenantId: string, poolId: string): string {
  return `queue:${tenantId}:${poolId}`;
}

/** Makes this node's leasing. Workers of one pool who ask at the same time are served by one statement. */
export function createLeasing({ db, signals }: { db: Database; signals: Signals }): Leasing {
  const batchers = new Map<string, Batcher<WorkAsked, LeasedRow[]>>();
  let turn = 0;

  function batcherOf(asked: WorkAsked): Batcher<WorkAsked, LeasedRow[]> {
    const key = [asked.tenantId, asked.poolId, asked.recipientId, asked.leaseS, asked.delivery].join("/");
    const known = batchers.get(key);
    if (known !== undefined) return known;
    if (batchers.size >= 10_000) batchers.clear();
    const batcher = createBatcher<WorkAsked, LeasedRow[]>({ ...byItems, flush });
    batchers.set(key, batcher);
    return batcher;
  }

  async function flush(workers: WorkAsked[]): Promise<LeasedRow[][]> {
    // A worker that has gone gets nothing: its items would only wait for their leases to end.
    const present = workers.filter(({ signal }) => !signal.aborted);
    const wanted = present.reduce((sum, { max }) => sum + max, 0);
    const rows = wanted === 0 ? [] : await take(present.at(-1)!, Math.min(wanted, 1000));
    const shares = share(present, rows);
    return workers.map((worker) => shares.get(worker) ?? []);
  }

  async function takeOffered(asked: WorkAsked, offered: Offered, keep: Keep | undefined): Promise<LeasedRow[]> {
    const items = await offeredItems(db.sql, asked.tenantId, asked.poolId, Math.max(offeredAtOnce, asked.max));
    const open = await Promise.all(items.map(offered));
    const ids = items.filter((_, at) => open[at]).map(({ id }) => id);
    if (ids.length === 0) return [];
    return keep === undefined ? take(asked, asked.max, ids) : takeAndKeep(asked, keep, ids);
  }

  function takeAndKeep(asked: WorkAsked, keep: Keep, ids?: readonly string[]): Promise<LeasedRow[]> {
    return db.transaction(async (tx) => {
      const rows = await takeIn(tx, asked, asked.max, ids);
      if (rows.length > 0) await keep(tx, rows);
      return rows;
    });
  }

  async function take(asked: WorkAsked, count: number, ids?: readonly string[]): Promise<LeasedRow[]> {
    // What a recipient has is counted and added to in one transaction.
    if (isBounded(asked)) return db.transaction((tx) => takeIn(tx, asked, count, ids));
    return takeIn(db.sql, asked, count, ids);
  }

  async function takeIn(
    sql: Sql,
    asked: WorkAsked,
    count: number,
    ids: readonly string[] | undefined,
  ): Promise<LeasedRow[]> {
    const { tenantId, poolId, recipientId, delivery, capacity, leaseS, ageingMs } = asked;
    const lease = {
      tenantId,
      poolId,
      delivery,
      leaseS,
      ageingMs,
      ...(ids && { chosen: { ids, recipientId } }),
      recipientIds: recipientId === "" ? everyone(asked) : [ids === undefined ? recipientId : ""],
      stem: randomBytes(12).toString("base64url"),
      shard: turn++ % shardCount,
    };
    if (!isBounded(asked)) return leaseItems(sql, { ...lease, count });
    const places = capacity - (await lockInFlight(sql, tenantId, poolId, recipientId));
    return places <= 0 ? [] : leaseItems(sql, { ...lease, count: Math.min(count, places) });
  }

  function everyone({ unchosen, recipientIds }: WorkAsked): readonly string[] {
    return unchosen ? ["", ...some(recipientIds)] : some(recipientIds);
  }

  // For a pool with very many recipients each statement looks at some of them, and the next one at others.
  function some(ids: readonly string[]): readonly string[] {
    if (ids.length <= recipientsAtOnce) return ids;
    const start = (turn * recipientsAtOnce) % ids.length;
    return [...ids, ...ids.slice(0, recipientsAtOnce)].slice(start, start + recipientsAtOnce);
  }

  return {
    async lease(asked, offered, keep) {
      const mayHave = () => asked.max > 0 && !asked.signal.aborted;
      const look = () => (keep === undefined ? batcherOf(asked).run(asked) : takeAndKeep(asked, keep));
      const until = performance.now() + asked.waitMs;
      for (;;) {
        // Listen before looking: what becomes ready in between then wakes us.
        const waitMs = Math.max(0, Math.min(pollMs, until - performance.now()));
        const woken = nextWake(signals, queueTopic(asked.tenantId, asked.poolId), asked.signal, waitMs);
        try {
          let rows = mayHave() ? await look() : [];
          if (rows.length === 0 && offered !== undefined && mayHave()) rows = await takeOffered(asked, offered, keep);
          if (rows.length > 0 || performance.now() >= until || asked.signal.aborted) return rows;
          await woken.reason;
        } finally {
          woken.cancel();
        }
      }
    },
  };
}

/** Whether there is a bound to what the recipient may have at once. */
function isBounded({ recipientId, capacity }: WorkAsked): boolean {
  return recipientId !== "" && capacity > 0;
}

/** Divides what was taken, which is no more than all want: in turn, so that nobody gets all while others get none. */
function share(workers: readonly WorkAsked[], rows: readonly LeasedRow[]): ReadonlyMap<WorkAsked, LeasedRow[]> {
  const shares = new Map(workers.map((worker) => [worker, [] as LeasedRow[]]));
  let hungry = workers.filter(({ max }) => max > 0);
  let at = 0;
  while (at < rows.length) {
    for (const worker of hungry) if (at < rows.length) shares.get(worker)!.push(rows[at++]!);
    hungry = hungry.filter((worker) => shares.get(worker)!.length < worker.max);
  }
  return shares;
}
