import type { TenantId } from "../../../../platform/access/index.ts";
import { createBatcher, type Database, type Sql } from "../../../../platform/db/index.ts";
import { isUlid } from "../../../../platform/ids/ulid.ts";
import { groupNamesOf } from "../../admission/index.ts";
import type { ItemFailure } from "../domain/queue-item.ts";
import { afterFailure, type RetryPolicy } from "../domain/retry-policy.ts";
import { move } from "../transitions/item-transitions.ts";
import { shardCount } from "../transitions/queue-counts.ts";
import { finishedLeases, groupsOfItems, type Move, type Moved } from "../transitions/transition-store.ts";
import { type CompletedRow, completePlainItems } from "./completion-store.ts";

/** Why an attempt failed. */
export interface WorkFailure {
  readonly retryable: boolean;
  readonly reasonCode: string;
  readonly reason: string;
  /** The next attempt waits at least so long. */
  readonly retryAfterMs?: number;
}

/** How a worker says an item ended. */
export interface Finish {
  readonly tenantId: TenantId;
  readonly poolId: string;
  readonly id: string;
  readonly token: string;
  /** Undefined when the work is done. */
  readonly failure: WorkFailure | undefined;
  readonly phase: "work" | "delivery" | "lease";
  /** Ends the lease only if its time is over. */
  readonly overdue?: boolean;
  readonly retry: RetryPolicy;
  readonly maxRetries: number;
  readonly cost?: number | undefined;
  readonly score?: number | undefined;
  /** Whether the item's own steps go on the event log. */
  readonly itemEvents: boolean;
}

/** What became of an item: undefined when the lease was lost. */
export type Finished = { readonly state: Move["to"]; readonly retryAtMs: number | undefined } | undefined;

/** What else has to be written when items end, and what follows from it. */
export interface Followers {
  /** Called in the transaction with everything that ended; `wake` is to be called after the commit. */
  ended(tx: Sql, ended: readonly Ended[], nowMs: number): Promise<{ wake: () => void }>;
  /** Called after the commit. */
  committed(ended: readonly Ended[], pools: readonly { tenantId: string; poolId: string }[], nowMs: number): void;
}

/** An item that a worker was done with. */
export interface Ended {
  readonly finish: Finish;
  readonly moved: Moved;
  readonly to: Move["to"];
  readonly retryAtMs: number | undefined;
  /** How long it was worked on. */
  readonly tookMs: number | undefined;
}

interface Parts {
  readonly db: Database;
  readonly followers: Followers;
  readonly now: () => number;
  /** Chance for the waits before the next attempt, 0 to 1. */
  readonly random: () => number;
}

/** Takes back what workers are done with. */
export interface Finishing {
  finish(finishes: readonly Finish[]): Promise<readonly Finished[]>;
  /** The same in a transaction of the caller's; `committed` is to be called after it. */
  finishIn(tx: Sql, finishes: readonly Finish[]): Promise<{ results: readonly Finished[]; committed: () => void }>;
  idle(): Promise<void>;
}

/** Workers share a transaction up to so many items, and get one of their own beside it only for many. */
const byItems = { lanes: 2, batchMax: 500, concurrentMin: 50, weigh: (finishes: readonly Finish[]) => finishes.length };

/** Makes this node's finishing: many workers' ends travel in one transaction. */
export function createFinishing({ db, followers, now, random }: Parts): Finishing {
  let turn = 0;

  async function finishIn(tx: Sql, finishes: readonly Finish[]) {
    const nowMs = now();
    const moves: Move[] = [];
    // Of two ends of one lease in one batch the first one counts.
    const seen = new Set<string>();
    const places = finishes.map((finish) => {
      const lease = leaseOf(finish.token);
      const name = finish.tenantId + finish.id + finish.token;
      if (lease === undefined || seen.has(name)) return undefined;
      seen.add(name);
      return moves.push(moveOf(finish, lease.attempt, nowMs, random())) - 1;
    });
    // Only items in groups have to look for them; the lease says which they are.
    const grouped = finishes.filter(({ token }) => leaseOf(token)?.grouped);
    const groups = (await groupsOfItems(tx, grouped)).flatMap(groupNamesOf);
    const { moved, freed } = await move(tx, moves, groups, nowMs, turn++ % shardCount, (items) =>
      items.map(({ nth, tenantId, poolId }) => {
        const failed = moves[nth]!.failure !== undefined;
        return { tenantId, poolId, completed: failed ? 0 : 1, failed: failed ? 1 : 0 };
      }),
    );
    const items = new Map<number | undefined, Moved>(moved.map((item) => [item.nth, item]));
    const lost = finishes.filter((_, at) => !items.has(places[at]));
    const before = await repeatsAmong(tx, lost);
    const ended: Ended[] = [];
    const results = finishes.map((finish, at): Finished => {
      const item = items.get(places[at]);
      if (item === undefined) return before.get(finish);
      const each = moves[item.nth]!;
      const tookMs = item.leasedAt === null ? undefined : Math.max(0, nowMs - item.leasedAt.getTime());
      const retryAtMs = each.failure?.told?.retryAtMs;
      ended.push({ finish, moved: item, to: each.to, retryAtMs, tookMs });
      return { state: each.to, retryAtMs };
    });
    const { wake } = await followers.ended(tx, ended, nowMs);
    const committed = () => {
      wake();
      followers.committed(ended, freed, nowMs);
    };
    return { results, committed };
  }

  const batcher = createBatcher<readonly Finish[], readonly Finished[]>({
    ...byItems,
    async flush(calls) {
      const { results, committed } = await db.transaction((tx) => finishIn(tx, calls.flat()));
      committed();
      const own = results.values();
      return calls.map((call) => own.take(call.length).toArray());
    },
  });

  /** What most workers have to say, in one statement; undefined for what it did not come to. */
  const plainly = createBatcher<readonly Finish[], readonly Finished[]>({
    ...byItems,
    async flush(calls) {
      const nowMs = now();
      // Each item once, in the order in which items are locked. What is left out is asked for in the usual way.
      const leases = new Map<string, Finish>();
      for (const call of calls)
        for (const finish of call) if (!leases.has(nameOf(finish))) leases.set(nameOf(finish), finish);
      const done = [...leases].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, finish]) => finish);
      const rows = await completePlainItems(db.steady.sql, done, nowMs, turn++ % shardCount);
      const ended = rows.map((row) => endOf(leases.get(nameOf(row))!, row, nowMs));
      followers.committed(ended, [], nowMs);
      const those = new Set(ended.map(({ finish }) => finish));
      return calls.map((call) => call.map((finish) => (those.has(finish) ? completed : undefined)));
    },
  });

  return {
    async finish(finishes) {
      if (finishes.length === 0) return [];
      if (!finishes.every(isPlain)) return batcher.run(finishes);
      const results = await plainly.run(finishes);
      if (!results.includes(undefined)) return results;
      // Lost, or more than plain after all.
      const rest = (await batcher.run(finishes.filter((_, at) => results[at] === undefined))).values();
      return results.map((result) => result ?? rest.next().value);
    },
    finishIn,
    async idle() {
      await plainly.idle();
      await batcher.idle();
    },
  };
}

/** What was answered to those who repeat the end of a lease that they have told before. */
async function repeatsAmong(sql: Sql, lost: readonly Finish[]): Promise<ReadonlyMap<Finish, Finished>> {
  const repeats = new Map<Finish, Finished>();
  const told = lost.filter(({ overdue, token }) => overdue !== true && leaseOf(token) !== undefined);
  const leases = new Map((await finishedLeases(sql, told)).map((lease) => [nameOf(lease), lease]));
  for (const finish of told) {
    const lease = leases.get(nameOf(finish));
    if (lease === undefined || lease.poolId !== finish.poolId) continue;
    if (finish.failure === undefined) {
      if (lease.doneToken === finish.token) repeats.set(finish, completed);
      continue;
    }
    const failed = lease.failures.find((failure) => failure.told?.token === finish.token)?.told;
    if (failed !== undefined) repeats.set(finish, { state: failed.state, retryAtMs: failed.retryAtMs });
  }
  return repeats;
}

const completed: Finished = { state: "completed", retryAtMs: undefined };

/** Names an item; by these names items come in the order of their ids. */
function nameOf({ tenantId, id }: Pick<Finish, "tenantId" | "id">): string {
  return tenantId + id;
}

/** Whether there is nothing to be done for an item but to complete it. */
function isPlain({ failure, itemEvents, cost, score, id, token }: Finish): boolean {
  if (failure !== undefined || itemEvents || cost !== undefined || score !== undefined) return false;
  return isUlid(id) && leaseOf(token)?.grouped === false;
}

function endOf(finish: Finish, { recipientId, leasedAtMs, attempt }: CompletedRow, nowMs: number): Ended {
  const { tenantId, poolId, id } = finish;
  const moved: Moved = {
    nth: 0,
    tenantId,
    id,
    poolId,
    recipientId,
    fromState: "leased",
    hadSlot: false,
    leasedAt: leasedAtMs === null ? null : new Date(leasedAtMs),
    attempt,
    revived: false,
    failures: [],
    singletonGroup: "",
    debounceGroup: "",
    concurrencyGroup: "",
  };
  const tookMs = leasedAtMs === null ? undefined : Math.max(0, nowMs - leasedAtMs);
  return { finish, moved, to: "completed", retryAtMs: undefined, tookMs };
}

function moveOf(finish: Finish, attempt: number, nowMs: number, chance: number): Move {
  const { tenantId, poolId, id, token, failure, retry, overdue = false } = finish;
  const base = { tenantId, poolId, id, from: { token, overdue } };
  if (failure === undefined) return { ...base, to: "completed" };
  const kept: ItemFailure = {
    attempt,
    failedAtMs: nowMs,
    reasonCode: failure.reasonCode,
    reason: failure.reason,
    recipientId: "",
  };
  const next = afterFailure(retry, attempt, failure.retryable, chance);
  if (next === "dead_letter") {
    const told = { token, state: "dead_lettered" as const };
    return { ...base, to: "dead_lettered", failure: overdue ? kept : { ...kept, told } };
  }
  // Who takes it next is decided anew: whoever failed may be the reason.
  const anew = { ...base, recipientId: "", delivery: "pull" as const, failure: kept };
  // Whoever crashed had its wait: the next attempt may begin at once.
  if (overdue) return { ...anew, to: "ready" };
  const retryInMs = Math.max(next.retryInMs, failure.retryAfterMs ?? 0);
  const told = { token, state: "pending" as const, retryAtMs: nowMs + retryInMs };
  return { ...anew, to: "pending", dueInMs: retryInMs, holdReason: "retry", failure: { ...kept, told } };
}

const tokenShape = /^[A-Za-z0-9_-]{16}(p|g)([1-9][0-9]{0,5})$/;

/** What a lease token tells: whether its item is in admission groups, and which attempt it is for. */
function leaseOf(token: string): { grouped: boolean; attempt: number } | undefined {
  const match = tokenShape.exec(token);
  return match === null ? undefined : { grouped: match[1] === "g", attempt: Number(match[2]) };
}
