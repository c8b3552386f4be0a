// Generated from the definitions; do not edit.
import { bindOperations } from "../transport/bind.ts";
import type { CallOptions, Operation } from "../transport/operation.ts";
import type { Transport } from "../transport/transport.ts";
import type { List } from "../transport/list.ts";
import type { RouteItem, RouteItemInput } from "./routing.ts";

/** Schedules: items that are routed at the times of a cron expression. */
export interface ScheduleService {
  /** Creates a schedule. It routes items from now on. */
  create(request: CreateScheduleRequest, options?: CallOptions): Promise<Schedule>;

  /** Returns one schedule. */
  get(request: GetScheduleRequest, options?: CallOptions): Promise<Schedule>;

  /** Lists the schedules of the caller's tenant. */
  list(request?: ListSchedulesRequest, options?: CallOptions): List<Schedule>;

  /** Changes the fields that are present. Times before the change do not fire. */
  update(request: UpdateScheduleRequest, options?: CallOptions): Promise<Schedule>;

  /** Deletes a schedule and its runs. Items that it routed stay in their queues. */
  delete(request: DeleteScheduleRequest, options?: CallOptions): Promise<Schedule>;

  /** Pauses a schedule: its times pass without a run. */
  pause(request: PauseScheduleRequest, options?: CallOptions): Promise<Schedule>;

  /** Resumes a schedule. Times that passed meanwhile do not fire. */
  resume(request: ResumeScheduleRequest, options?: CallOptions): Promise<Schedule>;

  /** Fires a schedule now, whether it is paused or not, and whatever its overlap policy is. The item is routed right after the call: read the run to learn the id of the item. */
  fire(request: FireScheduleRequest, options?: CallOptions): Promise<ScheduleRun>;

  /** Lists the next times of a schedule. A paused schedule has none. */
  listTimes(request: ListScheduleTimesRequest, options?: CallOptions): Promise<ListScheduleTimesResponse>;

  /** Shows the next times of a cron expression, and the first item. Nothing is stored and no item is routed. */
  preview(request: PreviewScheduleRequest, options?: CallOptions): Promise<PreviewScheduleResponse>;

  /** Lists the last runs of a schedule, newest first. The last 200 are kept. */
  listRuns(request: ListScheduleRunsRequest, options?: CallOptions): List<ScheduleRun>;

  /** Returns one run of a schedule. */
  getRun(request: GetScheduleRunRequest, options?: CallOptions): Promise<ScheduleRun>;
}

const scheduleServiceOperations = {
  create: { verb: "POST", path: "/api/schedules", body: "*", keyed: true },
  get: { verb: "GET", path: "/api/schedules/{schedule_id}" },
  list: { verb: "GET", path: "/api/schedules", result: "cursor" },
  update: { verb: "PATCH", path: "/api/schedules/{schedule_id}", body: "*", keyed: true },
  delete: { verb: "DELETE", path: "/api/schedules/{schedule_id}", keyed: true },
  pause: { verb: "POST", path: "/api/schedules/{schedule_id}/pause", body: "*", keyed: true },
  resume: { verb: "POST", path: "/api/schedules/{schedule_id}/resume", body: "*", keyed: true },
  fire: { verb: "POST", path: "/api/schedules/{schedule_id}:fire", body: "*", keyed: true },
  listTimes: { verb: "GET", path: "/api/schedules/{schedule_id}/times" },
  preview: { verb: "POST", path: "/api/schedules:preview", body: "*" },
  listRuns: { verb: "GET", path: "/api/schedules/{schedule_id}/runs", result: "cursor" },
  getRun: { verb: "GET", path: "/api/schedules/{schedule_id}/runs/{run_id}" },
} as const satisfies Record<keyof ScheduleService, Operation>;

/** Creates the service over a transport. */
export function createScheduleService(transport: Transport): ScheduleService {
  return bindOperations<ScheduleService>(transport, scheduleServiceOperations);
}

/** The times of a schedule. */
export type ScheduleTimingInput = {
  /** A cron expression with five fields, or six with seconds first: minute, hour, day of month, month, day of week. */
  readonly cron: string;
  /** The IANA time zone of the expression (for example: Europe/Berlin); UTC when empty. A local time that does not exist fires right after, and one that occurs twice fires once. An expression for every hour fires by elapsed time. */
  readonly timezone?: string;
  /** What happens while the item of an earlier run is unfinished: skip (default), allow, cancel_running, which cancels that item, or queue_one, which fires once when the item has ended. */
  readonly overlap?: "" | "skip" | "allow" | "cancel_running" | "queue_one";
  /** Which of several missed times still fire: latest (default) fires once for the last of them, all fires for each. */
  readonly catch_up?: "" | "latest" | "all";
  /** How late a missed time may still fire; default 60. */
  readonly catch_up_s?: number;
  /** Delays all firings of the schedule by the same part of this time, so that schedules with the same times spread. */
  readonly jitter_s?: number;
  /** It does not fire before this time. */
  readonly start_at?: string | Date;
  /** It does not fire after this time. */
  readonly end_at?: string | Date;
};

/** Request to create a schedule. */
export type CreateScheduleRequest = {
  /** The name, unique in the environment of the pool. */
  readonly name: string;
  /** The times. */
  readonly timing: ScheduleTimingInput;
  /** The item. It must name its pool, and has no not_before. */
  readonly item: RouteItemInput;
  /** Creates the schedule paused. */
  readonly paused?: boolean;
};

/** Routes an item at each of its times. */
export type Schedule = {
  /** The id, a ULID. */
  readonly id: string;
  /** The owning tenant. */
  readonly tenant_id: string;
  /** The environment of the pool. */
  readonly environment_id: string;
  /** The name, unique in the environment. */
  readonly name: string;
  /** The times. */
  readonly timing?: ScheduleTiming;
  /** The item that is routed. Its key, attributes and payload are templates that may use schedule.time, schedule.id and schedule.name. */
  readonly item?: RouteItem;
  /** Whether it is paused. */
  readonly paused: boolean;
  /** Why it is paused: manual, or failing after 20 permanent failures in a row; empty if it is not paused. */
  readonly paused_reason: string;
  /** Who paused it; empty if the service did. */
  readonly paused_by: string;
  /** The next time; absent if there is none. */
  readonly next_at?: string;
  /** When it last routed an item. */
  readonly last_fired_at?: string;
  /** The item that it routed last; empty if it never did. */
  readonly last_item_id: string;
  /** Why it last routed no item; empty after a success. */
  readonly last_error: string;
  /** The number of permanent failures since the last success. */
  readonly consecutive_failures: number;
  /** When it was created. */
  readonly created_at?: string;
  /** When it last changed. */
  readonly updated_at?: string;
  /** The version of the record; send it back to make an update conditional. */
  readonly record_version: number;
};

/** The times of a schedule. */
export type ScheduleTiming = {
  /** A cron expression with five fields, or six with seconds first: minute, hour, day of month, month, day of week. */
  readonly cron: string;
  /** The IANA time zone of the expression (for example: Europe/Berlin); UTC when empty. A local time that does not exist fires right after, and one that occurs twice fires once. An expression for every hour fires by elapsed time. */
  readonly timezone: string;
  /** What happens while the item of an earlier run is unfinished: skip (default), allow, cancel_running, which cancels that item, or queue_one, which fires once when the item has ended. */
  readonly overlap: string;
  /** Which of several missed times still fire: latest (default) fires once for the last of them, all fires for each. */
  readonly catch_up: string;
  /** How late a missed time may still fire; default 60. */
  readonly catch_up_s?: number;
  /** Delays all firings of the schedule by the same part of this time, so that schedules with the same times spread. */
  readonly jitter_s: number;
  /** It does not fire before this time. */
  readonly start_at?: string;
  /** It does not fire after this time. */
  readonly end_at?: string;
};

/** Identifies a schedule. */
export type GetScheduleRequest = {
  /** The schedule's id. */
  readonly schedule_id: string;
};

/** Request for a page of schedules. */
export type ListSchedulesRequest = {
  /** Maximum number of items per page. */
  readonly limit?: number;
  /** Cursor from a previous response; the first page when empty. */
  readonly cursor?: string;
  /** Number of items to skip. */
  readonly offset?: number;
  /** Only schedules of this pool. */
  readonly pool_id?: string;
  /** Only schedules that are paused. */
  readonly paused_only?: boolean;
  /** Only those of this environment: its id or its key. */
  readonly environment_id?: string;
};

/** Changes the fields that are present. */
export type UpdateScheduleRequest = {
  /** The schedule's id. */
  readonly schedule_id: string;
  /** The name, unique in the environment of the pool. */
  readonly name?: string;
  /** The times. They replace all earlier ones. */
  readonly timing?: ScheduleTimingInput;
  /** The item. It replaces the earlier one. */
  readonly item?: RouteItemInput;
  /** The version that the record must have. */
  readonly record_version?: number;
};

/** Identifies the schedule to delete. */
export type DeleteScheduleRequest = {
  /** The schedule's id. */
  readonly schedule_id: string;
};

/** Selects the schedule to pause. */
export type PauseScheduleRequest = {
  /** The schedule's id. */
  readonly schedule_id: string;
};

/** Selects the schedule to resume. */
export type ResumeScheduleRequest = {
  /** The schedule's id. */
  readonly schedule_id: string;
};

/** Selects the schedule to fire. */
export type FireScheduleRequest = {
  /** The schedule's id. */
  readonly schedule_id: string;
};

/** One firing of a schedule. */
export type ScheduleRun = {
  /** The id, a ULID. It follows from the schedule and its time, so that no time has two runs. */
  readonly id: string;
  /** The schedule. */
  readonly schedule_id: string;
  /** The time of the schedule, or when somebody fired it. */
  readonly time?: string;
  /** What fired it: schedule or manual. */
  readonly cause: string;
  /** starting: the item is being routed. waiting: an earlier item is unfinished. routed: the item was accepted. skipped: an earlier item was unfinished, or a newer run replaced it before its item could be routed. missed: no node handled the time before catch_up_s had passed. failed: nothing was routed. */
  readonly state: string;
  /** The item; empty if there is none. */
  readonly item_id: string;
  /** The decision; empty if there is none. */
  readonly decision_id: string;
  /** The outcome of the decision, such as routed, queued, held or deduplicated. */
  readonly outcome: string;
  /** A stable code for the reason of a failure, also of the last attempt while the state is starting. */
  readonly error_code: string;
  /** The reason of a failure. */
  readonly error_message: string;
  /** When the run was recorded. */
  readonly created_at?: string;
  /** When it got its final state. */
  readonly ended_at?: string;
};

/** Selects the schedule and the number of times. */
export type ListScheduleTimesRequest = {
  /** The schedule's id. */
  readonly schedule_id: string;
  /** How many times to list; 10 when 0. */
  readonly count?: number;
  /** List times after this one; now when absent. */
  readonly after?: string | Date;
};

/** The next times. */
export type ListScheduleTimesResponse = {
  /** The times, without jitter. */
  readonly times: readonly string[];
};

/** The times and the item to try. */
export type PreviewScheduleRequest = {
  /** The times. */
  readonly timing: ScheduleTimingInput;
  /** The item; optional. */
  readonly item?: RouteItemInput;
  /** How many times to list; 10 when 0. */
  readonly count?: number;
  /** List times after this one; now when absent. */
  readonly after?: string | Date;
};

/** What the schedule would do. */
export type PreviewScheduleResponse = {
  /** The next times, without jitter. */
  readonly times: readonly string[];
  /** The item of the first time; absent if the request has no item, or if there are no times. */
  readonly item?: RouteItem;
};

/** Request for a page of runs. */
export type ListScheduleRunsRequest = {
  /** Maximum number of items per page. */
  readonly limit?: number;
  /** Cursor from a previous response; the first page when empty. */
  readonly cursor?: string;
  /** Number of items to skip. */
  readonly offset?: number;
  /** The schedule's id. */
  readonly schedule_id: string;
  /** Only runs in this state. */
  readonly state?: "" | "starting" | "waiting" | "routed" | "skipped" | "missed" | "failed";
};

/** Identifies a run. */
export type GetScheduleRunRequest = {
  /** The schedule's id. */
  readonly schedule_id: string;
  /** The run's id. */
  readonly run_id: string;
};
