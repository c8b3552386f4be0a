/**
 * Operations: the interfaces for operators and other systems.
 *
 * Events: the log of everything that happened. Webhooks: events sent to HTTP endpoints of tenants.
 * Discovery: the capabilities of this instance.
 */
import type { Area, AreaParts } from "../area.ts";
import { createDiscovery, type DiscoveryParts } from "./discovery/index.ts";
import { createEvents } from "./events/index.ts";
import { createWebhooks } from "./webhooks/index.ts";

export type { CapabilitySource } from "./discovery/index.ts";
export type { EventContext, EventEntry, EventRecorder } from "./events/index.ts";

interface Parts extends AreaParts {
  readonly discovery: Omit<DiscoveryParts, "cursors">;
}

/** The area's public API. */
export type Operations = ReturnType<typeof createOperations>;

/** Creates the area. */
export function createOperations({ discovery, config, ...parts }: Parts) {
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
  return {
    handlers: {
      "service.api.EventService": events.handlers,
      "service.api.WebhookService": webhooks.handlers,
      "service.api.DiscoveryService": createDiscovery({ ...discovery, cursors: parts.cursors }).handlers,
    },
    jobs: [...events.jobs, ...webhooks.jobs],
    workers: [webhooks],
    events: events.recorder,
    /** Secrets that are re-encrypted when the master key changes. */
    sealed: [webhooks.sealed],
    /** Resolves when no event is being written. */
    idle: events.idle,
  } satisfies Area & Record<string, unknown>;
}
