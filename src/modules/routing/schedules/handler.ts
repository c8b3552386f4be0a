import { create } from "@bufbuild/protobuf";
import { type Timestamp, timestampFromMs } from "@bufbuild/protobuf/wkt";
import {
  CreateScheduleResponseSchema,
  DeleteScheduleResponseSchema,
  FireScheduleResponseSchema,
  GetScheduleResponseSchema,
  GetScheduleRunResponseSchema,
  ListScheduleRunsResponseSchema,
  ListSchedulesResponseSchema,
  ListScheduleTimesResponseSchema,
  PauseScheduleResponseSchema,
  PreviewScheduleResponseSchema,
  ResumeScheduleResponseSchema,
  type ScheduleService as Rpc,
  UpdateScheduleResponseSchema,
} from "../../../../gen/service/api/schedule_pb.ts";
import type { Handlers } from "../../../chain/handlers.ts";
import { productionOf } from "../../../platform/access/index.ts";
import type { Cursors } from "../../../platform/cursor/index.ts";
import { readPage } from "../../../platform/paging/index.ts";
import { dateOf, expectedVersion } from "../../../platform/records/index.ts";
import type { Schedule, ScheduleRun } from "./domain/schedule.ts";
import { runStore } from "./run-store.ts";
import { fromItem, fromRun, fromSchedule, toItem, toTiming } from "./schedule-message.ts";
import type { ScheduleService } from "./schedule-service.ts";
import { scheduleStore } from "./schedule-store.ts";

const timesDefault = 10;

export function scheduleHandlers(service: ScheduleService, cursors: Cursors): Handlers<typeof Rpc> {
  return {
    async createSchedule(context, { name, timing, item, paused }) {
      const input = { name, timing: toTiming(timing!), item: toItem(item!), paused };
      const schedule = await service.createSchedule(context, input);
      return create(CreateScheduleResponseSchema, { schedule: fromSchedule(schedule) });
    },

    async getSchedule(context, { scheduleId }) {
      const schedule = await service.getSchedule(context, scheduleId);
      return create(GetScheduleResponseSchema, { schedule: fromSchedule(schedule) });
    },

    async listSchedules({ sql, tenantId, operation, principal }, request) {
      const { poolId, pausedOnly } = request;
      const inProduction = productionOf(principal);
      const page = await readPage(
        cursors,
        request,
        { tenantId, operation: operation.id, filter: [poolId, pausedOnly, inProduction] },
        ({ id }: Schedule) => id,
        (wanted) => scheduleStore(sql).list(tenantId, { poolId, pausedOnly, inProduction }, wanted),
      );
      return create(ListSchedulesResponseSchema, { ...page, schedules: page.items.map(fromSchedule) });
    },

    async updateSchedule(context, { scheduleId, name, timing, item, recordVersion }) {
      const change = { name, timing: timing && toTiming(timing), item: item && toItem(item) };
      const schedule = await service.updateSchedule(context, scheduleId, change, expectedVersion(recordVersion));
      return create(UpdateScheduleResponseSchema, { schedule: fromSchedule(schedule) });
    },

    async deleteSchedule(context, { scheduleId }) {
      const schedule = await service.deleteSchedule(context, scheduleId);
      return create(DeleteScheduleResponseSchema, { schedule: fromSchedule(schedule) });
    },

    async pauseSchedule(context, { scheduleId }) {
      const schedule = await service.pauseSchedule(context, scheduleId);
      return create(PauseScheduleResponseSchema, { schedule: fromSchedule(schedule) });
    },

    async resumeSchedule(context, { scheduleId }) {
      const schedule = await service.resumeSchedule(context, scheduleId);
      return create(ResumeScheduleResponseSchema, { schedule: fromSchedule(schedule) });
    },

    async fireSchedule(context, { scheduleId }) {
      const run = await service.fireSchedule(context, scheduleId);
      return create(FireScheduleResponseSchema, { run: fromRun(run) });
    },

    async listScheduleTimes(context, { scheduleId, count, after }) {
      const afterMs = msOf(after, context.nowMs);
      const times = await service.listTimes(context, scheduleId, afterMs, count || timesDefault);
      return create(ListScheduleTimesResponseSchema, { times: times.map(timestampFromMs) });
    },

    async previewSchedule({ nowMs }, { timing, item, after, count }) {
      const wanted = item && toItem(item);
      const preview = service.previewSchedule(toTiming(timing!), wanted, msOf(after, nowMs), count || timesDefault);
      return create(PreviewScheduleResponseSchema, {
        times: preview.times.map(timestampFromMs),
        ...(preview.item !== undefined && { item: fromItem(preview.item) }),
      });
    },

    async listScheduleRuns(context, request) {
      const { sql, tenantId, operation } = context;
      const { scheduleId, state } = request;
      await service.getSchedule(context, scheduleId);
      const page = await readPage(
        cursors,
        request,
        { tenantId, operation: operation.id, filter: [scheduleId, state] },
        ({ id }: ScheduleRun) => id,
        (wanted) => runStore(sql).list(tenantId, scheduleId, state, wanted),
      );
      return create(ListScheduleRunsResponseSchema, { ...page, runs: page.items.map(fromRun) });
    },

    async getScheduleRun(context, { scheduleId, runId }) {
      const run = await service.getRun(context, scheduleId, runId);
      return create(GetScheduleRunResponseSchema, { run: fromRun(run) });
    },
  };
}

function msOf(time: Timestamp | undefined, nowMs: number): number {
  return time === undefined ? nowMs : dateOf(time).getTime();
}
