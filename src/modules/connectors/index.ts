/**
 * Connectors: access to other systems on behalf of a tenant.
 *
 * manifests: providers, actions and triggers as data, and the catalogue of them.
 * marketplace: packs of manifests, workflows, notifications and rules, and their installations.
 * Connection: the settings and sealed credentials of a tenant's account in another system.
 */
import type { Area, AreaParts } from "../area.ts";
import type { EventRecorder } from "../operations/index.ts";
import { type ConnectionParts, createConnections } from "./connections/index.ts";
import { createManifests } from "./manifests/index.ts";
import { createMarketplace, type MarketplaceSources } from "./marketplace/index.ts";

export type { Connection, Connections, OpenConnection } from "./connections/index.ts";
export { packName, readPackFile, readSignedPack, signPack, writeSignedPack } from "./marketplace/index.ts";

interface Parts extends AreaParts {
  readonly events: EventRecorder;
  readonly check: ConnectionParts["check"];
  /** What the marketplace needs of other areas. */
  readonly marketplace: Omit<MarketplaceSources, "findConnection">;
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
  const { packRecords, ...sources } = parts.marketplace;
  const marketplace = createMarketplace({
    ...parts,
    sources: {
      ...sources,
      findConnection: connections.find,
      packRecords: () => [manifests.packRecords, ...packRecords()],
    },
  });
  return {
    handlers: {
      "service.api.ConnectionService": connections.handlers,
      "service.api.ConnectorCatalogService": manifests.handlers.catalogue,
      "service.api.ConnectorManifestService": manifests.handlers.manifests,
      "service.api.MarketplaceService": marketplace.handlers,
    },
    jobs: [],
    workers: [],
    connections,
    /** Credentials that are re-encrypted when the master key changes. */
    sealed: [connections.sealed],
  } satisfies Area & Record<string, unknown>;
}
