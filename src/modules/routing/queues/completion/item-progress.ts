import type { Sql } from "../../../../platform/db/index.ts";
import type { EventRecorder } from "../../../operations/index.ts";
import { leaseLost } from "../leasing/report-message.ts";
import type { WorkReport } from "./completion-service.ts";

/** A worker's report of how far it is. */
export interface ProgressReport extends Pick<WorkReport, "tenantId" | "poolId" | "id" | "token"> {
  readonly percent: number;
  readonly note: string;
}

interface Options {
  /** The lease is extended to this time from now. It is never shortened. */
  readonly leaseS: number;
  /** Whether an event is recorded. */
  readonly itemEvents: boolean;
}

/** Stores a report and extends the lease; throws if the lease was lost. Returns the end of the lease. */
export type ProgressReporter = (tx: Sql, report: ProgressReport, options: Options) => Promise<Date>;

export function createProgressReporter(events: EventRecorder, now: () => number): ProgressReporter {
  return async (tx, report, { leaseS, itemEvents }) => {
    const nowMs = now();
    const row = await saveProgress(tx, report, leaseS, nowMs);
    if (row === undefined) throw leaseLost();
    const { leaseUntil, recipientId, attempt } = row;
    if (!itemEvents) return leaseUntil;
    const { tenantId, poolId, id: subject, percent, note } = report;
    const data = { pool_id: poolId, recipient_id: recipientId, attempt, percent, note };
    await events.recordMany(tx, [{ tenantId, subject, type: "queue.item.progress", data }], nowMs);
    return leaseUntil;
  };
}

function saveProgress(
  tx: Sql,
  { tenantId, poolId, id, token, percent, note }: ProgressReport,
  leaseS: number,
  nowMs: number,
) {
  return tx<{ leaseUntil: Date; recipientId: string; attempt: number }[]>`
    update queue_items set
      progress = json_build_object('percent', ${percent}::float8, 'note', ${note}::text, 'attempt', attempt,
        'reportedAtMs', ${nowMs}::float8),
      lease_until = greatest(lease_until, now() + make_interval(secs => ${leaseS}))
    where tenant_id = ${tenantId} and id = ${id} and pool_id = ${poolId} and state = 'leased' and lease_token = ${token}
    returning lease_until, recipient_id, attempt`.first();
}
