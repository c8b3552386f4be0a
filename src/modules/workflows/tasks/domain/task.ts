export type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json };

/** The states of a task. A task is deleted when its step ends. */
export type TaskState = "ready" | "leased" | "incompatible" | "held";

/** Everything that decides which workers can run a task. */
export interface TaskKind {
  readonly type: string;
  /** A range of versions; empty if any version will do. */
  readonly versionRange: string;
  /** Builds of workers that cannot run it, sorted. */
  readonly refusedBy: readonly string[];
}

export interface TaskQueue {
  readonly tenantId: string;
  readonly environmentId: string;
  readonly queue: string;
}

/**
 * The columns that updates find tasks by, with `hasKey`. The run is among them, so that the index of tasks by run is as good as
 * the primary key: by the tenant alone it would be read as a whole.
 */
export const taskKey = ["tenant_id", "id", "run_id"];

/** A task with the lease of its current attempt. */
export interface LeasedTask extends TaskQueue {
  readonly id: string;
  readonly runId: string;
  readonly stepKey: string;
  readonly type: string;
  readonly versionRange: string;
  readonly attempt: number;
  readonly token: string;
  readonly input: Json;
  /** The details of the last heartbeat of any attempt; null if there are none. */
  readonly details: Json;
  /** 0 if the worker need not report. */
  readonly heartbeatMs: number;
  readonly leaseUntil: Date;
  readonly attemptUntil: Date;
}

/** A unique text for a queue. */
export function queueName({ tenantId, environmentId, queue }: TaskQueue): string {
  // Signal topics must not contain commas.
  return `${tenantId}/${environmentId}/${encodeURIComponent(queue)}`;
}

/** The key that all attempts of a step share. */
export function idempotencyKey({ runId, stepKey }: Pick<LeasedTask, "runId" | "stepKey">): string {
  return `${runId}:${stepKey}`;
}

/** How long a lease lasts without a heartbeat. */
export function leaseMs({ attemptMs, heartbeatMs }: { attemptMs: number; heartbeatMs: number }): number {
  return heartbeatMs > 0 ? Math.min(heartbeatMs, attemptMs) : attemptMs;
}
