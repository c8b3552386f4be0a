import { create } from "@bufbuild/protobuf";
import {
  type Connection as ConnectionMessage,
  ConnectionSchema,
  CreateConnectionResponseSchema,
  GetConnectionResponseSchema,
  ListConnectionsResponseSchema,
  RevokeConnectionResponseSchema,
  type ConnectionService as Rpc,
} from "../../../../gen/service/api/connection_pb.ts";
import type { Handlers } from "../../../chain/handlers.ts";
import type { Cursors } from "../../../platform/cursor/index.ts";
import { readPage } from "../../../platform/paging/index.ts";
import { dateOf, optionalTime, stampFields } from "../../../platform/records/index.ts";
import type { Connection } from "./domain/connection.ts";
import type { ConnectionService } from "./service.ts";
import { connectionStore } from "./store.ts";

/** Creates the handlers of ConnectionService. */
export function connectionHandlers(service: ConnectionService, cursors: Cursors): Handlers<typeof Rpc> {
  return {
    async createConnection(context, { name, providerKey, endUser, scopes, settings, credentials, expiresAt }) {
      const connection = await service.createConnection(context, {
        name,
        providerKey,
        endUser: endUser && { id: endUser.id, email: endUser.email, displayName: endUser.displayName },
        scopes,
        settings: settings ?? {},
        credentials,
        expiresAt: expiresAt === undefined ? null : dateOf(expiresAt),
      });
      return create(CreateConnectionResponseSchema, { connection: fromConnection(connection) });
    },

    async getConnection(context, { id }) {
      const connection = await service.getConnection(context, id);
      return create(GetConnectionResponseSchema, { connection: fromConnection(connection) });
    },

    async revokeConnection(context, { id }) {
      const connection = await service.revokeConnection(context, id);
      return create(RevokeConnectionResponseSchema, { connection: fromConnection(connection) });
    },

    async listConnections(context, request) {
      const { tenantId, sql, operation } = context;
      const filter = { providerKey: request.providerKey || undefined, status: request.status || undefined };
      const page = await readPage(
        cursors,
        request,
        { tenantId, operation: operation.id, filter: [filter.providerKey, filter.status] },
        (connection: Connection) => connection.id,
        (wanted) => connectionStore(sql).list(tenantId, filter, wanted),
      );
      return create(ListConnectionsResponseSchema, { ...page, connections: page.items.map(fromConnection) });
    },
  };
}

function fromConnection(connection: Connection): ConnectionMessage {
  return create(ConnectionSchema, {
    id: connection.id,
    tenantId: connection.tenantId,
    name: connection.name,
    providerKey: connection.providerKey,
    providerConfigId: connection.providerConfigId,
    ...(connection.endUser !== undefined && { endUser: connection.endUser }),
    status: connection.status,
    scopes: connection.scopes as string[],
    settings: connection.settings as never,
    expiresAt: optionalTime(connection.expiresAt),
    lastRefreshedAt: optionalTime(connection.lastRefreshedAt),
    revokedAt: optionalTime(connection.revokedAt),
    ...stampFields(connection),
  });
}
