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

/** What the use cases stand on. */
export interface ConnectionParts {
  readonly events: EventRecorder;
  readonly changes: TenantChanges;
  /** Undefined when the instance has no master key: no connection can be made then. */
  readonly keyring: Keyring | undefined;
  /** What a provider has against the settings and credentials that it is to be used with. */
  readonly check: (
    providerKey: string,
    settings: Readonly<Record<string, unknown>>,
    credentials: Credentials,
  ) => readonly Violation[];
}

/** The use cases of connections. */
export type ConnectionService = ReturnType<typeof createConnectionService>;

/** Makes the use cases of connections. */
export function createConnectionService({ events, changes, keyring, check }: ConnectionParts) {
  /** Has every node look again at what it knows of the tenant. */
  async function changed({ sql, tenantId, afterCommit }: Context): Promise<void> {
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
      // Also keeps others of the tenant from adding one meanwhile, so that the count holds.
      await changed(context);
      const store = connectionStore(sql);
      if ((await store.count(tenantId)) >= connectionsMax) {
        throw fail("FAILED_PRECONDITION", { public: `A tenant has at most ${connectionsMax} connections in use.` });
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

    /** Ends a connection for good; one that has ended stays as it is. */
    async revokeConnection(context: Context, id: string): Promise<Connection> {
      const { sql, tenantId, nowMs } = context;
      const store = connectionStore(sql);
      const revoked = await store.revoke(tenantId, id, new Date(nowMs));
      if (revoked === undefined) {
        const current = await store.find(tenantId, id);
        if (current === undefined) throw notFound("connection");
        return current;
      }
      await changed(context);
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
    public: "Connections need a master key for their credentials; the setting connector.encryption_key is not set.",
  });
}
