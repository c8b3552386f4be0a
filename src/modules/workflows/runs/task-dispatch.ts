import type { TenantId } from "../../../platform/access/index.ts";

/** A task that is about to be stored. */
export interface OfferedTask {
  readonly tenantId: TenantId;
  readonly environmentId: string;
  readonly queue: string;
  readonly type: string;
  readonly versionRange: string;
  readonly attemptMs: number;
  readonly heartbeatMs: number;
}

/** A new task in the form that workers get. */
export interface DispatchedTask extends OfferedTask {
  readonly id: string;
  readonly runId: string;
  readonly stepKey: string;
  readonly inputJson: string;
}

/** A place in a waiting poll of this node that is reserved for a task. */
export interface TaskReservation {
  readonly token: string;
  readonly workerId: string;
}

/** Hands tasks to workers. */
export interface TaskDispatch {
  /** Reserves a place in a poll that waits on this node; undefined if there is none. */
  reserve(task: OfferedTask, nowMs: number): TaskReservation | undefined;
  /** Tells whether the task of a reservation was stored; undefined if that is unknown. */
  settle(reservation: TaskReservation, task: DispatchedTask, committed: boolean | undefined): void;
  /** Wakes the polls of a queue on all nodes, after tasks were stored that nobody has leased. */
  wake(tenantId: TenantId, environmentId: string, queue: string): void;
}
