import type { JobRunner } from "../../../../platform/jobs/index.ts";
import type { PoolReader } from "../../pools/index.ts";
import { bulkHandlers } from "./bulk-handler.ts";
import { bulkOperationJob } from "./bulk-job.ts";
import { type BulkRunnerParts, createBulkRunner } from "./bulk-runner.ts";
import { createBulkService } from "./bulk-service.ts";

interface Dependencies extends BulkRunnerParts {
  readonly pools: Pick<PoolReader, "requirePool" | "requireRetryPool">;
  readonly jobs: Pick<JobRunner, "wake">;
}

/** Changes all items that match a filter, in the background. */
export function createBulkOperations(dependencies: Dependencies) {
  const service = createBulkService({ ...dependencies, wakeJobs: () => dependencies.jobs.wake() });
  const runner = createBulkRunner(dependencies);
  return {
    handlers: bulkHandlers(service),
    job: bulkOperationJob({ sql: dependencies.db.sql, clock: dependencies.clock, runner }),
  };
}
