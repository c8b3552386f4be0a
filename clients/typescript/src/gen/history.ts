// Generated from the definitions; do not edit.
import { bindOperations } from "../transport/bind.ts";
import type { CallOptions, Operation } from "../transport/operation.ts";
import type { Transport } from "../transport/transport.ts";

/** History: coarse counts of pools, workflows and notification channels over the last seven days, for charts. */
export interface HistoryService {
  /** Returns the counts of one pool, workflow or channel over a time range that ends now, or the sums of all that the caller may see, with what happened in that time. Points of pools are complete to about a minute ago, the others to about ten seconds. */
  get(request: GetHistoryRequest, options?: CallOptions): Promise<History>;
}

const historyServiceOperations = {
  get: { verb: "GET", path: "/api/history" },
} as const satisfies Record<keyof HistoryService, Operation>;

/** Creates the service over a transport. */
export function createHistoryService(transport: Transport): HistoryService {
  return bindOperations<HistoryService>(transport, historyServiceOperations);
}

/** Selects a record and a time range. */
export type GetHistoryRequest = {
  /** pool, workflow or channel. */
  readonly source: "pool" | "workflow" | "channel";
  /** The id of the pool, the id or the key of the workflow, or the name of the channel, such as email; the sums of all when empty. */
  readonly source_id?: string;
  /** The time range: 15m and 1h have a point for each minute, 24h one for ten minutes, 7d one for an hour. 1h when empty. */
  readonly range?: "" | "15m" | "1h" | "24h" | "7d";
  /** Only pools of this environment: its id or its key. Workflows and channels belong to no environment. */
  readonly environment_id?: string;
};

/** Counts over a time range. */
export type History = {
  /** pool, workflow or channel. */
  readonly source: string;
  /** The record; empty for the sums of all. */
  readonly source_id: string;
  /** The start of the range. */
  readonly start?: string;
  /** Seconds between two points. */
  readonly step_s: number;
  /** The points, in the order of time. A part of the range that the service has not counted has none. */
  readonly points: readonly HistoryCounts[];
  /** What happened in the range, in the order of time; the newest 200 marks of events. */
  readonly marks: readonly HistoryMark[];
};

/** The counts of a part of a time range. */
export type HistoryCounts = {
  /** The start of the part. */
  readonly at?: string;
  /** How many seconds of the part have been counted: fewer than its length while it is going on, or if the service was away. */
  readonly covered_s: number;
  /** Pools: the highest number of waiting items. */
  readonly waiting: number;
  /** Pools: the highest number of items in progress. */
  readonly in_progress: number;
  /** Pools: the highest age of the oldest waiting item, in seconds. */
  readonly oldest_age_s: number;
  /** Pools: items accepted. Workflows: runs started. Channels: messages sent. */
  readonly started: number;
  /** Pools: items completed. Workflows: runs that succeeded. Channels: messages that their provider reported as delivered. */
  readonly completed: number;
  /** Pools: attempts that failed. Workflows: runs that failed or timed out. Channels: messages that failed. */
  readonly failed: number;
  /** Pools: items that became dead letters. */
  readonly dead_lettered: number;
};

/** Something that happened at a time of a chart. */
export type HistoryMark = {
  /** version.started, promotion.promoted or promotion.rolled_back; for pools also queue.paused or queue.resumed. */
  readonly kind: string;
  /** When it happened. */
  readonly at?: string;
  /** The version, or the name of the promotion or the pool. */
  readonly name: string;
  /** The promotion or the pool; empty for a version. */
  readonly subject_id: string;
};
