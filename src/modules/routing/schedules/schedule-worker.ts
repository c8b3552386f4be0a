import type { Clock } from "../../../platform/clock/clock.ts";
import type { Database, Signals } from "../../../platform/db/index.ts";
import { createRepeatedTask } from "../../../platform/jobs/index.ts";
import type { Log } from "../../../platform/log/log.ts";
import type { Shards } from "../../../platform/shards/index.ts";
import type { EventEntry, EventRecorder } from "../../operations/index.ts";
import type { ScheduleRun } from "./domain/schedule.ts";
import { type DueRuns, decideRuns } from "./due-runs.ts";
import type { RunRouter } from "./run-router.ts";
import { type DueSchedule, type RunResult, runStore, type UnfinishedItem, type UnsettledRun } from "./run-store.ts";

interface Dependencies {
  readonly db: Database;
  readonly signals: Signals;
  readonly clock: Clock;
  readonly log: Log;
  readonly shards: Shards;
  readonly events: EventRecorder;
  readonly router: RunRouter;
  /** Counts a run with a final state. */
  readonly countRun: (tenantId: string, state: ScheduleRun["state"]) => void;
  /** Signal topic for changes of schedules. */
  readonly topic: string;
}

const batchSize = 100;
/** How long the worker sleeps at most. */
const idleMs = 500;
const retryMs = 2000;
/** How long an item is attempted at least. */
const attemptsMinMs = 60_000;

/** An unfinished item and the time of the newest run that it belongs to. */
interface RunItem extends UnfinishedItem {
  readonly time: Date;
}

/** How to start runs. */
interface StartOptions {
  /** Items of earlier runs. */
  readonly unfinished: readonly RunItem[];
  /** Whether nobody can have attempted the runs before. */
  readonly isFirst: boolean;
  readonly epoch: number;
}

/** Fires schedules. */
export type ScheduleWorker = ReturnType<typeof createScheduleWorker>;

/**
 * Creates the worker of this node. It handles the schedules of the shards that this node owns. What becomes of a time is stored
 * before its item is routed, so that a node that takes over continues with the same runs.
 */
export function createScheduleWorker(dependencies: Dependencies) {
  const { db, signals, clock, log, shards, events, router, countRun, topic } = dependencies;
  const task = createRepeatedTask({
    work: sweep,
    maxWaitMs: idleMs,
    subscribe: (run) => signals.onWake(topic, run),
    onError: (error) => log.warn({ err: error }, "schedules could not be handled"),
  });

  /** Handles the schedules that are due; returns when to do so again. */
  async function sweep(): Promise<number> {
    const owned = shards.owned();
    const shardIds = [...owned.keys()];
    if (shardIds.length === 0) return idleMs;
    const nowMs = clock.now();
    const store = runStore(db.sql);
    for (let after: DueSchedule | undefined; ; ) {
      const due = await store.findDue(shardIds, nowMs, after, batchSize);
      const results = await Promise.allSettled(due.map((schedule) => handle(schedule, owned.get(schedule.shard)!)));
      const failure = results.find((result) => result.status === "rejected");
      if (failure !== undefined) log.warn({ err: failure.reason }, "a schedule could not be handled");
      after = due.at(-1);
      if (due.length < batchSize) break;
    }
    const nextMs = await store.readNextDue(shardIds, nowMs);
    return nextMs === undefined ? idleMs : Math.max(nextMs - clock.now(), 1);
  }

  /** Continues the runs of a schedule that have no result, and fires for the times that have come. */
  async function handle(schedule: DueSchedule, epoch: number): Promise<void> {
    const { tenantId, id } = schedule;
    const store = runStore(db.sql);
    const earlier = await store.unsettled(tenantId, id);
    const replaceable = await unfinishedItems(earlier);
    await start(schedule, earlier.filter(isStarting), { unfinished: replaceable, isFirst: false, epoch });
    const unsettled = earlier.some(isStarting) ? await store.unsettled(tenantId, id) : earlier;
    const unfinished = await unfinishedItems(unsettled);
    const decided = decideRuns(schedule, unsettled, new Set(unfinished.map((item) => item.id)), clock.now());
    if (decided === undefined || !(await decide(schedule, decided, epoch))) return;
    const begun = new Set(decided.begun);
    const starting = (await store.unsettled(tenantId, id)).filter((run) => begun.has(run.id));
    await start(schedule, starting, { unfinished, isFirst: true, epoch });
  }

  /** The unfinished items of runs. */
  async function unfinishedItems(runs: readonly UnsettledRun[]): Promise<readonly RunItem[]> {
    const open = runs.filter((run) => run.open);
    if (open.length === 0) return [];
    // Open runs are listed oldest first, so the newest of several runs with the same item is kept.
    const times = new Map(open.map(({ itemId, time }) => [itemId, time]));
    const items = await runStore(db.sql).unfinishedItems(open[0]!.tenantId, [...times.keys()]);
    return items.map((item) => ({ ...item, time: times.get(item.id)! }));
  }

  async function decide(schedule: DueSchedule, decided: DueRuns, epoch: number): Promise<boolean> {
    const now = new Date(clock.now());
    const stored = await db.transaction(async (tx) => {
      const current = shards.currentSql(tx, [[schedule.shard, epoch]]);
      return runStore(tx).decide({ ...decided, schedule }, current, now);
    });
    if (!stored) return false;
    for (const { state } of decided.recorded) if (isFinal(state)) countRun(schedule.tenantId, state);
    for (const _ of decided.supersededRunIds) countRun(schedule.tenantId, "skipped");
    return true;
  }

  /** Routes the items of runs, one after the other, and stores the results. */
  async function start(schedule: DueSchedule, runs: readonly UnsettledRun[], options: StartOptions): Promise<void> {
    const { unfinished, isFirst, epoch } = options;
    for (const run of runs) {
      const nowMs = clock.now();
      if (run.dueAt !== null && run.dueAt.getTime() > nowMs) continue;
      const replaced = unfinished.filter((item) => replaces(schedule, run, item));
      const untilMs = run.createdAt.getTime() + Math.max(schedule.timing.catchUpS * 1000, attemptsMinMs);
      const attempt = await router.route(run, { replaced, isFirst, nowMs, untilMs });
      if (attempt.state === "postponed") {
        await db.transaction((tx) => runStore(tx).postpone(run, attempt, new Date(nowMs + retryMs)));
      } else {
        await finish(schedule, run, attempt, epoch);
      }
    }
  }

  async function finish(schedule: DueSchedule, run: ScheduleRun, result: RunResult, epoch: number): Promise<void> {
    const finished = await db.transaction(async (tx) => {
      const nowMs = clock.now();
      const current = shards.currentSql(tx, [[schedule.shard, epoch]]);
      const done = await runStore(tx).finish(schedule, run, result, current, new Date(nowMs));
      if (done === undefined) return false;
      const entries = failureEvents(schedule, run, result, done.paused);
      await events.recordMany(tx, entries, nowMs);
      return true;
    });
    if (finished) countRun(schedule.tenantId, result.state);
  }

  return {
    /** Handles everything that is due now. */
    sweep,
    start: task.start,
    stop: task.stop,
  };
}

/** Whether a run cancels an item when it starts. A run that was postponed leaves the items of newer runs alone. */
function replaces({ timing }: DueSchedule, { cause, time }: ScheduleRun, item: RunItem): boolean {
  return timing.overlap === "cancel_running" && cause === "schedule" && item.time < time;
}

function isStarting({ state }: ScheduleRun): boolean {
  return state === "starting";
}

function isFinal(state: ScheduleRun["state"]): boolean {
  return state !== "starting" && state !== "waiting";
}

function failureEvents(schedule: DueSchedule, run: ScheduleRun, result: RunResult, paused: boolean): EventEntry[] {
  if (result.state === "routed") return [];
  const { tenantId, id: subject, name, poolId } = schedule;
  const common = { pool_id: poolId, name };
  const data = { ...common, run_id: run.id, code: result.errorCode, message: result.errorMessage };
  const failed: EventEntry = { tenantId, subject, type: "schedule.failed", data };
  if (!paused) return [failed];
  return [failed, { tenantId, subject, type: "schedule.paused", data: { ...common, reason: "failing" } }];
}
