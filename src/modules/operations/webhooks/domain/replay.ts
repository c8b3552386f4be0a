import type { TenantId } from "../../../../platform/access/index.ts";

/** Where a replay stands. */
export type ReplayStatus = "running" | "completed" | "cancelled";

/** Which events of a time range are sent once more. */
export type ReplaySelection = "failed" | "missing" | "all";

/** The sending again of what happened in a time range. */
export interface Replay {
  readonly tenantId: TenantId;
  readonly id: string;
  readonly endpointId: string;
  readonly since: Date;
  readonly until: Date;
  readonly selection: ReplaySelection;
  readonly status: ReplayStatus;
  /** The last event that was looked at. */
  readonly position: string;
  readonly replayed: number;
  readonly createdAt: Date;
  readonly completedAt: Date | null;
}

/** What is asked for a replay. */
export type NewReplay = Pick<Replay, "since" | "until" | "selection">;

/** The longest range of a replay. */
export const rangeMsMax = 31 * 24 * 3_600_000;
