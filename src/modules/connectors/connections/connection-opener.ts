import type { TenantId } from "../../../platform/access/index.ts";
import type { Clock } from "../../../platform/clock/clock.ts";
import type { Keyring } from "../../../platform/crypto/index.ts";
import { createTenantCache, type Database, type TenantChanges } from "../../../platform/db/index.ts";
import { bindingOf, type ConnectionId, type Credentials, type SealedConnection } from "./domain/connection.ts";
import { connectionStore } from "./store.ts";

/** A usable connection with its credentials in plain text. Never store, log or return it. */
export interface OpenConnection {
  readonly id: ConnectionId;
  readonly providerKey: string;
  readonly settings: Readonly<Record<string, unknown>>;
  readonly credentials: Credentials;
}

/** Why a connection cannot be used. */
export type ConnectionFault = "connection_missing" | "revoked" | "decrypt_failed" | "refresh_failed";

interface Parts {
  readonly db: Database;
  readonly changes: TenantChanges;
  readonly clock: Clock;
  readonly keyring: Keyring | undefined;
}

/** Creates a function that opens connections. It caches only sealed credentials, until the tenant changes. */
export function createConnectionOpener({ db, changes, clock, keyring }: Parts) {
  const cache = createTenantCache<string, { readonly sealed: SealedConnection | undefined }>({
    changes,
    async load(key) {
      const [tenantId, id] = key.split(" ") as [TenantId, string];
      return { sealed: await connectionStore(db.sql).findSealed(tenantId, id) };
    },
    tenantOf: (key) => key.split(" ")[0],
  });

  return async function open(tenantId: TenantId, connectionId: string): Promise<OpenConnection | ConnectionFault> {
    const { sealed } = await cache.get(`${tenantId} ${connectionId}`);
    if (sealed === undefined) return "connection_missing";
    const { id, providerKey, settings, status, expiresAt, ciphertext } = sealed;
    if (status === "revoked") return "revoked";
    if (status === "needs_reauth" || (expiresAt !== null && expiresAt.getTime() <= clock.now()))
      return "refresh_failed";
    if (keyring === undefined) return "decrypt_failed";
    try {
      const credentials = JSON.parse(keyring.open(ciphertext, bindingOf(sealed))) as Credentials;
      return { id, providerKey, settings, credentials };
    } catch {
      return "decrypt_failed";
    }
  };
}
