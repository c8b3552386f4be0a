/**
 * Connectors: access to other systems on behalf of a tenant.
 *
 * Manifest: the description of a provider as data. Provider config: a tenant's own OAuth app or other settings for a provider.
 * Connection: the settings and sealed credentials of a tenant's account in another system.
 */
import type { Area, AreaParts } from "../area.ts";
import type { EventRecorder } from "../operations/index.ts";
import { type ConnectionCheck, createConnections } from "./connections/index.ts";
import { type Catalogue, createGuardedHttp } from "./manifests/index.ts";
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
  const catalogue: Pick<Catalogue, "provider"> = { provider: async () => undefined };
  const http = createGuardedHttp(parts.egress);
  const configs = createProviderConfigs({ ...parts, catalogue });
  const connections = createConnections({ ...parts, catalogue, configs, http });
  return {
    handlers: {
      "service.api.ProviderConfigService": configs.handlers,
      "service.api.ConnectionService": connections.handlers,
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
