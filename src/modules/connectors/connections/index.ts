/**
 * Connections: settings and credentials for access to other systems on behalf of a tenant.
 *
 * Connection: settings, which are not secret, and credentials, which are sealed and never returned. Open: decrypt a
 * connection for use. Revoked: permanently unusable, with its credentials erased.
 */

import type { TenantId } from "../../../platform/access/index.ts";
import type { Clock } from "../../../platform/clock/clock.ts";
import type { Reencryptable } from "../../../platform/crypto/index.ts";
import type { Cursors } from "../../../platform/cursor/index.ts";
import type { Database, Sql } from "../../../platform/db/index.ts";
import { type ConnectionFault, createConnectionOpener, type OpenConnection } from "./connection-opener.ts";
import type { Connection } from "./domain/connection.ts";
import { connectionHandlers } from "./handler.ts";
import { type ConnectionParts, createConnectionService } from "./service.ts";
import { connectionStore, reencryptableConnections } from "./store.ts";

export type { Connection, ConnectionFault, ConnectionParts, OpenConnection };

/** The module's public API. */
export interface Connections {
  readonly handlers: ReturnType<typeof connectionHandlers>;
  /** Finds a connection in any state, without its credentials. */
  find(sql: Sql, tenantId: TenantId, connectionId: string): Promise<Connection | undefined>;
  /** Whether a provider has connections that are not revoked. */
  hasProvider(sql: Sql, tenantId: TenantId, providerKey: string): Promise<boolean>;
  /** Opens a connection, from a cache for most calls; returns a fault if it cannot be used. */
  open(tenantId: TenantId, connectionId: string): Promise<OpenConnection | ConnectionFault>;
  /** The credentials, for re-encryption when the master key changes. */
  readonly sealed: Reencryptable;
}

interface Parts extends ConnectionParts {
  readonly db: Database;
  /** A separate connection pool for cache reads during calls. */
  readonly side: Database;
  readonly clock: Clock;
  readonly cursors: Cursors;
}

/** Creates the module. */
export function createConnections({ db, side, clock, cursors, ...parts }: Parts): Connections {
  const { changes, keyring } = parts;
  return {
    handlers: connectionHandlers(createConnectionService(parts), cursors),
    find: (sql, tenantId, connectionId) => connectionStore(sql).find(tenantId, connectionId),
    hasProvider: (sql, tenantId, providerKey) => connectionStore(sql).hasProvider(tenantId, providerKey),
    open: createConnectionOpener({ db: side, changes, clock, keyring }),
    sealed: reencryptableConnections(db.sql),
  };
}
