/**
 * Provider configs: a tenant's own OAuth apps and other settings for providers.
 *
 * Provider config: the client id, secrets, scopes and settings for one provider in one environment. Secrets are sealed and never
 * returned. Draft: being set up. Active: connect sessions can use it; of several, the one activated last is the default.
 * Disabled: no connect session can use it, but its connections still work and are refreshed. Archived: permanently unusable,
 * with its secrets erased. Redirect URI: the address at which the provider returns the end user; every config has its own, so
 * that a callback can never be meant for another app.
 */

import { findEnvironment, productionKey, type TenantId } from "../../../platform/access/index.ts";
import { type Canary, canaryStore, isOnCanarySide } from "../../../platform/canary/index.ts";
import { createTenantCache, type Sql } from "../../../platform/db/index.ts";
import type { PlatformServices } from "../../area.ts";
import { decodeConfigContent } from "./domain/config-content.ts";
import type { ProviderConfig, ProviderSecrets, SealedProviderConfig } from "./domain/provider-config.ts";
import { providerConfigHandlers } from "./handler.ts";
import { createProviderConfigService, openSecrets, type ProviderConfigParts } from "./service.ts";
import { providerConfigStore, reencryptableProviderConfigs } from "./store.ts";
import { createProviderConfigArtifacts } from "./versions/provider-config-artifacts.ts";
import { configVersionStore } from "./versions/version-store.ts";

export type { ProviderConfig };

/** A provider config with its secrets in plain text. Never store, log or return it. */
export interface OpenProviderConfig extends ProviderConfig {
  readonly secrets: ProviderSecrets;
}

/** Why a provider config cannot be used. */
export type ProviderConfigFailure = "config_missing" | "config_archived" | "decrypt_failed";

export type ProviderConfigs = ReturnType<typeof createProviderConfigs>;

/** A config with its running canary. */
interface CachedConfig {
  readonly sealed: SealedProviderConfig | undefined;
  /** With the config as the canary sees it. */
  readonly canary: (Canary & { readonly config: ProviderConfig }) | undefined;
}

interface Dependencies extends Pick<PlatformServices, "db" | "cacheLoadDb">, ProviderConfigParts {
  /** The URL at which callers reach the service. */
  readonly publicUrl: () => string;
}

export function createProviderConfigs({ db, cacheLoadDb, publicUrl, ...parts }: Dependencies) {
  const { changes, keyring } = parts;
  const redirectUriOf = (id: string) => `${publicUrl()}/connect/callback/${id}`;
  const service = createProviderConfigService(parts);
  const cache = createTenantCache<string, CachedConfig>({
    changes,
    async load(key) {
      const [tenantId, id] = key.split(" ") as [TenantId, string];
      const sealed = await providerConfigStore(cacheLoadDb.sql).findSealed(tenantId, id);
      return { sealed, canary: sealed && (await loadCanary(cacheLoadDb.sql, sealed)) };
    },
    tenantOf: (key) => key.split(" ")[0],
  });
  const states = createTenantCache<TenantId, ReadonlyMap<string, "active" | "disabled">>({
    changes,
    load: (tenantId) => providerConfigStore(cacheLoadDb.sql).findStates(tenantId),
    tenantOf: (tenantId) => tenantId,
  });
  return {
    handlers: providerConfigHandlers(service, redirectUriOf),
    /** The versions that promotions activate. */
    artifacts: createProviderConfigArtifacts(service),
    /** Finds a config in any status, without its secrets. */
    find: (sql: Sql, tenantId: TenantId, id: string) => providerConfigStore(sql).find(tenantId, id),
    /** Finds a config for a new connection, and keeps it from being archived until the transaction ends. */
    hold: (sql: Sql, tenantId: TenantId, id: string) => providerConfigStore(sql).hold(tenantId, id),
    /** The active config of a provider that was activated last in an environment (production for an empty id). */
    async findDefault(sql: Sql, tenantId: TenantId, providerKey: string, environmentId: string) {
      const store = providerConfigStore(sql);
      const environment = await findEnvironment(sql, tenantId, environmentId || productionKey);
      return environment && store.findLastActivated(tenantId, providerKey, environment.id);
    },
    /** Whether a provider has configs that are not archived. */
    hasProvider: (sql: Sql, tenantId: TenantId, providerKey: string) =>
      providerConfigStore(sql).hasProvider(tenantId, providerKey),
    /** Whether a config, or the canary of one, pins a version of a provider's manifest. */
    pinsManifest: (sql: Sql, tenantId: TenantId, ...manifest: [providerKey: string, manifestVersion: string]) =>
      providerConfigStore(sql).pinsManifest(tenantId, ...manifest),
    /** The best status of a tenant's configs by provider, without drafts and archived ones, from a cache for most calls. */
    states: async (tenantId: TenantId) => states.get(tenantId),
    /**
     * Reads a config in any status, without its secrets, from a cache for most calls. While a canary is running, the connection
     * decides between what the config has and the canary's version.
     */
    async readFor(tenantId: TenantId, id: string, connectionId: string): Promise<ProviderConfig | undefined> {
      const { sealed, canary } = await cache.get(`${tenantId} ${id}`);
      return canary !== undefined && isOnCanarySide(canary, connectionId) ? canary.config : sealed;
    },
    /** Opens a config with its secrets, from a cache for most calls. */
    async open(tenantId: TenantId, id: string): Promise<OpenProviderConfig | ProviderConfigFailure> {
      const { sealed } = await cache.get(`${tenantId} ${id}`);
      if (sealed === undefined) return "config_missing";
      if (sealed.status === "archived") return "config_archived";
      try {
        const { ciphertext: _, keyId: __, ...config } = sealed;
        return { ...config, secrets: openSecrets(keyring, sealed) };
      } catch {
        return "decrypt_failed";
      }
    },
    /** The address at which a provider returns the end user. */
    redirectUriOf,
    /** The secrets, for re-encryption when the master key changes. */
    sealed: reencryptableProviderConfigs(db.sql),
  };
}

/** The running canary of a config, with the config as the canary sees it. */
async function loadCanary(sql: Sql, sealed: SealedProviderConfig): Promise<CachedConfig["canary"]> {
  const { tenantId, id } = sealed;
  const canary = await canaryStore(sql).find(tenantId, "provider_config", id);
  const found = canary && (await configVersionStore(sql).find(tenantId, id, canary.version));
  return found && { ...canary!, config: { ...sealed, ...decodeConfigContent(found.content) } };
}
