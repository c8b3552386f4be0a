import type { Json } from "../../definitions/index.ts";
import type { RunError } from "./engine/state.ts";

/** How a run was started. */
export interface RunOrigin {
  /** The key of its environment. */
  readonly environment: string;
  /** The key of its definition. */
  readonly definition: string;
  /** The subject of the caller. */
  readonly by: string;
  /** What it is about, to find it by. */
  readonly attributes?: Readonly<Record<string, string>>;
  readonly via: "api" | "schedule" | "event" | "replay" | "subworkflow" | "continue_as_new";
  /** The step of another run that waits for it. */
  readonly parent?: { readonly stepKey: string; readonly attempt: number; readonly depth: number };
  /** The trigger that started it or the runs that it follows from, and the number of triggers in that chain. */
  readonly trigger?: { readonly id: string; readonly depth: number };
  /** The run that it continues. */
  readonly continues?: string;
  /** The run that it replays. */
  readonly replayOf?: ReplayOrigin;
  /** The side of the canary that was running when it started. */
  readonly canary?: { readonly candidateId: string; readonly side: "canary" | "baseline" };
}

/** The run that another one replays. */
export interface ReplayOrigin {
  readonly runId: string;
  /** The step that it continues at. */
  readonly from: string;
  /** The run that was replayed first. The dead letter of all replays has its id. */
  readonly letter: string;
  readonly reason: string;
}

export type RunStatus = "pending" | "running" | "waiting" | "paused" | EndStatus;

export type EndStatus = "succeeded" | "failed" | "cancelled" | "timed_out";

/** A run, whether it has ended or not. */
export interface Run {
  readonly tenantId: string;
  readonly id: string;
  readonly environmentId: string;
  readonly definitionId: string;
  readonly version: number;
  readonly runKey: string;
  readonly status: RunStatus;
  readonly stateJson: string;
  readonly output: Json | null;
  readonly error: RunError | null;
  readonly revision: number;
  readonly origin: RunOrigin;
  readonly parentRunId: string;
  readonly createdAt: Date;
  readonly endedAt: Date | null;
  readonly wakeAt: Date | null;
}

/** The deepest nesting of runs that wait for each other. */
export const depthMax = 8;

/** The number of shards that runs are divided into. */
export const shardCount = 256;
