/**
 * Scheduling: how much of the event loop a tenant's work may take.
 *
 * slice: a few milliseconds of the event loop without a break. share: the slices that a tenant gets while others wait, too.
 * task: work that is done in slices, such as the deciding of one batch.
 */
export { createEventLoopShares, type EventLoopShares, type Turns } from "./event-loop-shares.ts";
export { createTenantLanes } from "./tenant-lanes.ts";
export { createTenantQueue, type TenantQueue } from "./tenant-queue.ts";
