import { create, fromJson, toJson } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { type RouteItem, RouteItemSchema } from "../../../../gen/service/api/routing_pb.ts";
import {
  type ScheduleRun as RunMessage,
  type Schedule as ScheduleMessage,
  ScheduleRunSchema,
  ScheduleSchema,
  type ScheduleTiming,
  ScheduleTimingSchema,
} from "../../../../gen/service/api/schedule_pb.ts";
import type { JsonObject } from "../../../platform/document/index.ts";
import { dateOf, optionalTime, stampFields } from "../../../platform/records/index.ts";
import type { CatchUp, Overlap, Schedule, ScheduleRun, Timing } from "./domain/schedule.ts";

const catchUpSDefault = 60;

/** Reads the times of a schedule. */
export function toTiming(timing: ScheduleTiming): Timing {
  const { cron, timezone, overlap, catchUp, catchUpS, jitterS, startAt, endAt } = timing;
  return {
    cron,
    timezone: timezone || "UTC",
    overlap: (overlap || "skip") as Overlap,
    catchUp: (catchUp || "latest") as CatchUp,
    catchUpS: catchUpS ?? catchUpSDefault,
    jitterS,
    startAtMs: startAt && dateOf(startAt).getTime(),
    endAtMs: endAt && dateOf(endAt).getTime(),
  };
}

/** Converts an item of a request to its JSON form. */
export function toItem(item: RouteItem): JsonObject {
  return toJson(RouteItemSchema, item, { useProtoFieldName: true }) as JsonObject;
}

/** Converts the JSON form of an item to its message. */
export function fromItem(item: JsonObject): RouteItem {
  return fromJson(RouteItemSchema, item as never);
}

export function fromSchedule(schedule: Schedule): ScheduleMessage {
  return create(ScheduleSchema, {
    id: schedule.id,
    tenantId: schedule.tenantId,
    environmentId: schedule.environmentId,
    name: schedule.name,
    timing: fromTiming(schedule.timing),
    item: fromItem(schedule.item),
    paused: schedule.paused,
    pausedReason: schedule.pausedReason,
    pausedBy: schedule.pausedBy,
    nextAt: optionalTime(schedule.nextAt),
    lastFiredAt: optionalTime(schedule.lastFiredAt),
    lastItemId: schedule.lastItemId,
    lastError: schedule.lastError,
    consecutiveFailures: schedule.consecutiveFailures,
    ...stampFields(schedule),
  });
}

function fromTiming({ startAtMs, endAtMs, ...timing }: Timing): ScheduleTiming {
  return create(ScheduleTimingSchema, {
    ...timing,
    ...(startAtMs !== undefined && { startAt: timestampFromMs(startAtMs) }),
    ...(endAtMs !== undefined && { endAt: timestampFromMs(endAtMs) }),
  });
}

export function fromRun(run: ScheduleRun): RunMessage {
  const { id, scheduleId, cause, state, itemId, decisionId, outcome, errorCode, errorMessage } = run;
  return create(ScheduleRunSchema, {
    ...{ id, scheduleId, cause, state, itemId, decisionId, outcome, errorCode, errorMessage },
    time: optionalTime(run.time),
    createdAt: optionalTime(run.createdAt),
    endedAt: optionalTime(run.endedAt),
  });
}
