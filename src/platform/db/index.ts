/**
 * Storage: PostgreSQL, embedded or external.
 *
 * sql: statements as templates, over pipelined connections (folder `sql`).
 * batcher: combines many callers' requests into few statements (group commit).
 * signal: a hint from one node to the others that something changed.
 * tenant change: the stored record of a change; caches are invalidated by it.
 * row image: a row as JSON text, from which exactly the same row can be restored.
 */
export { type Backlog, type BacklogState, readBacklogs } from "./backlog.ts";
export { type Batcher, createBatcher } from "./batcher.ts";
export { classifyDatabaseError, isDatabaseAway, isDataError, isUniqueViolation, mayBeCommitted } from "./classify.ts";
export { type Connections, type Database, type Fragment, openDatabase, type Sql } from "./database.ts";
export { lockEachFor, lockFor, shareLockFor, tryLockFor } from "./locks.ts";
export { notFound, requireFound, unchangedRecord, updateRefusal } from "./optimistic.ts";
export { writePersistently } from "./persistent-write.ts";
export { createReadReplica, type ReadReplica } from "./read-replica.ts";
export { deleteBatch } from "./rows/delete-batch.ts";
export { distinctRecords } from "./rows/distinct-records.ts";
export { fromNow } from "./rows/from-now.ts";
export { hasKey, joinSelected } from "./rows/has-key.ts";
export { lines } from "./rows/lines.ts";
export { type DailyTable, maintainPartitions } from "./rows/partitions.ts";
export { recordRows } from "./rows/record-rows.ts";
export { insertRowImages, type RowImage, readRowImages } from "./rows/row-image.ts";
export { isServed, mayRunJobs } from "./rows/served-tenants.ts";
export { addTenantKey, removeTenantKey, tenantOfKey } from "./rows/tenant-directory.ts";
export { pauseAfterScanMs } from "./scan-pause.ts";
export { type NextDue, readMsToNext } from "./signals/due-work.ts";
export { openRedisTransport } from "./signals/redis-transport.ts";
export { createSignalCache, type SignalCache } from "./signals/signal-cache.ts";
export { createSignals, nextWake, type Signals } from "./signals/signals.ts";
export { createTenantCache, type TenantCache } from "./signals/tenant-cache.ts";
export { createTenantChanges, type TenantChanges } from "./signals/tenant-changes.ts";
export { runAfterCommit } from "./sql/after-commit.ts";
