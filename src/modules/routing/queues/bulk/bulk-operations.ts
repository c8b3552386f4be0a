import type { OperationCaller } from "../../../../chain/operation-caller.ts";
import type { TenantId } from "../../../../platform/access/index.ts";
import type { Sql } from "../../../../platform/db/index.ts";
import type { JobRunner } from "../../../../platform/jobs/index.ts";
import type { PlatformServices } from "../../../area.ts";
import type { EventRecorder } from "../../../operations/index.ts";
import type { PoolReader } from "../../pools/index.ts";
import type { EndedItem } from "../transitions/transition-store.ts";
import { bulkHandlers } from "./bulk-handler.ts";
import { bulkOperationJob } from "./bulk-job.ts";
import { createBulkRunner } from "./bulk-runner.ts";
import { createBulkService } from "./bulk-service.ts";

interface Dependencies extends Pick<PlatformServices, "db" | "clock"> {
  readonly events: EventRecorder;
  readonly pools: Pick<PoolReader, "requirePool" | "requireRetryPool">;
  readonly jobs: Pick<JobRunner, "wake">;
  readonly call: OperationCaller;
  /** Waits until recently leased items of a pool are with a worker or wait again. */
  readonly settleRecentLeases: (sql: Sql, tenantId: TenantId, poolId: string) => Promise<void>;
  /** Signals that a pool has ready items; called after the commit. */
  readonly wakeReady: (tenantId: TenantId, poolId: string) => void;
  /** Called after the commit with items that were cancelled. */
  readonly onEnded: (items: readonly EndedItem[]) => void;
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
