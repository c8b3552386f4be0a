import type { Connections, OpenConnection } from "../connections/index.ts";
import type { Catalogue, Provider } from "../manifests/index.ts";

interface Dependencies {
  readonly catalogue: Pick<Catalogue, "provider">;
  readonly connections: Pick<Connections, "actionVersion">;
}

/** Finds the provider of a connection, in the version that the connection is pinned to, or in the newest one. */
export type FindProvider = (connection: OpenConnection) => Promise<Provider | undefined>;

export function createProviderFinder({ catalogue, connections }: Dependencies): FindProvider {
  return async ({ tenantId, id, providerKey }) =>
    catalogue.provider(tenantId, providerKey, await connections.actionVersion(tenantId, id, providerKey));
}
