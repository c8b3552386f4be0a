/**
 * Connectors: access to other systems on behalf of a tenant.
 *
 * manifests: providers, actions and triggers as data, and the catalogue of them.
 * provider-configs: a tenant's own OAuth apps and other settings for providers.
 * connections: the settings and sealed credentials of a tenant's accounts in other systems.
 * triggers: subscriptions to what happens in those accounts.
 */
import type { OperationCaller } from "../../chain/operation-caller.ts";
import type { Area, AreaParts } from "../area.ts";
import type { EventRecorder } from "../operations/index.ts";
import { type ConnectionCheck, createConnections } from "./connections/index.ts";
import { createGuardedHttp, createManifests } from "./manifests/index.ts";
import { createProviderConfigs } from "./provider-configs/index.ts";
import { type CompileTemplate, createTriggers, type EnvironmentLookup, type FindPoolId } from "./triggers/index.ts";

export type { Connection, ConnectionFault, Connections, OpenConnection } from "./connections/index.ts";

interface Parts extends AreaParts {
  readonly events: EventRecorder;
  /** Validates connections of providers that are not in the catalogue. */
  readonly check: ConnectionCheck;
  /** The URL at which callers reach the service. */
  readonly publicUrl: () => string;
  readonly environments: EnvironmentLookup;
  readonly compileTemplate: CompileTemplate;
  readonly findPoolId: FindPoolId;
  /** Performs operations of other areas. */
  readonly call: OperationCaller;
}

/** Creates the area. */
export function createConnectors(parts: Parts) {
  const http = createGuardedHttp(parts.egress);
  const manifests = createManifests({
    ...parts,
    configStates: (tenantId) => configs.states(tenantId),
    async findUse(sql, tenantId, providerKey) {
      if (await connections.hasProvider(sql, tenantId, providerKey)) return "connections";
      if (await triggers.hasProvider(sql, tenantId, providerKey)) return "trigger subscriptions";
      return (await configs.hasProvider(sql, tenantId, providerKey)) ? "provider configs" : undefined;
    },
  });
  const { catalogue } = manifests;
  const configs = createProviderConfigs({ ...parts, catalogue });
  const connections = createConnections({ ...parts, catalogue, configs, http });
  const triggers = createTriggers({
    ...parts,
    catalogue,
    connections,
    http,
    retentionDays: parts.config["connector.trigger_event_retention_days"],
    idempotencyMs: parts.config["idempotency.ttl_hours"] * 3_600_000,
  });
  return {
    handlers: {
      "service.api.ProviderConfigService": configs.handlers,
      "service.api.ConnectionService": connections.handlers,
      "service.api.ConnectorCatalogService": manifests.handlers.catalogue,
      "service.api.ConnectorManifestService": manifests.handlers.manifests,
      "service.api.TriggerSubscriptionService": triggers.handlers,
    },
    jobs: [...connections.jobs, ...triggers.jobs],
    workers: [triggers.worker],
    connections,
    /** Receives the webhook deliveries of providers. */
    receiveWebhook: triggers.receive,
    /** Values that are re-encrypted when the master key changes. */
    sealed: [configs.sealed, connections.sealed, ...triggers.sealed],
    /** Resolves when no refresh is running on this node and no event is being written, and starts no waits for others. */
    async stop() {
      await connections.stop();
      await triggers.idle();
    },
  } satisfies Area & Record<string, unknown>;
}
