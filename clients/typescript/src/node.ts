/**
 * Workers, for Node 20 and newer, and everything of `@switchyard/client`.
 *
 * Worker: leases work, runs a handler for each piece of it, extends the leases, reports the results in batches and finishes
 * what it has begun when it is stopped.
 */
export * from "./index.ts";
export {
  createQueueWorker,
  type ItemContext,
  type ItemRating,
  type QueueWorkerOptions,
} from "./workers/queue-worker.ts";
export { type RunWorkersOptions, runWorkers } from "./workers/run-workers.ts";
export { LeaseLostError, WorkerStoppedError, WorkFailure } from "./workers/work-failure.ts";
export type { RunOptions, Worker, WorkerOptions } from "./workers/work-protocol.ts";
export {
  createWorkflowWorker,
  type TaskContext,
  type TaskHandler,
  type WorkflowWorkerOptions,
} from "./workers/workflow-worker.ts";
