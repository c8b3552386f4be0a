import type { Context } from "../../../chain/call.ts";
import { fail, invalid } from "../../../errors/index.ts";
import { requireEnvironmentAccess } from "../../../platform/access/index.ts";
import { type CronTimes, jitterMs, listTimes, readSchedule } from "../../../platform/cron/index.ts";
import { lockFor, notFound, unchangedRecord, updateRefusal } from "../../../platform/db/index.ts";
import type { JsonObject } from "../../../platform/document/index.ts";
import { ulid } from "../../../platform/ids/ulid.ts";
import { changedFields, isEmptyChange } from "../../../platform/records/index.ts";
import { shardOf } from "../../../platform/shards/index.ts";
import type { EventRecorder } from "../../operations/index.ts";
import type { PoolReader } from "../pools/index.ts";
import { checkItem } from "./domain/item-template.ts";
import { type Schedule, type ScheduleRun, schedulesMax, shardCount, type Timing } from "./domain/schedule.ts";
import { requestAt } from "./due-runs.ts";
import { runStore } from "./run-store.ts";
import { type SchedulePosition, scheduleStore } from "./schedule-store.ts";

export type ScheduleInput = Pick<Schedule, "name" | "timing" | "item" | "paused">;

/** The fields that an update can change. */
export type ScheduleChange = Partial<Omit<ScheduleInput, "paused">>;

interface Dependencies {
  readonly events: EventRecorder;
  readonly pools: Pick<PoolReader, "requirePool">;
  /** Wakes the nodes that fire schedules, after a change of schedules. */
  readonly wakeWorkers: () => void;
}

const noPosition: SchedulePosition = { nextAt: null, firesAt: null };

export type ScheduleService = ReturnType<typeof createScheduleService>;

export function createScheduleService({ events, pools, wakeWorkers }: Dependencies) {
  async function getSchedule(context: Context, id: string): Promise<Schedule> {
    return requireAccess(context, await scheduleStore(context.sql).find(context.tenantId, id));
  }

  async function requireFreeName(context: Context, environmentId: string, name: string, id: string): Promise<void> {
    if (!(await scheduleStore(context.sql).isNameTaken(context.tenantId, environmentId, name, id))) return;
    throw fail("ALREADY_EXISTS", { public: `The environment already has a schedule named "${name}".` });
  }

  /** Checks an item, and finds the environment of its pool. */
  async function environmentOf(context: Context, item: JsonObject) {
    checkItem(item);
    const { pool, environmentKey } = await pools.requirePool(context, item.pool_id as string);
    if (pool.status === "archived") throw notFound("pool");
    return { poolId: pool.id as string, environmentId: pool.environmentId as string, environmentKey };
  }

  /** Pauses or resumes a schedule. */
  async function setPaused(context: Context, id: string, paused: boolean): Promise<Schedule> {
    const { sql, tenantId, nowMs, principal } = context;
    const store = scheduleStore(sql);
    const current = requireAccess(context, await store.lock(tenantId, id));
    if (current.paused === paused) return current;
    const now = new Date(nowMs);
    const change = {
      paused,
      pausedReason: paused ? ("manual" as const) : ("" as const),
      pausedBy: paused ? principal.subject : "",
      ...(paused ? noPosition : { ...positionAt(id, current.timing, nowMs), consecutiveFailures: 0 }),
      generation: current.generation + 1,
    };
    const schedule = (await store.update(tenantId, id, change, undefined, now))!;
    if (paused) await runStore(sql).skipWaiting(tenantId, id, now);
    await store.refreshDue(tenantId, id);
    const data = { pool_id: schedule.poolId, name: schedule.name };
    if (paused) await events.record(context, "schedule.paused", id, { ...data, reason: "manual" });
    else await events.record(context, "schedule.resumed", id, data);
    context.afterCommit(wakeWorkers);
    return schedule;
  }

  return {
    getSchedule,

    async createSchedule(context: Context, input: ScheduleInput): Promise<Schedule> {
      const { sql, tenantId, nowMs, principal, afterCommit } = context;
      const place = await environmentOf(context, input.item);
      const store = scheduleStore(sql);
      await lockFor(sql, "routing_schedules", tenantId);
      if ((await store.count(tenantId)) >= schedulesMax) {
        throw fail("FAILED_PRECONDITION", {
          public: `A tenant can have at most ${schedulesMax} schedules. Delete one first.`,
        });
      }
      const id = ulid(nowMs);
      await requireFreeName(context, place.environmentId, input.name, id);
      const position = positionAt(id, input.timing, nowMs);
      const { name, timing, item, paused } = input;
      const schedule = await store.insert(
        {
          ...{ tenantId, id, ...place, name, timing, item, paused },
          pausedReason: paused ? "manual" : "",
          pausedBy: paused ? principal.subject : "",
          createdAt: new Date(nowMs),
        },
        shardOf(tenantId, shardCount),
        paused ? noPosition : position,
      );
      const data = { pool_id: place.poolId, name, cron: timing.cron };
      await events.record(context, "schedule.created", id, data);
      afterCommit(wakeWorkers);
      return schedule;
    },

    async updateSchedule(context: Context, id: string, change: ScheduleChange, expectedVersion: number | undefined) {
      const { sql, tenantId, nowMs, afterCommit } = context;
      if (isEmptyChange(change)) return unchangedRecord(await getSchedule(context, id), expectedVersion, "schedule");
      const store = scheduleStore(sql);
      const current = requireAccess(context, await store.lock(tenantId, id));
      const place = change.item === undefined ? current : await environmentOf(context, change.item);
      const { name = current.name } = change;
      await requireFreeName(context, place.environmentId, name, id);
      const moved = change.timing && { ...positionAt(id, change.timing, nowMs), generation: current.generation + 1 };
      const { poolId, environmentId, environmentKey } = place;
      const now = new Date(nowMs);
      const stored = { ...change, poolId, environmentId, environmentKey, ...(!current.paused && moved) };
      const schedule = await store.update(tenantId, id, stored, expectedVersion, now);
      if (schedule === undefined) throw updateRefusal(current, "schedule");
      if (change.timing !== undefined) await runStore(sql).skipWaiting(tenantId, id, now);
      await store.refreshDue(tenantId, id);
      const data = { pool_id: poolId, name, fields: changedFields(change) };
      await events.record(context, "schedule.updated", id, data);
      afterCommit(wakeWorkers);
      return schedule;
    },

    async deleteSchedule(context: Context, id: string): Promise<Schedule> {
      const { sql, tenantId } = context;
      const store = scheduleStore(sql);
      const schedule = requireAccess(context, await store.lock(tenantId, id));
      await store.remove(tenantId, id);
      const data = { pool_id: schedule.poolId, name: schedule.name };
      await events.record(context, "schedule.deleted", id, data);
      return schedule;
    },

    pauseSchedule: (context: Context, id: string) => setPaused(context, id, true),
    resumeSchedule: (context: Context, id: string) => setPaused(context, id, false),

    /** Records a run that starts now. The owner of the schedule routes its item, as for a time of the schedule. */
    async fireSchedule(context: Context, id: string): Promise<ScheduleRun> {
      const { sql, tenantId, nowMs, afterCommit } = context;
      const store = scheduleStore(sql);
      const schedule = requireAccess(context, await store.lock(tenantId, id));
      const time = new Date(nowMs);
      const runId = ulid(nowMs);
      const run = {
        tenantId,
        scheduleId: id,
        id: runId,
        time,
        cause: "manual",
        state: "starting",
        dueAt: time,
      } as const;
      await runStore(sql).insertRuns([{ ...run, ...requestAt(schedule, time) }], time);
      await store.refreshDue(tenantId, id);
      const data = { pool_id: schedule.poolId, name: schedule.name, run_id: runId };
      await events.record(context, "schedule.fired", id, data);
      afterCommit(wakeWorkers);
      return (await runStore(sql).find(tenantId, id, runId))!;
    },

    async listTimes(context: Context, id: string, afterMs: number, count: number): Promise<number[]> {
      const { paused, timing } = await getSchedule(context, id);
      return paused ? [] : listTimes(requireTimes(timing), Math.max(afterMs, context.nowMs), count);
    },

    /** The next times of a schedule that does not exist, and its first item. */
    previewSchedule(timing: Timing, item: JsonObject | undefined, afterMs: number, count: number) {
      const times = listTimes(requireTimes(timing), afterMs, count);
      if (item === undefined) return { times, item: undefined };
      checkItem(item);
      const [first] = times;
      if (first === undefined) return { times, item: undefined };
      const { request, errorMessage } = requestAt({ id: "preview", name: "preview", item }, new Date(first));
      if (request === null) throw invalid("item", "cel.evaluation", `cannot be evaluated: ${errorMessage}`);
      return { times, item: request };
    },

    async getRun(context: Context, scheduleId: string, runId: string): Promise<ScheduleRun> {
      await getSchedule(context, scheduleId);
      const run = await runStore(context.sql).find(context.tenantId, scheduleId, runId);
      if (run === undefined) throw notFound("schedule run");
      return run;
    },
  };
}

/** The position of a schedule that fires from now on. Throws INVALID_ARGUMENT for times that cannot be read. */
function positionAt(id: string, timing: Timing, nowMs: number): SchedulePosition {
  const nextMs = requireTimes(timing).after(nowMs);
  if (nextMs === undefined) return noPosition;
  return { nextAt: new Date(nextMs), firesAt: new Date(nextMs + jitterMs(id, timing)) };
}

function requireTimes(timing: Timing): CronTimes {
  const { startAtMs, endAtMs } = timing;
  if (startAtMs !== undefined && endAtMs !== undefined && endAtMs < startAtMs) {
    throw invalid("timing.end_at", "after", "must not be before start_at");
  }
  const times = readSchedule(timing);
  if ("field" in times) throw invalid(`timing.${times.field}`, times.field, times.message);
  return times;
}

function requireAccess(context: Context, schedule: Schedule | undefined): Schedule {
  if (schedule === undefined) throw notFound("schedule");
  requireEnvironmentAccess(context, schedule.environmentKey);
  return schedule;
}
