import type { Keyring } from "../../../platform/crypto/index.ts";
import { ulid } from "../../../platform/ids/ulid.ts";
import { newStamps } from "../../../platform/records/index.ts";
import type { EventContext, EventRecorder } from "../../operations/index.ts";
import type { AuthMode } from "../manifests/index.ts";
import type { ProviderConfigs } from "../provider-configs/index.ts";
import type { ConnectionCache } from "./connection-cache.ts";
import { sealCredentials } from "./credentials/sealed-credentials.ts";
import {
  type Connection,
  type ConnectionId,
  type Credentials,
  canRenew,
  checkSizes,
  connectionsMax,
  grantedStatus,
  settleAccount,
} from "./domain/connection.ts";
import { type GrantEnd, grantEnd, idleRefreshAt } from "./domain/refresh-policy.ts";
import { leaseStore } from "./refresh/lease-store.ts";
import { connectionStore } from "./store.ts";

/** Access that a provider has confirmed, without the connection that it belongs to. */
export interface ProvenGrant
  extends Pick<Connection, "providerKey" | "providerConfigId" | "manifestVersion" | "manifestDigest" | "scopes">,
    Pick<Connection, "settings" | "captured" | "account" | "accountChoices" | "expiresAt"> {
  readonly authMode: AuthMode;
  readonly credentials: Credentials;
  /** How long the refresh token may stay unused, from the manifest. */
  readonly idleS: number | undefined;
  /** How long the refresh token lives in any case, from the manifest. */
  readonly lifetimeS: number | undefined;
}

/**
 * Access that an end user has granted in a connect session. The name, the end user and the environment are those of a new
 * connection; a reconnected one keeps its own.
 */
export interface Grant extends ProvenGrant, Pick<Connection, "name" | "endUser" | "environmentId" | "environmentKey"> {
  /** The connection to reconnect; undefined for a new one. */
  readonly connectionId: string | undefined;
}

/**
 * Why a grant was not stored. The connection keeps its previous grant. `provider_mismatch`: the grant is one of another provider,
 * or its provider config is archived.
 */
export type GrantRefusal =
  | "connection_missing"
  | "connection_revoked"
  | "provider_mismatch"
  | "account_mismatch"
  | "too_many_connections";

interface Dependencies {
  readonly events: EventRecorder;
  readonly keyring: Keyring | undefined;
  readonly configs: Pick<ProviderConfigs, "hold">;
  readonly cache: Pick<ConnectionCache, "changed">;
}

/** Creates the storage of grants for connect sessions. */
export function createGrantService({ events, keyring, configs, cache }: Dependencies) {
  /**
   * Stores a grant in the caller's transaction: in a new connection, or in place of the previous grant of an existing one. The
   * caller has proven the grant at the provider before.
   */
  return async function storeGrant(context: EventContext, grant: Grant): Promise<Connection | GrantRefusal> {
    const { sql, tenantId, nowMs } = context;
    const { connectionId, endUser, name, idleS, lifetimeS, credentials, ...stored } = grant;
    checkSizes(grant.settings, credentials);
    const store = connectionStore(sql);
    const config =
      grant.providerConfigId === "" ? undefined : await configs.hold(sql, tenantId, grant.providerConfigId);
    if (config?.status === "archived" || (config?.providerKey ?? grant.providerKey) !== grant.providerKey) {
      return "provider_mismatch";
    }
    if (connectionId === undefined) {
      if (!(await store.countNew(tenantId, connectionsMax))) return "too_many_connections";
      const id = ulid(nowMs) as ConnectionId;
      const end = endOf(grant, nowMs);
      const connection = await store.insert(
        {
          ...{ ...stored, tenantId, id, name, endUser, credentialVersion: 1, statusReason: "" },
          status: grantedStatus(grant),
          ...{ providerRevocation: "", lastRefreshedAt: null, lastRefreshError: "", revokedAt: null },
          grantExpiresAt: end.grantExpiresAt,
          ...{ lastTestedAt: null, lastTestClass: "" },
          ...sealCredentials(keyring, { tenantId, id }, credentials),
          ...newStamps(nowMs),
        },
        { idleRefreshAt: idleAtOf(grant, nowMs), reauthNoticeAt: end.reauthNoticeAt },
      );
      await events.record(context, "connection.created", id, eventData(connection));
      return connection;
    }
    const current = await store.lock(tenantId, connectionId);
    if (current === undefined) return "connection_missing";
    if (current.status === "revoked") return "connection_revoked";
    if (current.providerKey !== grant.providerKey) return "provider_mismatch";
    const settled = settleAccount(grant, current.account.id);
    // Also refuses a grant whose account is unknown, because it cannot be shown to be the same one.
    if (current.account.id !== "" && current.account.id !== settled.account.id) return "account_mismatch";
    const connection = await replaceGrant(context, current, settled, { keyring, cache });
    await events.record(context, "connection.reconnected", connectionId, eventData(connection));
    return connection;
  };
}

/** Puts a proven grant in place of the previous one of a connection that the caller has locked. */
export async function replaceGrant(
  { sql, tenantId, nowMs, afterCommit }: EventContext,
  current: Connection,
  grant: ProvenGrant,
  { keyring, cache }: Pick<Dependencies, "keyring" | "cache">,
): Promise<Connection> {
  const { credentials, ...stored } = grant;
  const replacement = {
    ...stored,
    ...sealCredentials(keyring, current, credentials),
    idleRefreshAt: idleAtOf(grant, nowMs),
    ...endOf(grant, nowMs),
  };
  const connection = await connectionStore(sql).reconnect(tenantId, current.id, replacement, new Date(nowMs));
  await leaseStore(sql).reset(current);
  afterCommit(() => cache.changed(connection));
  return connection;
}

type Renewal = Pick<ProvenGrant, "authMode" | "credentials" | "expiresAt" | "idleS" | "lifetimeS">;

function idleAtOf({ credentials, idleS }: Renewal, nowMs: number): Date | null {
  return credentials.refresh_token === undefined ? null : idleRefreshAt(idleS, nowMs);
}

function endOf({ authMode, credentials, expiresAt, lifetimeS }: Renewal, nowMs: number): GrantEnd {
  return grantEnd({ canRenew: canRenew(authMode, credentials), expiresAt, lifetimeS }, nowMs);
}

export function eventData({ name, environmentId, providerKey, providerConfigId, endUser }: Connection) {
  return {
    name,
    environment_id: environmentId,
    provider_key: providerKey,
    provider_config_id: providerConfigId,
    end_user_id: endUser?.id ?? "",
  };
}
