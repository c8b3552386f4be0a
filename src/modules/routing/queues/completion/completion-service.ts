import { createBatcher, type Database, type Sql } from "../../../../platform/db/index.ts";
import { isUlid } from "../../../../platform/ids/ulid.ts";
import { groupNamesOf } from "../../admission/index.ts";
import type { ItemFailure } from "../domain/queue-item.ts";
import { afterFailure, policyOf, type RetryPolicy, type WorkFailure } from "../domain/retry-policy.ts";
import { applyTransitions } from "../transitions/item-transitions.ts";
import { restoreAttempts, unassigned } from "../transitions/lease-release.ts";
import { shardCount } from "../transitions/queue-counts.ts";
import {
  type ItemTransition,
  readFinishedLeases,
  readItemExtras,
  type TransitionedItem,
} from "../transitions/transition-store.ts";
import { type CompletedRow, type Completion, completePlainItems } from "./completion-store.ts";

/** A worker's report on a leased item: completed, failed or given back. */
export interface WorkReport extends Completion {
  /** Undefined when the work is completed or given back. */
  readonly failure: WorkFailure | undefined;
  /** Whether the worker gives the item back: no attempt is used up. */
  readonly released?: boolean;
  readonly phase: "work" | "delivery" | "lease";
  /** Ends the lease only if it has expired. */
  readonly overdue?: boolean;
  readonly retry: RetryPolicy;
  readonly maxRetries: number;
  readonly cost?: number | undefined;
  readonly score?: number | undefined;
  /** Whether the item's state changes are recorded as events. */
  readonly itemEvents: boolean;
}

/** The item's new state; undefined when the lease was lost. */
export type ReportResult = { readonly state: ItemTransition["to"]; readonly retryAtMs: number | undefined } | undefined;

/** Side effects of finished items. */
export interface CompletionEffects {
  /** Called in the transaction with all finished items. The caller calls `wake` after the commit. */
  record(tx: Sql, finished: readonly FinishedItem[], nowMs: number): Promise<void>;
  /** Called after the commit. */
  afterCommit(
    finished: readonly FinishedItem[],
    pools: readonly { tenantId: string; poolId: string }[],
    nowMs: number,
  ): void;
}

/** A reported item, after its transition. */
export interface FinishedItem {
  readonly report: WorkReport;
  readonly item: TransitionedItem;
  readonly to: ItemTransition["to"];
  readonly retryAtMs: number | undefined;
  /** The time from lease to report. An item that was leased ahead was leased up to 80 ms before a worker received it. */
  readonly tookMs: number | undefined;
}

interface Dependencies {
  readonly db: Database;
  readonly effects: CompletionEffects;
  readonly now: () => number;
  /** Random value for the jitter of retry delays, 0 to 1. */
  readonly random: () => number;
}

/** Applies workers' reports on leased items. */
export type CompletionService = ReturnType<typeof createCompletionService>;

/** Reports share a transaction of up to `batchMax` items. A second transaction runs beside it from `concurrentMin` items on. */
const byItems = {
  lanes: 2,
  batchMax: 500,
  concurrentMin: 50,
  weigh: (reports: readonly WorkReport[]) => reports.length,
};

/** Creates this node's completion service. Reports of many workers share one transaction. */
export function createCompletionService({ db, effects, now, random }: Dependencies) {
  let turn = 0;

  async function finishItemsIn(tx: Sql, reports: readonly WorkReport[]) {
    const nowMs = now();
    const leases = reports.map(({ token }) => parseLeaseToken(token));
    // The token says whether an item is in groups or has its own retries, so only those items are read.
    const extras = await readItemExtras(
      tx,
      reports.filter(({ failure }, at) => leases[at]?.grouped || (leases[at]?.ownRetry && failure !== undefined)),
    );
    const retries = new Map(extras.map((item) => [itemKey(item), item.retry]));
    const transitions: ItemTransition[] = [];
    // The first of several reports for one lease in a batch wins.
    const seen = new Set<string>();
    const indices = reports.map((report, at) => {
      const lease = leases[at];
      const name = report.tenantId + report.id + report.token;
      if (lease === undefined || seen.has(name)) return undefined;
      seen.add(name);
      const retry = policyOf(report.retry, retries.get(itemKey(report)));
      return transitions.push(toTransition({ ...report, retry }, lease.attempt, nowMs, random())) - 1;
    });
    const { transitioned, freed } = await applyTransitions(
      tx,
      transitions,
      extras.flatMap(groupNamesOf),
      nowMs,
      turn++ % shardCount,
      (items) =>
        items.map(({ nth, tenantId, poolId }) => {
          const { to, failure } = transitions[nth]!;
          return {
            ...{ tenantId, poolId, completed: Number(to === "completed"), failed: Number(failure !== undefined) },
            deadLettered: Number(to === "dead_lettered"),
          };
        }),
    );
    // An item that is ready without a failure was given back.
    const released = transitions.map(({ to, failure }) => to === "ready" && failure === undefined);
    await restoreAttempts(
      tx,
      transitioned.filter(({ nth }) => released[nth]),
    );
    const items = new Map<number | undefined, TransitionedItem>(transitioned.map((item) => [item.nth, item]));
    const lost = reports.filter((_, at) => !items.has(indices[at]));
    const repeated = await findRepeated(tx, lost);
    const finished: FinishedItem[] = [];
    const results = reports.map((report, at): ReportResult => {
      const item = items.get(indices[at]);
      if (item === undefined) return repeated.get(report);
      const each = transitions[item.nth]!;
      const tookMs = item.leasedAt === null ? undefined : Math.max(0, nowMs - item.leasedAt.getTime());
      const retryAtMs = each.failure?.told?.retryAtMs;
      finished.push({ report, item, to: each.to, retryAtMs, tookMs });
      return { state: each.to, retryAtMs };
    });
    await effects.record(tx, finished, nowMs);
    tx.afterCommit(() => effects.afterCommit(finished, freed, nowMs));
    return results;
  }

  const batcher = createBatcher<readonly WorkReport[], readonly ReportResult[]>({
    ...byItems,
    async flush(calls) {
      const results = await db.transaction((tx) => finishItemsIn(tx, calls.flat()));
      const own = results.values();
      return calls.map((call) => own.take(call.length).toArray());
    },
  });

  /** Applies plain completions, the common case, in one statement; undefined for items that need the full path. */
  const plainBatcher = createBatcher<readonly WorkReport[], readonly ReportResult[]>({
    ...byItems,
    async flush(calls) {
      const nowMs = now();
      // Each item once, in the global lock order. The remaining reports take the full path.
      const leases = new Map<string, WorkReport>();
      for (const call of calls)
        for (const report of call) if (!leases.has(itemKey(report))) leases.set(itemKey(report), report);
      const done = [...leases].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, report]) => report);
      const rows = await completePlainItems(db.genericPlans.sql, done, nowMs, turn++ % shardCount);
      const finished = rows.map((row) => toFinishedItem(leases.get(itemKey(row))!, row, nowMs));
      effects.afterCommit(finished, [], nowMs);
      const applied = new Set(finished.map(({ report }) => report));
      return calls.map((call) => call.map((report) => (applied.has(report) ? completed : undefined)));
    },
  });

  return {
    async finishItems(reports: readonly WorkReport[]): Promise<readonly ReportResult[]> {
      if (reports.length === 0) return [];
      if (!reports.every(isPlain)) return batcher.run(reports);
      const results = await plainBatcher.run(reports);
      if (!results.includes(undefined)) return results;
      // The lease was lost, or the item needs the full path.
      const rest = (await batcher.run(reports.filter((_, at) => results[at] === undefined))).values();
      return results.map((result) => result ?? rest.next().value);
    },
    /** The same in the caller's transaction. */
    finishItemsIn,
    async idle() {
      await plainBatcher.idle();
      await batcher.idle();
    },
  };
}

/** Finds the results of reports that repeat an earlier report of the same lease. */
async function findRepeated(sql: Sql, lost: readonly WorkReport[]): Promise<ReadonlyMap<WorkReport, ReportResult>> {
  const repeats = new Map<WorkReport, ReportResult>();
  const reports = lost.filter(({ overdue, token }) => overdue !== true && parseLeaseToken(token) !== undefined);
  const leases = new Map((await readFinishedLeases(sql, reports)).map((lease) => [itemKey(lease), lease]));
  for (const report of reports) {
    const lease = leases.get(itemKey(report));
    if (lease === undefined || lease.poolId !== report.poolId) continue;
    if (report.failure === undefined) {
      if (lease.doneToken === report.token && report.released !== true) repeats.set(report, completed);
      continue;
    }
    const failed = lease.failures.find((failure) => failure.told?.token === report.token)?.told;
    if (failed !== undefined) repeats.set(report, { state: failed.state, retryAtMs: failed.retryAtMs });
  }
  return repeats;
}

const completed: ReportResult = { state: "completed", retryAtMs: undefined };

/** Key of an item. Keys sort in the global lock order. */
function itemKey({ tenantId, id }: Pick<WorkReport, "tenantId" | "id">): string {
  return tenantId + id;
}

/** Whether a report is a plain completion: no failure, groups, events, cost or score. */
function isPlain({ failure, released, itemEvents, cost, score, id, token }: WorkReport): boolean {
  if (failure !== undefined || released === true || itemEvents || cost !== undefined || score !== undefined)
    return false;
  return isUlid(id) && parseLeaseToken(token)?.grouped === false;
}

function toFinishedItem(
  report: WorkReport,
  { recipientId, leasedAtMs, attempt }: CompletedRow,
  nowMs: number,
): FinishedItem {
  const { tenantId, poolId, id } = report;
  const item: TransitionedItem = {
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
    blocks: null,
    failures: [],
    singletonGroup: "",
    debounceGroup: "",
    concurrencyGroup: "",
    key: "",
    experiments: null,
  };
  const tookMs = leasedAtMs === null ? undefined : Math.max(0, nowMs - leasedAtMs);
  return { report, item, to: "completed", retryAtMs: undefined, tookMs };
}

function toTransition(report: WorkReport, attempt: number, nowMs: number, jitter: number): ItemTransition {
  const { tenantId, poolId, id, token, failure, retry, overdue = false } = report;
  const base = { tenantId, poolId, id, from: { token, overdue } };
  if (report.released === true) return { ...base, ...unassigned };
  if (failure === undefined) return { ...base, to: "completed", result: report.result };
  const { reasonCode, reason, retryable, retryAfterMs = 0 } = failure;
  const entry: ItemFailure = { attempt, failedAtMs: nowMs, reasonCode, reason, recipientId: "" };
  const next = afterFailure(retry, attempt, retryable, jitter);
  if (next === "dead_letter") {
    const told = { token, state: "dead_lettered" as const };
    return { ...base, to: "dead_lettered", failure: overdue ? entry : { ...entry, told } };
  }
  // The recipient is chosen again, because the failed one may be the cause.
  const failed = { ...base, ...unassigned, failure: entry };
  // The lease duration already served as the delay, so the next attempt may start immediately.
  if (overdue) return failed;
  const retryInMs = Math.max(next.retryInMs, retryAfterMs);
  const told = { token, state: "pending" as const, retryAtMs: nowMs + retryInMs };
  return { ...failed, to: "pending", dueInMs: retryInMs, holdReason: "retry", failure: { ...entry, told } };
}

const tokenPattern = /^[0-9a-f]{24}(p|g|r)([1-9][0-9]{0,5})$/;

/** What a lease token says. */
export interface LeaseFacts {
  /** Whether the item is in admission groups. It can have its own retries as well. */
  readonly grouped: boolean;
  /** Whether an item without groups has its own retries. */
  readonly ownRetry: boolean;
  readonly attempt: number;
}

/** Reads a lease token. */
export function parseLeaseToken(token: string): LeaseFacts | undefined {
  const match = tokenPattern.exec(token);
  if (match === null) return undefined;
  return { grouped: match[1] === "g", ownRetry: match[1] === "r", attempt: Number(match[2]) };
}
