import { createHash } from "node:crypto";
import { CelError } from "../../../platform/cel/index.ts";
import { jitterMs, readSchedule } from "../../../platform/cron/index.ts";
import { ulidFrom } from "../../../platform/ids/ulid.ts";
import { type DueTimes, decideDueTimes } from "./domain/due-times.ts";
import { renderItem } from "./domain/item-template.ts";
import { decideOverlap, type EarlierRuns } from "./domain/overlap.ts";
import type { Schedule } from "./domain/schedule.ts";
import type { DueSchedule, NewRun, ScheduleDecision, UnsettledRun } from "./run-store.ts";

/** Decides what happens at the due times of a schedule. */
export interface DueRuns extends Omit<ScheduleDecision, "schedule"> {
  /** The ids of the runs that start. */
  readonly begun: readonly string[];
}

/** The request of a run, or why it has none. */
type Request = Pick<NewRun, "request" | "errorCode" | "errorMessage">;

const noError = { errorCode: "", errorMessage: "" };

/**
 * Decides about the times of a schedule that have come, and about a run that waits. `unfinished` are the items of earlier runs
 * that have not ended. Returns undefined if there is nothing to store.
 */
export function decideRuns(
  schedule: DueSchedule,
  unsettled: readonly UnsettledRun[],
  unfinished: ReadonlySet<string>,
  nowMs: number,
): DueRuns | undefined {
  const due = dueTimesOf(schedule, nowMs);
  const waiting = unsettled.find(({ state }) => state === "waiting");
  const earlier = {
    unfinished: unsettled.some(({ state, open, itemId }) => state === "starting" || (open && unfinished.has(itemId))),
    waiting: waiting !== undefined,
  };
  const begun: string[] = [];
  const recorded: NewRun[] = [];
  let resumed: DueRuns["resumed"];
  if (waiting !== undefined && !earlier.unfinished) {
    resumed = { id: waiting.id, ...requestAt(schedule, waiting.time) };
    begun.push(waiting.id);
    earlier.unfinished = true;
    earlier.waiting = false;
  }
  if (due.missedMs !== undefined) recorded.push(runAt(schedule, due.missedMs, "missed", nowMs, missed(due.missedMs)));
  for (const timeMs of due.timesMs) {
    const run = decideTime(schedule, timeMs, earlier, timeMs === due.timesMs.at(-1), nowMs);
    recorded.push(run);
    if (run.state === "starting") begun.push(run.id);
    earlier.unfinished ||= run.state === "starting";
    earlier.waiting ||= run.state === "waiting";
  }
  const isReplaced = schedule.timing.overlap === "cancel_running" && recorded.some(({ state }) => state === "starting");
  const superseded = isReplaced ? unsettled.filter(isUnrouted) : [];
  const endedRunIds = unsettled.filter(({ open, itemId }) => open && !unfinished.has(itemId)).map(({ id }) => id);
  const isMoved = due.nextMs !== schedule.nextAt?.getTime();
  if (!isMoved && recorded.length === 0 && resumed === undefined && endedRunIds.length === 0) return undefined;
  const firesMs = due.nextMs === undefined ? undefined : due.nextMs + jitterMs(schedule.id, schedule.timing);
  return {
    ...{ begun, recorded, resumed, endedRunIds, supersededRunIds: superseded.map(({ id }) => id) },
    error: due.error ?? superseded.at(-1)?.errorMessage,
    nextAt: toDate(due.nextMs),
    firesAt: toDate(firesMs),
  };
}

function decideTime(schedule: Schedule, timeMs: number, earlier: EarlierRuns, isLast: boolean, nowMs: number): NewRun {
  // The next time would cancel the item at once.
  if (schedule.timing.overlap === "cancel_running" && !isLast) return runAt(schedule, timeMs, "skipped", nowMs);
  switch (decideOverlap(schedule.timing.overlap, earlier)) {
    case "skip":
      return runAt(schedule, timeMs, "skipped", nowMs);
    case "wait":
      return runAt(schedule, timeMs, "waiting", nowMs);
    case "start":
    case "replace":
      return runAt(schedule, timeMs, "starting", nowMs, requestAt(schedule, new Date(timeMs)));
  }
}

/** Whether a run for a time was attempted and is known to have no item. An item that may exist must be found first. */
function isUnrouted({ cause, state, errorCode }: UnsettledRun): boolean {
  return cause === "schedule" && state === "starting" && errorCode !== "";
}

function dueTimesOf(schedule: Schedule, nowMs: number): DueTimes & { readonly error?: string | undefined } {
  const { id, timing, nextAt } = schedule;
  const nextMs = nextAt?.getTime();
  const none = { timesMs: [], missedMs: undefined, nextMs };
  if (nextMs === undefined || nextMs + jitterMs(id, timing) > nowMs) return none;
  const times = readSchedule(timing);
  // The rules of time zones come with the runtime, which can lose a zone.
  if ("field" in times) return { ...none, nextMs: undefined, error: `timing.${times.field} ${times.message}` };
  const due = decideDueTimes(id, timing, times, nextMs, nowMs);
  return due.missedMs === undefined ? due : { ...due, error: missed(due.missedMs).errorMessage };
}

function missed(timeMs: number): Request {
  const errorMessage = `No item was routed for ${new Date(timeMs).toISOString()}: it was missed by too long.`;
  return { request: null, errorCode: "missed", errorMessage };
}

/** The request for the item of a run. A run without one fails when it starts. */
export function requestAt({ id, name, item }: Pick<Schedule, "id" | "name" | "item">, time: Date): Request {
  try {
    return { request: renderItem(item, { id, name, time }), ...noError };
  } catch (error) {
    if (!(error instanceof CelError)) throw error;
    return { request: null, errorCode: "expression_error", errorMessage: error.message };
  }
}

function runAt(
  { tenantId, id: scheduleId }: Schedule,
  timeMs: number,
  state: NewRun["state"],
  nowMs: number,
  request: Request = { request: null, ...noError },
): NewRun {
  const dueAt = state === "starting" || state === "waiting" ? new Date(nowMs) : null;
  const id = runIdOf(scheduleId, timeMs);
  return { tenantId, scheduleId, id, time: new Date(timeMs), cause: "schedule", state, dueAt, ...request };
}

/** The id of the run of a time. It follows from the schedule and the time, so that a time has one run. */
export function runIdOf(scheduleId: string, timeMs: number): string {
  return ulidFrom(timeMs, createHash("sha256").update(`${scheduleId}:${timeMs}`).digest());
}

function toDate(ms: number | undefined): Date | null {
  return ms === undefined ? null : new Date(ms);
}
