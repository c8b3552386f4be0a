import type { TenantId } from "../../../../platform/access/index.ts";
import type { ScheduleTimes } from "../../../../platform/cron/index.ts";
import type { JsonObject } from "../../../../platform/document/index.ts";

/** Policy for a due time while the item of an earlier run is unfinished. */
export type Overlap = "skip" | "allow" | "cancel_running" | "queue_one";

/** Which of several missed times fire. */
export type CatchUp = "latest" | "all";

/** The times of a schedule, with its overlap and catch-up policies. */
export interface Timing extends ScheduleTimes {
  readonly overlap: Overlap;
  readonly catchUp: CatchUp;
}

/** Routes an item at each of its times. */
export interface Schedule {
  readonly tenantId: TenantId;
  readonly id: string;
  readonly environmentId: string;
  readonly environmentKey: string;
  readonly poolId: string;
  readonly name: string;
  readonly timing: Timing;
  /** The item in its JSON form, with templates. */
  readonly item: JsonObject;
  readonly paused: boolean;
  readonly pausedReason: "" | "manual" | "failing";
  readonly pausedBy: string;
  readonly generation: number;
  readonly nextAt: Date | null;
  readonly lastFiredAt: Date | null;
  readonly lastItemId: string;
  readonly lastError: string;
  readonly consecutiveFailures: number;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly recordVersion: number;
}

/**
 * The state of a run. starting: its item is being routed. waiting: it starts when an earlier item has ended. All other states
 * are final.
 */
export type RunState = "starting" | "waiting" | "routed" | "skipped" | "missed" | "failed";

/** One firing of a schedule. */
export interface ScheduleRun {
  readonly tenantId: TenantId;
  readonly scheduleId: string;
  readonly id: string;
  readonly time: Date;
  readonly cause: "schedule" | "manual";
  readonly state: RunState;
  /** The request to route, while it has no result. */
  readonly request: JsonObject | null;
  readonly itemId: string;
  readonly decisionId: string;
  readonly outcome: string;
  readonly errorCode: string;
  readonly errorMessage: string;
  readonly createdAt: Date;
  readonly endedAt: Date | null;
}

/** Maximum number of schedules per tenant. */
export const schedulesMax = 1000;

/** The number of permanent failures in a row after which a schedule is paused. */
export const failuresMax = 20;

/** The number of runs with a final state that are kept for each schedule. */
export const runsKept = 200;

/** The number of shards that schedules are divided into. */
export const shardCount = 16;
