import type { TenantId } from "../../../platform/access/index.ts";
import type { Sql } from "../../../platform/db/index.ts";
import type { Connections } from "../connections/index.ts";
import type { AuthMode, Catalogue, Provider } from "../manifests/index.ts";
import type { ProviderConfig, ProviderConfigs } from "../provider-configs/index.ts";
import type { ConnectSession } from "./domain/connect-session.ts";

/** A provider that an end user can connect, and how. */
export interface ProviderOffer {
  readonly provider: Provider;
  /** The active config that is used; undefined without one. */
  readonly config: ProviderConfig | undefined;
  /** In the order of the manifest. */
  readonly modes: readonly AuthMode[];
}

/** The part of a session that decides what it offers. */
type OfferedSession = Pick<ConnectSession, "tenantId" | "environmentId" | "providerConfigId" | "connectionId">;

interface Dependencies {
  readonly catalogue: Pick<Catalogue, "provider">;
  readonly configs: Pick<ProviderConfigs, "find" | "findDefault">;
  readonly connections: Pick<Connections, "find">;
}

/** Finds what a session offers for a provider; undefined if the provider is unknown. */
export type FindOffer = (sql: Sql, session: OfferedSession, providerKey: string) => Promise<ProviderOffer | undefined>;

export function createOfferFinder({ catalogue, configs, connections }: Dependencies): FindOffer {
  async function configOf(sql: Sql, session: OfferedSession, key: string, ownConfigId: string) {
    const { tenantId, environmentId, providerConfigId } = session;
    const usable = (config: ProviderConfig | undefined) =>
      config?.status === "active" && config.providerKey === key ? config : undefined;
    if (providerConfigId !== "") return usable(await configs.find(sql, tenantId, providerConfigId));
    // A grant belongs to one OAuth app, so that a reconnection stays with it while it can be used.
    const own = ownConfigId === "" ? undefined : usable(await configs.find(sql, tenantId, ownConfigId));
    return own ?? usable(await configs.findDefault(sql, tenantId, key, environmentId));
  }

  return async (sql, session, providerKey) => {
    const tenantId: TenantId = session.tenantId;
    const provider = await catalogue.provider(tenantId, providerKey);
    if (provider === undefined) return undefined;
    const own = session.connectionId === "" ? undefined : await connections.find(sql, tenantId, session.connectionId);
    const config = await configOf(sql, session, providerKey, own?.providerConfigId ?? "");
    const isUsable = (mode: AuthMode) => mode !== "oauth2" || config !== undefined;
    const isKept = (mode: AuthMode) => (own?.authMode ?? "") === "" || own?.authMode === mode;
    return { provider, config, modes: provider.authModes.filter((mode) => isUsable(mode) && isKept(mode)) };
  };
}
