import { createScheduleWorker } from "../../../platform/cron/index.ts";
import type { Shards } from "../../../platform/shards/index.ts";
import type { PlatformServices } from "../../area.ts";
import type { EventEntry, EventRecorder } from "../../operations/index.ts";
import type { ScheduleRun } from "./domain/schedule.ts";
import { type DueRuns, decideRuns } from "./due-runs.ts";
import type { RunRouter } from "./run-router.ts";
import { type DueSchedule, type RunResult, runStore, type UnfinishedItem, type UnsettledRun } from "./run-store.ts";

interface Dependencies extends Pick<PlatformServices, "db" | "signals" | "clock" | "log"> {
  readonly shards: Shards;
  readonly events: EventRecorder;
  readonly router: RunRouter;
  /** Counts a run with a final state. */
  readonly countRun: (tenantId: string, state: ScheduleRun["state"]) => void;
  /** Signal topic for changes of schedules. */
  readonly topic: string;
}

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

/**
 * Creates the worker that fires item schedules on this node. The decision about a time is stored before its item is routed, so
 * that a node that takes over continues with the same runs.
 */
export function createItemScheduleWorker(dependencies: Dependencies) {
  const { db, clock, shards, events, router, countRun, topic } = dependencies;
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

  const { findDue, nextDue } = runStore(db.sql);
  return createScheduleWorker<DueSchedule>(dependencies, { name: "schedule", topic, findDue, nextDue, handle });
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
