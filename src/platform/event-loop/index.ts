/**
 * Scheduling: fair sharing of the event loop and of background concurrency between tenants.
 *
 * slice: a few uninterrupted milliseconds of the event loop. share: the fraction of slices that a tenant gets while others wait.
 * task: work that runs in slices, such as the routing decisions of one batch.
 */
export { createEventLoopScheduler, type EventLoopScheduler, type TimeSlices } from "./event-loop-scheduler.ts";
export { runAtOnce, runInSlices } from "./run-in-slices.ts";
export { createTenantConcurrencyLimiter } from "./tenant-concurrency-limiter.ts";
export { createTenantQueue, type TenantQueue } from "./tenant-queue.ts";
