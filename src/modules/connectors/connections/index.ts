/**
 * Connections: what the service needs to act for a tenant elsewhere.
 *
 * connection: settings, which are no secret, and credentials, which are sealed and never given out. revoked: ended for
 * good, its credentials wiped.
 */

import type { TenantId } from "../../../platform/access/index.ts";
import type { Clock } from "../../../platform/clock/clock.ts";
import type { Reencryptable } from "../../../platform/crypto/index.ts";
import type { Cursors } from "../../../platform/cursor/index.ts";
import type { Database, Sql } from "../../../platform/db/index.ts";
import type { Connection } from "./domain/connection.ts";
import { connectionHandlers } from "./handler.ts";
import { type ConnectionFault, createOpener, type OpenConnection } from "./open-connections.ts";
import { type ConnectionParts, createConnectionService } from "./service.ts";
import { connectionStore, reencryptableConnections } from "./store.ts";

export type { Connection, ConnectionFault, ConnectionParts, OpenConnection };

/** The door of the module. */
export interface Connections {
  readonly handlers: ReturnType<typeof connectionHandlers>;
  /** A connection in whatever state, without its credentials. */
  find(sql: Sql, tenantId: TenantId, connectionId: string): Promise<Connection | undefined>;
  /** A connection to be used now, from memory for most calls; or why it cannot be used. */
  open(tenantId: TenantId, connectionId: string): Promise<OpenConnection | ConnectionFault>;
  /** Its credentials are sealed anew when the master key changes. */
  readonly sealed: Reencryptable;
}

interface Parts extends ConnectionParts {
  readonly db: Database;
  /** What is read into memory in the middle of calls goes by these connections. */
  readonly side: Database;
  readonly clock: Clock;
  readonly cursors: Cursors;
}

/** Makes the module. */
export function createConnections({ db, side, clock, cursors, ...parts }: Parts): Connections {
  const { changes, keyring } = parts;
  return {
    handlers: connectionHandlers(createConnectionService(parts), cursors),
    find: (sql, tenantId, connectionId) => connectionStore(sql).find(tenantId, connectionId),
    open: createOpener({ db: side, changes, clock, keyring }),
    sealed: reencryptableConnections(db.sql),
  };
}
