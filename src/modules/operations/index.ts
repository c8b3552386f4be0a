/**
 * Operations: the interfaces for operators and other systems.
 *
 * Events: the log of everything that happened. Webhooks: events sent to HTTP endpoints of tenants.
 * Discovery: the capabilities of this instance. Health: whether environments work as they should. Analytics: the metrics of tenants
 * over time. History: coarse counts for charts. Explain: what happened to a record.
 */
import type { Area, PlatformServices } from "../area.ts";
import type { Explainer } from "../explainer.ts";
import type { HistorySource } from "../history-source.ts";
import { createAnalytics } from "./analytics/index.ts";
import { createDiscovery, type DiscoveryParts } from "./discovery/index.ts";
import {
  createEvents,
  createLogFollower,
  type EventReader,
  eventNames,
  type LogConsumer,
  type LogFollower,
} from "./events/index.ts";
import { createExplain } from "./explain/index.ts";
import { createHealth, type HealthParts } from "./health/index.ts";
import { createHistory } from "./history/index.ts";
import { createWebhooks, endpointNames } from "./webhooks/index.ts";

export { isPrometheusReachable } from "./analytics/index.ts";
export type { CapabilitySource } from "./discovery/index.ts";
export {
  type Event,
  type EventContext,
  type EventEntry,
  type EventHead,
  type EventRecorder,
  eventTypes,
  type Position,
} from "./events/index.ts";

/** Lets other areas consume the event logs. */
export interface EventLogs {
  readonly reader: EventReader;
  /** Creates a follower of this node, which calls the consumer when there are new events. */
  follow(consumer: LogConsumer): LogFollower;
}

export type { LogFollower };

interface Dependencies extends PlatformServices {
  readonly discovery: DiscoveryParts;
  readonly health: HealthParts;
  /** Explains the records of other areas, which are composed later. */
  readonly explainers: () => readonly Explainer[];
  /** What charts show of other areas, which are composed later. */
  readonly historySources: () => readonly HistorySource[];
  /** The version of this node. */
  readonly version: string;
}

/** The area's public API. */
export type Operations = ReturnType<typeof createOperations>;

export function createOperations({
  discovery,
  explainers,
  historySources,
  health: healthParts,
  config,
  ...parts
}: Dependencies) {
  const events = createEvents({
    ...parts,
    retentionDays: config["events.retention_days"],
    tenantSettingsEnabled: config["dynamic_config.enabled"],
  });
  const webhooks = createWebhooks({
    ...parts,
    events,
    retentionDays: config["webhooks.retention_days"],
    wakeJobs: () => parts.jobs.wake(),
  });
  const health = createHealth({ ...parts, ...healthParts, retentionDays: config["workflow.retention_days"] });
  const history = createHistory({ ...parts, sources: historySources });
  return {
    handlers: {
      "service.api.EventService": events.handlers,
      "service.api.WebhookService": webhooks.handlers,
      "service.api.DiscoveryService": createDiscovery(discovery).handlers,
      "service.api.OperationalHealthService": health.handlers,
      "service.api.AnalyticsService": createAnalytics({ ...parts, config }).handlers,
      "service.api.HistoryService": history.handlers,
      "service.api.ExplainService": createExplain(() => [...explainers(), webhooks.explainer]).handlers,
    },
    jobs: [...events.jobs, ...webhooks.jobs, ...history.jobs],
    workers: [webhooks, health.collector],
    services: [history.service],
    backlogs: [webhooks.backlog],
    /** Counts what charts show. */
    history: history.recorder,
    /** Stores the history since the last time, as the node does every few seconds. */
    recordHistory: history.record,
    names: [endpointNames, eventNames],
    /** Renders health reports for people. */
    healthPage: health.page,
    events: events.recorder,
    eventLogs: {
      reader: events.reader,
      follow: (consumer) => createLogFollower({ ...parts, reader: events.reader }, consumer),
    } satisfies EventLogs,
    /** Secrets that are re-encrypted when the master key changes. */
    sealed: webhooks.sealed,
    idle: events.idle,
  } satisfies Area & Record<string, unknown>;
}
