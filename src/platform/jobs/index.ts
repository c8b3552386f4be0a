/**
 * Jobs: background work, and the outbox for everything that leaves the service.
 *
 * job: a row written in the transaction that causes it, and run at least once by the node that leases it first.
 * leased-work loop: the same for the rows of an area's own table: it leases the due ones, tenants in turn, and handles them.
 * lease: a node's exclusive, temporary right to run a job. It is renewed while the job runs and released when the job ends.
 */
export { runInBatches } from "./batches.ts";
export { InFlightWork } from "./in-flight-work.ts";
export { createLeasedWorkLoop, type Leased, type LeasedWorkLoop, type LeaseRequest } from "./leased-work-loop.ts";
export { createRepeatedTask, type RepeatedTask } from "./repeated-task.ts";
export { type RetentionDependencies, retentionJob, type TenantCutoff } from "./retention.ts";
export { createJobRunner, type Job, type JobHandler, type JobKind, type JobRunner } from "./runner.ts";
export { enqueueJobs, type NewJob, waitingJobs } from "./store.ts";
export { leaseInTurns } from "./tenant-turns.ts";
