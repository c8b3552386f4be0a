import type { TenantId } from "../../../../platform/access/index.ts";
import type { Sql } from "../../../../platform/db/index.ts";
import type { PlatformServices } from "../../../area.ts";
import type { HistoryRecorder } from "../../../history-source.ts";
import type { EventRecorder } from "../../../operations/index.ts";
import type { DeliveryStatus } from "../domain/delivery.ts";
import type { DeliveryRow } from "./delivery-store.ts";

/** The outcome of a delivery, as events and metrics report it. */
export interface DeliveryReport {
  readonly tenantId: TenantId;
  readonly id: string;
  readonly subscriberId: string;
  readonly channel: string;
  readonly status: DeliveryStatus;
  readonly failurePhase: string;
  readonly failureCode: string;
  readonly deadLetterId: string;
}

interface Dependencies extends Pick<PlatformServices, "metrics" | "clock"> {
  readonly history: HistoryRecorder;
  readonly events: Pick<EventRecorder, "recordMany">;
}

/** Publishes delivery outcomes as events and metrics. */
export type DeliveryReporter = ReturnType<typeof createDeliveryReporter>;

export function createDeliveryReporter({ metrics, history, events, clock }: Dependencies) {
  const outcomes = metrics.tenantCounter({
    name: "notification_deliveries_total",
    help: "Notifications by channel and outcome; those that wait for a retry count as queued.",
    labels: ["channel", "outcome"],
  });
  return {
    /** Records an event for each failed delivery in the caller's transaction. */
    async record(tx: Sql, reports: readonly DeliveryReport[]): Promise<void> {
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
      await events.recordMany(tx, entries, clock.now());
    },

    /** Counts outcomes in the metric and in the history. Deliveries in progress are counted when they end. */
    count(reports: readonly Pick<DeliveryReport, "tenantId" | "channel" | "status">[]): void {
      for (const { tenantId, channel, status } of reports) {
        if (status !== "running") outcomes.inc(tenantId, { channel, outcome: status });
        if (status === "sent") history.count(tenantId, "channel", channel, "started");
        if (status === "failed") history.count(tenantId, "channel", channel, "failed");
      }
    },
  };
}

export function toReports(tenantId: TenantId, rows: readonly DeliveryRow[]): DeliveryReport[] {
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
