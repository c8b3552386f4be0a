import type { NextDue, Signals, Sql } from "../../../platform/db/index.ts";
import { createRepeatedTask } from "../../../platform/jobs/index.ts";
import type { BackgroundWorker, PlatformServices } from "../../area.ts";
import type { EventEntry, EventRecorder } from "../../operations/index.ts";
import { closeExpiredGates } from "./gates/expired-gates.ts";
import type { EvidenceMetrics } from "./metrics.ts";
import { runStore } from "./runs/run-store.ts";

interface Dependencies extends Pick<PlatformServices, "db" | "log" | "clock"> {
  readonly signals: Pick<Signals, "onDue">;
  readonly events: EventRecorder;
  readonly metrics: EvidenceMetrics;
}

const batchSize = 200;

/**
 * Creates the worker that stores what time does to runs and gates, and records the events. Calls do not wait for it: they
 * compare with the time of the database themselves.
 */
export function createEvidenceSweeper(dependencies: Dependencies): BackgroundWorker {
  const { db, signals, log, clock, events, metrics } = dependencies;

  /** Changes one batch and records its events in a transaction; returns whether there may be more. */
  async function batch(change: (tx: Sql, limit: number) => Promise<readonly EventEntry[]>): Promise<boolean> {
    return db.transaction(async (tx) => {
      const entries = await change(tx, batchSize);
      await events.recordMany(tx, entries, clock.now());
      return entries.length === batchSize;
    });
  }

  async function endOverdueRuns(tx: Sql, limit: number): Promise<EventEntry[]> {
    const overdue = await runStore(tx).endOverdue(limit);
    for (const { status } of overdue) if (status === "deadline_exceeded") metrics.runEnded(status);
    return overdue.map(({ tenantId, id, packId, environmentId, status }) => {
      const where = { pack_id: packId, environment_id: environmentId };
      return status === "lease_expired"
        ? { tenantId, type: "evidence.run.lease_expired", subject: id, data: where }
        : { tenantId, type: "evidence.run.ended", subject: id, data: { status, receipt_id: "", ...where } };
    });
  }

  return createRepeatedTask({
    async work() {
      const more = [await batch(endOverdueRuns), await batch(closeExpiredGates)];
      return more.includes(true) ? 0 : undefined;
    },
    onError: (error) => log.warn({ err: error }, "sweep of evidence failed"),
    subscribe: ({ runWithin }) => [signals.onDue(nextEnd, runWithin)],
  });
}

/** When the next run is overdue, or the next gate closes. */
const nextEnd: NextDue = (sql) => sql`
  select least((select min(due_at) from evidence_runs),
    (select min(gate_valid_until) from evidence_packs where gate_state = 'open'))`;
