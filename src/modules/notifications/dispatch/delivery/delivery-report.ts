import type { TenantId } from "../../../../platform/access/index.ts";
import type { Clock } from "../../../../platform/clock/clock.ts";
import type { Sql } from "../../../../platform/db/index.ts";
import type { Metrics } from "../../../../platform/telemetry/index.ts";
import type { EventRecorder } from "../../../operations/index.ts";
import type { DeliveryStatus } from "../domain/delivery.ts";
import type { DeliveryRow } from "./delivery-store.ts";

/** What became of a delivery, as far as others are told. */
export interface Report {
  readonly tenantId: TenantId;
  readonly id: string;
  readonly subscriberId: string;
  readonly channel: string;
  readonly status: DeliveryStatus;
  readonly failurePhase: string;
  readonly failureCode: string;
  readonly deadLetterId: string;
}

interface Parts {
  readonly metrics: Metrics;
  readonly events: Pick<EventRecorder, "recordMany">;
  readonly clock: Clock;
}

/** Tells others what became of deliveries. */
export type Reporting = ReturnType<typeof createReporting>;

/** Makes this node's reporting. */
export function createReporting({ metrics, events, clock }: Parts) {
  const outcomes = metrics.counter({
    name: "notification_deliveries_total",
    help: "Notifications by channel and by what came of them; those that wait to be tried again are queued.",
    labels: ["channel", "outcome"],
  });
  return {
    /** Adds an event for each that has failed, in the transaction that writes it down; `wake` is for after its commit. */
    async record(tx: Sql, reports: readonly Report[]): Promise<{ wake: () => void }> {
      const entries = reports
        .filter(({ status }) => status === "failed")
        .map(({ tenantId, id, subscriberId, channel, failurePhase, failureCode, deadLetterId }) => ({
          tenantId,
          type: "notification.delivery.failed" as const,
          subject: id,
          data: {
            channel,
            subscriber_id: subscriberId,
            failure_phase: failurePhase,
            failure_code: failureCode,
            dead_letter_id: deadLetterId,
          },
        }));
      return events.recordMany(tx, entries, clock.now());
    },

    /** Counts them; those that are still on their way are counted at their end. */
    count(reports: readonly Pick<Report, "channel" | "status">[]): void {
      for (const { channel, status } of reports) if (status !== "running") outcomes.inc({ channel, outcome: status });
    },
  };
}

/** What there is to tell of deliveries that are written down for the first time. */
export function reportsOf(tenantId: TenantId, rows: readonly DeliveryRow[]): Report[] {
  return rows.map((row) => ({
    tenantId,
    id: row.id,
    subscriberId: row.subscriber_id,
    channel: row.channel,
    status: row.status,
    failurePhase: row.failure_phase ?? "",
    failureCode: row.failure_code ?? "",
    deadLetterId: row.dead_letter_id ?? "",
  }));
}
