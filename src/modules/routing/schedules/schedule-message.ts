import { fromJson, toJson } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { type RouteItem, RouteItemSchema } from "../../../../gen/service/api/routing_pb.ts";
import type { ScheduleTiming } from "../../../../gen/service/api/schedule_pb.ts";
import type { JsonObject } from "../../../platform/document/index.ts";
import { dateOf } from "../../../platform/records/index.ts";
import type { CatchUp, Overlap, Schedule, Timing } from "./domain/schedule.ts";

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

export const fromSchedule = (schedule: Schedule) => ({
  ...schedule,
  timing: fromTiming(schedule.timing),
  item: fromItem(schedule.item),
});

const fromTiming = ({ startAtMs, endAtMs, ...timing }: Timing) => ({
  ...timing,
  startAt: startAtMs === undefined ? undefined : timestampFromMs(startAtMs),
  endAt: endAtMs === undefined ? undefined : timestampFromMs(endAtMs),
});
