import type { TenantId } from "../../../../platform/access/index.ts";
import type { Keyring } from "../../../../platform/crypto/index.ts";
import type { AccountValues, AuthMode } from "../../manifests/index.ts";
import type { OpenProviderConfig, ProviderConfigs } from "../../provider-configs/index.ts";
import type { ConnectionCache } from "../connection-cache.ts";
import type { SealedConnection } from "../domain/connection.ts";
import { openCredentials } from "./sealed-credentials.ts";

/** Why the secrets of a connection are not known. `revoked`: they were erased, but may still be valid at the provider. */
type UnknownSecrets = "connection_missing" | "revoked" | "decrypt_failed";

interface Dependencies {
  readonly cache: ConnectionCache;
  readonly keyring: Keyring | undefined;
  readonly configs: Pick<ProviderConfigs, "open">;
}

/**
 * Creates a function that reads everything secret of a connection that is not revoked, whether it can be used or not, to remove
 * it from what the provider sends. It never refreshes.
 */
export function createSecretReader({ cache, keyring, configs }: Dependencies) {
  // Like open connections, a result lives as long as its cache entry.
  const known = new WeakMap<SealedConnection, AccountValues["credentials"]>();

  return async (tenantId: TenantId, connectionId: string): Promise<AccountValues | UnknownSecrets> => {
    const found = cache.get({ tenantId, id: connectionId });
    const sealed = found instanceof Promise ? await found : found;
    if (sealed === undefined) return "connection_missing";
    if (sealed.status === "revoked") return "revoked";
    const credentials = known.get(sealed) ?? openCredentials(keyring, sealed);
    if (credentials === undefined) return "decrypt_failed";
    known.set(sealed, credentials);
    const { providerConfigId, settings, captured, account } = sealed;
    const config = providerConfigId === "" ? undefined : await configs.open(tenantId, providerConfigId);
    if (config === "decrypt_failed") return config;
    const mode = (sealed.authMode || "none") as AuthMode;
    const values = typeof config === "object" ? configValuesOf(config) : {};
    return { mode, settings, captured, account, credentials, config: values };
  };
}

/** The values of a provider config for templates. */
export function configValuesOf({ settings, secrets, clientId }: OpenProviderConfig): Record<string, string> {
  return { ...settings, ...secrets, client_id: clientId };
}
