/**
 * Storage: PostgreSQL, embedded or external.
 *
 * sql: statements as templates, over pipelined connections (folder `sql`).
 * batcher: combines many callers' requests into few statements (group commit).
 * signal: a hint from one node to the others that something changed.
 * tenant change: the stored record of a change; caches are invalidated by it.
 * row image: a row as JSON text, from which exactly the same row can be restored.
 */
export { type Batcher, createBatcher } from "./batcher.ts";
export { classifyDatabaseError, mayBeCommitted } from "./classify.ts";
export { type Connections, type Database, type Fragment, openDatabase, type Sql } from "./database.ts";
export { lines } from "./lines.ts";
export { notFound, unchangedRecord, updateRefusal } from "./optimistic.ts";
export { type DailyTable, maintainPartitions } from "./partitions.ts";
export { insertRowImages, type RowImage, readRowImages } from "./row-image.ts";
export { createSignalCache, type SignalCache } from "./signal-cache.ts";
export { createSignals, nextWake, type Signals } from "./signals.ts";
export { createTenantCache, type TenantCache } from "./tenant-cache.ts";
export { createTenantChanges, type TenantChanges } from "./tenant-changes.ts";
