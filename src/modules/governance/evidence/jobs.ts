import type { TenantId } from "../../../platform/access/index.ts";
import type { Clock } from "../../../platform/clock/clock.ts";
import type { Database, Sql } from "../../../platform/db/index.ts";
import { type JobKind, runInBatches } from "../../../platform/jobs/index.ts";
import type { EventEntry, EventRecorder } from "../../operations/index.ts";
import { closeExpiredGates } from "./gates/expired-gates.ts";
import type { EvidenceMetrics } from "./metrics.ts";
import { runStore } from "./runs/run-store.ts";

interface Dependencies {
  readonly db: Database;
  readonly clock: Clock;
  readonly events: EventRecorder;
  readonly metrics: EvidenceMetrics;
  readonly platformTenantId: () => TenantId;
}

const everyMs = 2000;
const batchSize = 200;

/**
 * The job that stores what time does to runs and gates, and records the events. Calls do not wait for it: they compare with the
 * time of the database themselves.
 */
export function evidenceJobs({ db, clock, events, metrics, platformTenantId }: Dependencies): JobKind[] {
  /** Changes one batch and records its events in a transaction; returns its size. */
  async function batch(change: (tx: Sql) => Promise<readonly EventEntry[]>): Promise<number> {
    return db.transaction(async (tx) => {
      const entries = await change(tx);
      await events.recordMany(tx, entries, clock.now());
      return entries.length;
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

  return [
    {
      kind: "evidence.sweep",
      every: { ms: everyMs, tenantId: platformTenantId },
      async handler({ signal }) {
        await runInBatches(signal, batchSize, (limit) => batch((tx) => endOverdueRuns(tx, limit)));
        await runInBatches(signal, batchSize, (limit) => batch((tx) => closeExpiredGates(tx, limit)));
      },
    },
  ];
}
