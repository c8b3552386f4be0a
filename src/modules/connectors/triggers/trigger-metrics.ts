import type { Metrics } from "../../../platform/telemetry/index.ts";
import type { EventStatus } from "./domain/event.ts";

export type TriggerMetrics = ReturnType<typeof createTriggerMetrics>;

export function createTriggerMetrics(metrics: Pick<Metrics, "counter">) {
  const events = metrics.counter({
    name: "connector_trigger_events_total",
    help: "Events of triggers that were received, by kind and whether they were new or repeated.",
    labels: ["kind", "result"],
  });
  const webhooks = metrics.counter({
    name: "connector_trigger_webhooks_total",
    help: "Webhook deliveries of providers, by result.",
    labels: ["result"],
  });
  const polls = metrics.counter({
    name: "connector_trigger_polls_total",
    help: "Polls of providers, by result.",
    labels: ["result"],
  });
  const registrations = metrics.counter({
    name: "connector_trigger_registrations_total",
    help: "Registrations, renewals and removals of webhooks at providers, by result.",
    labels: ["operation", "result"],
  });
  const deliveries = metrics.counter({
    name: "connector_trigger_deliveries_total",
    help: "Attempts to deliver events of triggers to their targets, by result.",
    labels: ["target", "result"],
  });
  return {
    /** Events were received: new ones, and others that were received before. */
    received(kind: "webhook" | "poll", fresh: number, repeated: number) {
      if (fresh > 0) events.inc({ kind, result: "new" }, fresh);
      if (repeated > 0) events.inc({ kind, result: "repeated" }, repeated);
    },
    /** A webhook delivery was answered. */
    webhook: (result: "accepted" | "challenge" | "refused" | "malformed" | "unavailable") => webhooks.inc({ result }),
    poll: (result: "complete" | "continued" | "failed" | "lost") => polls.inc({ result }),
    registration: (operation: "register" | "renew" | "remove", result: "done" | "failed") =>
      registrations.inc({ operation, result }),
    /** An attempt to deliver an event ended; retry: another one follows. */
    delivered: (target: "workflow" | "route" | "record", result: Exclude<EventStatus, "pending"> | "retry") =>
      deliveries.inc({ target, result }),
  };
}
