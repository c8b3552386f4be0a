import type { TenantId } from "../../../../platform/access/index.ts";

export type ReplayStatus = "running" | "completed" | "cancelled";

/** Which events of a time range are sent again. */
export type ReplaySelection = "failed" | "missing" | "all";

/** A job that sends the events of a time range to an endpoint again. */
export interface Replay {
  readonly tenantId: TenantId;
  readonly id: string;
  readonly endpointId: string;
  readonly since: Date;
  readonly until: Date;
  readonly selection: ReplaySelection;
  readonly status: ReplayStatus;
  /** The id of the last event that was handled. */
  readonly position: string;
  readonly replayed: number;
  readonly createdAt: Date;
  readonly completedAt: Date | null;
}

export type NewReplay = Pick<Replay, "since" | "until" | "selection">;

/** Maximum time range of a replay. */
export const rangeMsMax = 31 * 24 * 3_600_000;
