/**
 * Connectors: access to other systems on behalf of a tenant.
 *
 * manifests: providers, actions and triggers as data, and the catalogue of them.
 * provider-configs: a tenant's own OAuth apps and other settings for providers.
 * connections: the settings and sealed credentials of a tenant's accounts in other systems.
 * actions: the execution of actions, with records.
 */
import type { Area, AreaParts } from "../area.ts";
import type { EventRecorder } from "../operations/index.ts";
import type { Quotas } from "../tenancy/index.ts";
import { createActions } from "./actions/index.ts";
import { type ConnectionCheck, createConnections } from "./connections/index.ts";
import { createGuardedHttp, createManifests } from "./manifests/index.ts";
import { createProviderConfigs } from "./provider-configs/index.ts";

export type { ActionUse } from "./actions/index.ts";
export type { Connection, ConnectionFault, Connections, OpenConnection } from "./connections/index.ts";

interface Parts extends AreaParts {
  readonly events: EventRecorder;
  /** Validates connections of providers that are not in the catalogue. */
  readonly check: ConnectionCheck;
  /** The URL at which callers reach the service. */
  readonly publicUrl: () => string;
  /** The quotas of tenants, which are composed later. */
  readonly quotas: () => Quotas;
}

/** Creates the area. */
export function createConnectors(parts: Parts) {
  const http = createGuardedHttp(parts.egress);
  const manifests = createManifests({
    ...parts,
    configStates: (tenantId) => configs.states(tenantId),
    async findUse(sql, tenantId, providerKey) {
      if (await connections.hasProvider(sql, tenantId, providerKey)) return "connections";
      return (await configs.hasProvider(sql, tenantId, providerKey)) ? "provider configs" : undefined;
    },
  });
  const { catalogue } = manifests;
  const configs = createProviderConfigs({ ...parts, catalogue });
  const connections = createConnections({ ...parts, catalogue, configs, http });
  const actions = createActions({
    ...{ ...parts, catalogue, connections, http },
    retentionDays: parts.config["connector.execution_retention_days"],
    callTimeoutMs: parts.config["api.request_timeout_s"] * 1000,
  });
  return {
    handlers: {
      "service.api.ProviderConfigService": configs.handlers,
      "service.api.ConnectionService": connections.handlers,
      "service.api.ConnectorCatalogService": manifests.handlers.catalogue,
      "service.api.ConnectorManifestService": manifests.handlers.manifests,
      "service.api.ConnectorActionService": actions.handlers,
    },
    jobs: [...connections.jobs, ...actions.jobs],
    workers: [actions.sweeper],
    connections,
    /** Whether a tenant can execute an action. */
    checkActionUse: actions.checkUse,
    /** Values that are re-encrypted when the master key changes. */
    sealed: [configs.sealed, connections.sealed],
    /** Ends waits for refreshes of other nodes; resolves when no action is executed and no refresh is running. */
    async stop() {
      await actions.idle();
      await connections.stop();
    },
  } satisfies Area & Record<string, unknown>;
}
