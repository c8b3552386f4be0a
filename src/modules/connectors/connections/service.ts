import type { Context } from "../../../chain/call.ts";
import { fail, type Violation } from "../../../errors/index.ts";
import type { Keyring } from "../../../platform/crypto/index.ts";
import { notFound, type TenantChanges } from "../../../platform/db/index.ts";
import { ulid } from "../../../platform/ids/ulid.ts";
import { newStamps } from "../../../platform/records/index.ts";
import type { EventRecorder } from "../../operations/index.ts";
import {
  bindingOf,
  type Connection,
  type ConnectionId,
  type Credentials,
  checkNewConnection,
  connectionsMax,
  type NewConnection,
} from "./domain/connection.ts";
import { connectionStore } from "./store.ts";

/** Dependencies of the service. */
export interface ConnectionParts {
  readonly events: EventRecorder;
  readonly changes: TenantChanges;
  /** Undefined if the instance has no master key. Then no connection can be created. */
  readonly keyring: Keyring | undefined;
  /** Validates settings and credentials against the provider's rules. */
  readonly check: (
    providerKey: string,
    settings: Readonly<Record<string, unknown>>,
    credentials: Credentials,
  ) => readonly Violation[];
}

/** The operations on connections. */
export type ConnectionService = ReturnType<typeof createConnectionService>;

/** Creates the service of connections. */
export function createConnectionService({ events, changes, keyring, check }: ConnectionParts) {
  /** Invalidates the tenant's cache entries on every node. */
  async function invalidateCaches({ sql, tenantId, afterCommit }: Context): Promise<void> {
    await changes.record(sql, tenantId);
    afterCommit(() => changes.published(tenantId));
  }

  return {
    async createConnection(context: Context, { credentials, ...input }: NewConnection): Promise<Connection> {
      const { sql, tenantId, nowMs } = context;
      checkNewConnection({ credentials, ...input }, nowMs);
      const violations = check(input.providerKey, input.settings, credentials);
      if (violations.length > 0) {
        const [{ field, message }] = violations as [Violation];
        throw fail("INVALID_ARGUMENT", { public: `${field}: ${message}`, violations });
      }
      const keys = requireKeyring(keyring);
      // Also locks out concurrent creation in the tenant, so that the count stays correct.
      await invalidateCaches(context);
      const store = connectionStore(sql);
      if ((await store.count(tenantId)) >= connectionsMax) {
        throw fail("FAILED_PRECONDITION", {
          public: `A tenant can have at most ${connectionsMax} connections. Revoke one first.`,
        });
      }
      const id = ulid(nowMs) as ConnectionId;
      const connection = await store.insert({
        ...input,
        tenantId,
        id,
        providerConfigId: "",
        status: "active",
        lastRefreshedAt: null,
        revokedAt: null,
        ciphertext: keys.seal(JSON.stringify(credentials), bindingOf({ tenantId, id })),
        keyId: keys.activeKeyId,
        ...newStamps(nowMs),
      });
      await events.record(context, "connection.created", id, eventData(connection));
      return connection;
    },

    async getConnection({ sql, tenantId }: Context, id: string): Promise<Connection> {
      const connection = await connectionStore(sql).find(tenantId, id);
      if (connection === undefined) throw notFound("connection");
      return connection;
    },

    /** Revokes a connection permanently. A second revocation changes nothing. */
    async revokeConnection(context: Context, id: string): Promise<Connection> {
      const { sql, tenantId, nowMs } = context;
      const store = connectionStore(sql);
      const revoked = await store.revoke(tenantId, id, new Date(nowMs));
      if (revoked === undefined) {
        const current = await store.find(tenantId, id);
        if (current === undefined) throw notFound("connection");
        return current;
      }
      await invalidateCaches(context);
      await events.record(context, "connection.revoked", id, eventData(revoked));
      return revoked;
    },
  };
}

function eventData({ name, providerKey }: Connection) {
  return { name, provider_key: providerKey };
}

function requireKeyring(keyring: Keyring | undefined): Keyring {
  if (keyring !== undefined) return keyring;
  throw fail("FAILED_PRECONDITION", {
    public:
      "Connections require a master key: the operator must set connector.encryption_key (for example to the output of: openssl rand -base64 32).",
  });
}
