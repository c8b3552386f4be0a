/**
 * Webhooks: events of the log, sent to the tenant's HTTP endpoints and signed according to Standard Webhooks.
 *
 * Endpoint: a URL that events are sent to. Delivery: the sending of one event to one endpoint, identified by both.
 * Follower: creates deliveries from the event logs. Sender: leases due deliveries and attempts them.
 * Settlement: the stored result of an attempt. Replay: sending the events of a time range again.
 */

import { randomBytes } from "node:crypto";
import type { PlatformServices } from "../../area.ts";
import { nameSource } from "../../name-source.ts";
import type { EventReader, EventRecorder } from "../events/index.ts";
import { createDeliveryResultWriter } from "./deliveries/delivery-result-writer.ts";
import { dueDeliveries } from "./deliveries/delivery-store.ts";
import { createFollower, followTopic } from "./deliveries/follower.ts";
import { createSender, dueTopic } from "./deliveries/sender.ts";
import { createWebhookExplainer } from "./deliveries/webhook-explainer.ts";
import { createEndpointDisabler, createEndpointService } from "./endpoints/endpoint-service.ts";
import { sealedByWebhooks } from "./endpoints/endpoint-store.ts";
import { webhookHandlers } from "./handler.ts";
import { webhookJobs } from "./jobs.ts";
import { createRedeliveryService } from "./replays/redelivery-service.ts";

interface Dependencies
  extends Pick<PlatformServices, "db" | "signals" | "clock" | "log" | "metrics" | "keyring" | "egress" | "shares"> {
  readonly events: { readonly recorder: EventRecorder; readonly reader: EventReader };
  readonly retentionDays: number;
  readonly platformTenantId: () => string;
  readonly wakeJobs: () => void;
  /** Returns a number from 0 to 1, which is the jitter of the delays between attempts. */
  readonly random?: () => number;
  /** Interval of the scans that find work without a signal. */
  readonly pollMs?: number;
  /** Duration of a delivery's lease. */
  readonly leaseMs?: number;
}

/** The names of endpoints. A caller that is limited to some environments sees the endpoints with the same limit. */
export const endpointNames = nameSource("webhook_endpoint", "webhook:read", "webhook_endpoints", {
  name: "coalesce(nullif(description, ''), url)",
  isVisible: (inProduction) => `environment_mode = '${inProduction ? "production_only" : "non_production_only"}'`,
});

export function createWebhooks(dependencies: Dependencies) {
  const { db, signals, clock, log, metrics, keyring, egress, shares, random = Math.random } = dependencies;
  const { pollMs, leaseMs } = dependencies;
  const { recorder, reader } = dependencies.events;
  const disable = createEndpointDisabler(db, recorder, () => clock.now());
  const resultWriter = createDeliveryResultWriter({ sql: db.sql, log, metrics, random, disable });
  const sender = createSender({
    db,
    signals,
    reader,
    resultWriter,
    clock,
    log,
    egress,
    keyring,
    shares,
    pollMs,
    leaseMs,
  });
  const follower = createFollower({ db, signals, reader, log, onDue: sender.onDue, pollMs });
  const endpoints = createEndpointService({
    events: recorder,
    keyring,
    randomBytes,
    urlRefusal: egress.urlRefusal,
    wakeFollowers: () => signals.wake(followTopic),
  });
  const redelivery = createRedeliveryService({
    events: recorder,
    reader,
    wakeSenders: () => signals.wake(dueTopic),
    wakeJobs: dependencies.wakeJobs,
  });
  return {
    handlers: webhookHandlers(endpoints, redelivery),
    jobs: webhookJobs({ ...dependencies, reader, onDue: sender.onDue }),
    explainer: createWebhookExplainer(reader),
    backlog: dueDeliveries,
    /** The sealed records, for re-encryption when the master key changes. */
    sealed: sealedByWebhooks(db.sql),
    /** Starts the follower and the sender, on a node that does background work. */
    async start(): Promise<void> {
      sender.start();
      await follower.start();
    },
    async stop(): Promise<void> {
      await follower.stop();
      await sender.stop();
    },
  };
}
