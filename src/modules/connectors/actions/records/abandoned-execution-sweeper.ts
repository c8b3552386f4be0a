import type { Signals } from "../../../../platform/db/index.ts";
import { createRepeatedTask } from "../../../../platform/jobs/index.ts";
import type { PlatformServices } from "../../../area.ts";
import type { EventRecorder } from "../../../operations/index.ts";
import type { ActionMetrics } from "../action-metrics.ts";
import { abandonedEvent } from "./execution-events.ts";
import { type AbandonedOperations, deleteEndedLimits, endAbandoned, nextEnd } from "./sweep-store.ts";

interface Dependencies extends Pick<PlatformServices, "db" | "clock" | "log"> {
  readonly signals: Pick<Signals, "onDue">;
  readonly events: EventRecorder;
  readonly metrics: ActionMetrics;
  /** The ids of the operations whose idempotency records executions have. */
  readonly operations: AbandonedOperations;
}

const batchSize = 200;

/** Creates the sweeper of this node, which ends executions of nodes that died. */
export function createAbandonedExecutionSweeper(dependencies: Dependencies) {
  const { db, signals, clock, log, events, metrics, operations } = dependencies;
  /** Runs one round; returns whether there may be more to do immediately. */
  async function sweep(): Promise<boolean> {
    const nowMs = clock.now();
    const ended = await db.transaction(async (tx) => {
      const ended = await endAbandoned(tx, operations, batchSize);
      const entries = ended.map((execution) => abandonedEvent(execution, nowMs));
      await events.recordMany(tx, entries, nowMs);
      return ended;
    });
    for (const { tenantId, id, status, origin } of ended) {
      metrics.ended(tenantId, status, origin);
      log.warn({ execution_id: id, status }, "a connector action was given up because its node stopped");
    }
    if (ended.length > 0) metrics.swept(ended.length);
    const deleted = await deleteEndedLimits(db.sql, batchSize);
    return ended.length === batchSize || deleted === batchSize;
  }

  const task = createRepeatedTask({
    work: async () => ((await sweep()) ? 0 : undefined),
    onError: (error) => log.warn({ err: error }, "sweep of connector actions failed"),
    subscribe: ({ runWithin }) => [signals.onDue(nextEnd, runWithin)],
  });
  return { sweep, start: task.start, stop: task.stop };
}
