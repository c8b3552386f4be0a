import { type Principal, requireEnvironmentAccess, type TenantId } from "../../../platform/access/index.ts";
import type { PlatformServices } from "../../area.ts";
import type { AccountValues, AuthMode } from "../manifests/index.ts";
import type { ProviderConfig, ProviderConfigs } from "../provider-configs/index.ts";
import type { ConnectionCache } from "./connection-cache.ts";
import { openCredentials } from "./credentials/sealed-credentials.ts";
import { type Connection, hasTokens, type SealedConnection } from "./domain/connection.ts";
import { minValidMsDefault, urgencyOf } from "./domain/refresh-policy.ts";
import type { Refresher, RefreshOutcome } from "./refresh/refresher.ts";

/** A usable connection with its credentials in plain text. Never store, log or return it. */
export interface OpenConnection
  extends AccountValues,
    Pick<Connection, "id" | "tenantId" | "providerKey" | "providerConfigId" | "scopes" | "credentialVersion">,
    Pick<Connection, "manifestVersion" | "manifestDigest"> {}

/** Why a connection cannot be used. `refresh_failed`: the provider cannot be reached now; it may work later. */
export type ConnectionFailure =
  | "connection_missing"
  | "revoked"
  | "needs_account"
  | "needs_reauth"
  | "expired"
  | "decrypt_failed"
  | "refresh_failed";

/** A caller's requirements for a connection. */
export interface OpenOptions {
  /** How long the credentials must still be valid; 15 seconds by default. */
  readonly minValidMs?: number | undefined;
  /** Who uses it; undefined for the service itself. Throws PERMISSION_DENIED if the connection is of an environment they may not use. */
  readonly principal?: Principal | undefined;
  /** Whether to open rejected credentials too, to verify them again. */
  readonly isTest?: boolean | undefined;
  /** Whether credentials that are due are refreshed; true by default. If not, they may have expired. */
  readonly refreshes?: boolean;
}

/** Opens a connection, and refreshes it when it is due. Returns a fault if it cannot be used. */
export type OpenConnections = (
  tenantId: TenantId,
  connectionId: string,
  options?: OpenOptions,
) => Promise<OpenConnection | ConnectionFailure>;

interface Dependencies extends Pick<PlatformServices, "clock" | "keyring"> {
  readonly cache: ConnectionCache;
  readonly configs: Pick<ProviderConfigs, "readFor">;
  readonly refresher: Refresher;
}

/** Creates a function that finds the version of a provider's actions that a connection is pinned to, if any. */
export function createPinReader({ cache, configs }: Pick<Dependencies, "cache" | "configs">) {
  return async function readPin(
    tenantId: TenantId,
    connectionId: string,
    providerKey: string,
  ): Promise<string | undefined> {
    const connection = await cache.get({ tenantId, id: connectionId });
    if (connection === undefined || connection.providerConfigId === "") return undefined;
    if (connection.providerKey !== providerKey) return undefined;
    const config = await configs.readFor(tenantId, connection.providerConfigId, connection.id);
    return config?.manifestVersion || undefined;
  };
}

/** Creates a function that opens connections, and refreshes them when they are due. */
export function createConnectionOpener({ cache, clock, keyring, configs, refresher }: Dependencies): OpenConnections {
  // Decryption takes longer than everything else. A result lives as long as its cache entry, which a change replaces. It is in the
  // same memory as the master key.
  const opened = new WeakMap<
    SealedConnection,
    { readonly config: ProviderConfig | undefined; readonly result: OpenConnection }
  >();

  async function decrypt(sealed: SealedConnection): Promise<OpenConnection | ConnectionFailure> {
    const { id, tenantId, providerKey, providerConfigId, manifestVersion, manifestDigest } = sealed;
    const { scopes, settings, captured, account, credentialVersion } = sealed;
    const config = providerConfigId === "" ? undefined : await configs.readFor(tenantId, providerConfigId, id);
    const known = opened.get(sealed);
    if (known !== undefined && known.config === config) return known.result;
    const credentials = openCredentials(keyring, sealed);
    if (credentials === undefined) return "decrypt_failed";
    const { refresh_token: _, ...usable } = credentials;
    const result: OpenConnection = {
      ...{ id, tenantId, providerKey, providerConfigId, manifestVersion, manifestDigest },
      ...{ scopes, settings, captured, account, credentialVersion, credentials: usable },
      mode: (sealed.authMode || "none") as AuthMode,
      config: config === undefined ? {} : { ...config.settings, client_id: config.clientId },
    };
    opened.set(sealed, { config, result });
    return result;
  }

  return async function open(
    tenantId,
    connectionId,
    { minValidMs = minValidMsDefault, principal, isTest = false, refreshes = true } = {},
  ) {
    const ref = { tenantId, id: connectionId };
    for (let refreshed = false; ; refreshed = true) {
      const found = cache.get(ref);
      const sealed = found instanceof Promise ? await found : found;
      if (sealed === undefined) return "connection_missing";
      if (principal !== undefined) requireEnvironmentAccess({ principal }, sealed.environmentKey);
      if (sealed.status !== "active" && !(isTest && sealed.statusReason === "credentials_rejected"))
        return sealed.status;
      const urgency = hasTokens(sealed.authMode)
        ? urgencyOf(sealed, minValidMs, clock.now())
        : isExpired(sealed, clock.now());
      if (urgency === "expired") return "expired";
      if (!refreshes) return decrypt(sealed);
      const request = { spentVersion: sealed.credentialVersion, cause: "due" as const };
      if (urgency === "soon") refresher.refreshLater(ref, request);
      // After a refresh the credentials are as good as the provider makes them.
      if (urgency !== "now" || refreshed) return decrypt(sealed);
      const fault = faults[(await refresher.refresh(ref, request)).kind];
      // Credentials that are valid for a short time are better than none.
      if (fault === "refresh_failed" && isExpired(sealed, clock.now()) === "none") return decrypt(sealed);
      if (fault !== undefined) return fault;
    }
  };
}

function isExpired({ expiresAt }: SealedConnection, nowMs: number): "none" | "expired" {
  return expiresAt !== null && expiresAt.getTime() <= nowMs ? "expired" : "none";
}

const faults: Readonly<Record<RefreshOutcome["kind"], ConnectionFailure | undefined>> = {
  refreshed: undefined,
  missing: "connection_missing",
  revoked: "revoked",
  needs_account: "needs_account",
  needs_reauth: "needs_reauth",
  not_refreshable: "refresh_failed",
  failed: "refresh_failed",
};
