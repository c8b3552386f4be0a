/**
 * Connectors: access to other systems on behalf of a tenant.
 *
 * manifests: providers, actions and triggers as data, and the catalogue of them.
 * provider-configs: a tenant's own OAuth apps and other settings for providers.
 * connections: the settings and sealed credentials of a tenant's accounts in other systems.
 */
import type { Area, AreaParts } from "../area.ts";
import type { EventRecorder } from "../operations/index.ts";
import { type ConnectionCheck, createConnections } from "./connections/index.ts";
import { createGuardedHttp, createManifests } from "./manifests/index.ts";
import { createProviderConfigs } from "./provider-configs/index.ts";

export type { Connection, ConnectionFault, Connections, OpenConnection } from "./connections/index.ts";

interface Parts extends AreaParts {
  readonly events: EventRecorder;
  /** Validates connections of providers that are not in the catalogue. */
  readonly check: ConnectionCheck;
  /** The URL at which callers reach the service. */
  readonly publicUrl: () => string;
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
  return {
    handlers: {
      "service.api.ProviderConfigService": configs.handlers,
      "service.api.ConnectionService": connections.handlers,
      "service.api.ConnectorCatalogService": manifests.handlers.catalogue,
      "service.api.ConnectorManifestService": manifests.handlers.manifests,
    },
    jobs: connections.jobs,
    workers: [],
    connections,
    /** Values that are re-encrypted when the master key changes. */
    sealed: [configs.sealed, connections.sealed],
    /** Resolves when no refresh is running. */
    idle: connections.idle,
  } satisfies Area & Record<string, unknown>;
}
