/**
 * Connectors: access to other systems on behalf of a tenant.
 *
 * manifests: providers, actions and triggers as data, and the catalogue of them.
 * Connection: the settings and sealed credentials of a tenant's account in another system.
 */
import type { Area, AreaParts } from "../area.ts";
import type { EventRecorder } from "../operations/index.ts";
import { type ConnectionParts, createConnections } from "./connections/index.ts";
import { createManifests } from "./manifests/index.ts";

export type { Connection, Connections, OpenConnection } from "./connections/index.ts";

interface Parts extends AreaParts {
  readonly events: EventRecorder;
  readonly check: ConnectionParts["check"];
}

/** Creates the area. */
export function createConnectors(parts: Parts) {
  const connections = createConnections(parts);
  const manifests = createManifests({
    ...parts,
    configStates: async () => new Map(),
    findUse: async (sql, tenantId, providerKey) =>
      (await connections.hasProvider(sql, tenantId, providerKey)) ? "connections" : undefined,
  });
  return {
    handlers: {
      "service.api.ConnectionService": connections.handlers,
      "service.api.ConnectorCatalogService": manifests.handlers.catalogue,
      "service.api.ConnectorManifestService": manifests.handlers.manifests,
    },
    jobs: [],
    workers: [],
    connections,
    /** Credentials that are re-encrypted when the master key changes. */
    sealed: [connections.sealed],
  } satisfies Area & Record<string, unknown>;
}
