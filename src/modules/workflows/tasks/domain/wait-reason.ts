import type { Matcher } from "./capabilities.ts";
import type { TaskKind, TaskState } from "./task.ts";

/** Why a task that could be leased waits. */
export type WaitReason = "retry_delay" | "no_worker" | "no_capable_worker" | "workers_busy";

/** A task or a kind of tasks that waits. */
export interface WaitingTask extends TaskKind {
  readonly state: TaskState;
  readonly isDue: boolean;
}

/**
 * The state to show. Workers that poll a queue decide whether its tasks are incompatible. Without any, the stored state
 * stays: the last worker that had the task refused it or not.
 */
export function shownState(
  { state, ...kind }: TaskKind & { state: TaskState },
  workers: readonly Matcher[],
): TaskState {
  if ((state !== "ready" && state !== "incompatible") || workers.length === 0) return state;
  return workers.some((worker) => worker.canRun(kind)) ? "ready" : "incompatible";
}

/** Why a task waits; undefined if it does not. `isBusy`: tasks of the queue are leased. */
export function waitReason(task: WaitingTask, workers: readonly Matcher[], isBusy: boolean): WaitReason | undefined {
  if (task.state !== "ready" && task.state !== "incompatible") return undefined;
  if (!task.isDue) return "retry_delay";
  // A worker that runs a task for a long time need not poll meanwhile.
  if (workers.length === 0) return isBusy ? "workers_busy" : "no_worker";
  return workers.some((worker) => worker.canRun(task)) ? "workers_busy" : "no_capable_worker";
}

/** Why the due tasks of a queue wait; undefined if there are none. One task that can be run is enough for "workers_busy". */
export function queueWaitReason(
  tasks: readonly WaitingTask[],
  workers: readonly Matcher[],
  isBusy: boolean,
): WaitReason | undefined {
  const reasons = tasks.filter(({ isDue }) => isDue).map((task) => waitReason(task, workers, isBusy));
  return reasons.find((reason) => reason === "workers_busy") ?? reasons[0];
}
