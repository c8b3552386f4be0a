import { fromJson, toJson } from "@bufbuild/protobuf";
import { type Timestamp, timestampFromMs } from "@bufbuild/protobuf/wkt";
import { type RouteItem, RouteItemSchema } from "../../../../gen/service/api/routing_pb.ts";
import type { ScheduleService as Rpc, ScheduleTiming } from "../../../../gen/service/api/schedule_pb.ts";
import type { Context } from "../../../chain/call.ts";
import type { Handlers } from "../../../chain/handlers.ts";
import { productionOf } from "../../../platform/access/index.ts";
import type { JsonObject } from "../../../platform/document/index.ts";
import { dateOf, expectedVersion } from "../../../platform/records/index.ts";
import { ofEnvironment } from "../pools/index.ts";
import type { CatchUp, Overlap, Schedule, Timing } from "./domain/schedule.ts";
import { runStore } from "./run-store.ts";
import type { ScheduleService } from "./schedule-service.ts";
import { scheduleStore } from "./schedule-store.ts";

const timesDefault = 10;
const catchUpSDefault = 60;

export function scheduleHandlers(service: ScheduleService): Handlers<typeof Rpc> {
  const responding =
    (act: ScheduleService["getSchedule"]) =>
    async (context: Context, { scheduleId }: { readonly scheduleId: string }) => ({
      schedule: fromSchedule(await act(context, scheduleId)),
    });

  return {
    getSchedule: responding(service.getSchedule),
    deleteSchedule: responding(service.deleteSchedule),
    pauseSchedule: responding(service.pauseSchedule),
    resumeSchedule: responding(service.resumeSchedule),

    async createSchedule(context, { name, timing, item, paused }) {
      const input = { name, timing: toTiming(timing!), item: toItem(item!), paused };
      return { schedule: fromSchedule(await service.createSchedule(context, input)) };
    },

    async listSchedules(context, request) {
      const { sql, tenantId, principal } = context;
      const { poolId, pausedOnly, environmentId } = request;
      const inProduction = productionOf(principal);
      const page = await context.page(
        "schedules",
        request,
        [poolId, pausedOnly, environmentId, inProduction],
        (wanted) =>
          scheduleStore(sql).list(tenantId, { poolId, paused: pausedOnly || undefined, inProduction }, wanted, {
            where: ofEnvironment(sql, tenantId, environmentId),
          }),
      );
      return { ...page, schedules: page.schedules.map(fromSchedule) };
    },

    async updateSchedule(context, { scheduleId, name, timing, item, recordVersion }) {
      const change = { name, timing: timing && toTiming(timing), item: item && toItem(item) };
      const schedule = await service.updateSchedule(context, scheduleId, change, expectedVersion(recordVersion));
      return { schedule: fromSchedule(schedule) };
    },

    async fireSchedule(context, { scheduleId }) {
      return { run: await service.fireSchedule(context, scheduleId) };
    },

    async listScheduleTimes(context, { scheduleId, count, after }) {
      const afterMs = msOf(after, context.nowMs);
      const times = await service.listTimes(context, scheduleId, afterMs, count || timesDefault);
      return { times: times.map(timestampFromMs) };
    },

    async previewSchedule({ nowMs }, { timing, item, after, count }) {
      const wanted = item && toItem(item);
      const preview = service.previewSchedule(toTiming(timing!), wanted, msOf(after, nowMs), count || timesDefault);
      return { times: preview.times.map(timestampFromMs), item: preview.item && fromItem(preview.item) };
    },

    async listScheduleRuns(context, request) {
      const { sql, tenantId } = context;
      const { scheduleId, state } = request;
      await service.getSchedule(context, scheduleId);
      return context.page("runs", request, [scheduleId, state], (wanted) =>
        runStore(sql).list(tenantId, scheduleId, state, wanted),
      );
    },

    async getScheduleRun(context, { scheduleId, runId }) {
      return { run: await service.getRun(context, scheduleId, runId) };
    },
  };
}

function msOf(time: Timestamp | undefined, nowMs: number): number {
  return time === undefined ? nowMs : dateOf(time).getTime();
}

/** Reads the times of a schedule. */
function toTiming(timing: ScheduleTiming): Timing {
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
function toItem(item: RouteItem): JsonObject {
  return toJson(RouteItemSchema, item, { useProtoFieldName: true }) as JsonObject;
}

/** Converts the JSON form of an item to its message. */
function fromItem(item: JsonObject): RouteItem {
  return fromJson(RouteItemSchema, item as never);
}

const fromSchedule = (schedule: Schedule) => ({
  ...schedule,
  timing: fromTiming(schedule.timing),
  item: fromItem(schedule.item),
});

const fromTiming = ({ startAtMs, endAtMs, ...timing }: Timing) => ({
  ...timing,
  startAt: startAtMs === undefined ? undefined : timestampFromMs(startAtMs),
  endAt: endAtMs === undefined ? undefined : timestampFromMs(endAtMs),
});
