/**
 * Jobs: background work, and everything that leaves the service (the outbox).
 *
 * job: a row written in the transaction that caused it, run at least once by whichever node leases it first.
 * lease: a node's right to run a job for a while; it is renewed while the job runs and returned when it ends.
 */
export { inBites } from "./in-bites.ts";
export { oneAtATime, type Turns } from "./one-at-a-time.ts";
export { createJobRunner, type Job, type JobHandler, type JobKind, type JobRunner } from "./runner.ts";
export { enqueueJobs, type NewJob } from "./store.ts";
