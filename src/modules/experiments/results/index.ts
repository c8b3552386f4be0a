/**
 * Results: what an experiment shows.
 *
 * Mature unit: a unit whose score window has ended; only such units count. Moments: the sums that results are computed from,
 * in 16 shards per phase, variant and metric. Point: the results at one time. Frozen: the results at the end.
 */
export { resultHandlers } from "./handler.ts";
export { createHistoryWriter } from "./history-writer.ts";
export { analyseExperiment } from "./service.ts";
export { createUnitCountWorker, type UnitCountWorker } from "./unit-count-worker.ts";
