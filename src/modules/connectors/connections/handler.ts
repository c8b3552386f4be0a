import { create } from "@bufbuild/protobuf";
import {
  type ConnectionAttempt as ConnectionAttemptMessage,
  ConnectionAttemptSchema,
  type Connection as ConnectionMessage,
  ConnectionSchema,
  CreateConnectionResponseSchema,
  GetConnectionResponseSchema,
  ListConnectionsResponseSchema,
  type RefreshConnectionRequest,
  RefreshConnectionResponseSchema,
  RevokeConnectionResponseSchema,
  type ConnectionService as Rpc,
  type TestConnectionRequest,
  TestConnectionResponseSchema,
  type UpdateConnectionRequest,
  UpdateConnectionResponseSchema,
} from "../../../../gen/service/api/connection_pb.ts";
import type { Context } from "../../../chain/call.ts";
import type { Handlers } from "../../../chain/handlers.ts";
import { environmentIdOf, productionOf, type TenantId } from "../../../platform/access/index.ts";
import type { Cursors } from "../../../platform/cursor/index.ts";
import { readPage } from "../../../platform/paging/index.ts";
import { dateOf, expectedVersion, optionalTime, stampFields } from "../../../platform/records/index.ts";
import type { AuthMode } from "../manifests/index.ts";
import type { ConnectionChange, ConnectionUpdates, TestedCredentials } from "./connection-updates.ts";
import type { Connection, ConnectionAttempt } from "./domain/connection.ts";
import type { ConnectionService } from "./service.ts";
import { connectionStore } from "./store.ts";
import type { TestResult } from "./verification/connection-tester.ts";

interface Dependencies {
  readonly service: ConnectionService;
  readonly updates: ConnectionUpdates;
  readonly test: (tenantId: TenantId, id: string) => Promise<TestResult>;
  readonly cursors: Cursors;
}

export function connectionHandlers({ service, updates, test, cursors }: Dependencies): Handlers<typeof Rpc> {
  return {
    async createConnection(context, request) {
      const { name, providerKey, environmentId, endUser, scopes, settings, credentials, expiresAt } = request;
      const { authMode, providerConfigId } = request;
      const connection = await service.createConnection(context, {
        ...{ name, providerKey, environmentId, scopes, credentials, providerConfigId },
        endUser: endUser && { id: endUser.id, email: endUser.email, displayName: endUser.displayName },
        settings: settings ?? {},
        authMode: authMode as AuthMode | "",
        expiresAt: expiresAt === undefined ? null : dateOf(expiresAt),
      });
      return create(CreateConnectionResponseSchema, { connection: fromConnection(connection) });
    },

    async getConnection(context, { id }) {
      const connection = await service.getConnection(context, id);
      const attempts = await connectionStore(context.sql).attempts(context.tenantId, id);
      const message = { ...fromConnection(connection), attempts: attempts.map(fromAttempt) };
      return create(GetConnectionResponseSchema, { connection: message });
    },

    updateConnection: {
      prepare: (context: Context, request: UpdateConnectionRequest) =>
        updates.prepare(context, request.id, toChange(request), expectedVersion(request.recordVersion)),
      async run(context: Context, request: UpdateConnectionRequest, tested: TestedCredentials | undefined) {
        const { id, recordVersion } = request;
        const version = expectedVersion(recordVersion);
        const connection = await updates.update(context, id, toChange(request), version, tested);
        return create(UpdateConnectionResponseSchema, { connection: fromConnection(connection) });
      },
    },

    testConnection: {
      async prepare(context: Context, { id }: TestConnectionRequest) {
        await service.getConnection(context, id);
        return test(context.tenantId, id);
      },
      async run(context: Context, { id }: TestConnectionRequest, result: TestResult) {
        const { status } = await service.recordTest(context, id, result);
        const { account, ...rest } = result;
        return create(TestConnectionResponseSchema, { ...rest, status, ...(account && { account }) });
      },
    },

    refreshConnection: {
      prepare: (context: Context, { id }: RefreshConnectionRequest) => service.refreshConnection(context, id),
      async run(context: Context, { id }: RefreshConnectionRequest) {
        const connection = await service.getConnection(context, id);
        return create(RefreshConnectionResponseSchema, { connection: fromConnection(connection) });
      },
    },

    async revokeConnection(context, { id }) {
      const connection = await service.revokeConnection(context, id);
      return create(RevokeConnectionResponseSchema, { connection: fromConnection(connection) });
    },

    async listConnections(context, request) {
      const { tenantId, sql, operation, principal } = context;
      const filter = {
        providerKey: request.providerKey || undefined,
        status: request.status || undefined,
        endUserId: request.endUserId || undefined,
        providerConfigId: request.providerConfigId || undefined,
        environmentId: (await environmentIdOf(context, request.environmentId)) || undefined,
        inProduction: productionOf(principal),
      };
      const page = await readPage(
        cursors,
        request,
        { tenantId, operation: operation.id, filter: Object.values(filter) },
        (connection: Connection) => connection.id,
        (wanted) => connectionStore(sql).list(tenantId, filter, wanted),
      );
      return create(ListConnectionsResponseSchema, { ...page, connections: page.items.map(fromConnection) });
    },
  };
}

function toChange({
  name,
  endUser,
  settings,
  credentials,
  accountId,
  expiresAt,
}: UpdateConnectionRequest): ConnectionChange {
  return {
    name,
    endUser: endUser && { id: endUser.id, email: endUser.email, displayName: endUser.displayName },
    settings,
    accountId,
    credentials: Object.keys(credentials).length === 0 ? undefined : credentials,
    expiresAt: expiresAt === undefined ? null : dateOf(expiresAt),
  };
}

function fromAttempt({ at, ...attempt }: ConnectionAttempt): ConnectionAttemptMessage {
  return create(ConnectionAttemptSchema, { ...attempt, at: optionalTime(at) });
}

function fromConnection(connection: Connection): ConnectionMessage {
  const { account, endUser } = connection;
  return create(ConnectionSchema, {
    id: connection.id,
    tenantId: connection.tenantId,
    environmentId: connection.environmentId,
    name: connection.name,
    providerKey: connection.providerKey,
    providerConfigId: connection.providerConfigId,
    ...(endUser !== undefined && { endUser }),
    ...(account.id !== "" && { account }),
    accountChoices: connection.accountChoices.map(({ id, label }) => ({ id, label })),
    authMode: connection.authMode,
    status: connection.status,
    statusReason: connection.statusReason,
    providerRevocation: connection.providerRevocation,
    scopes: connection.scopes as string[],
    settings: connection.settings as never,
    expiresAt: optionalTime(connection.expiresAt),
    grantExpiresAt: optionalTime(connection.grantExpiresAt),
    lastRefreshedAt: optionalTime(connection.lastRefreshedAt),
    lastRefreshError: connection.lastRefreshError,
    lastTestedAt: optionalTime(connection.lastTestedAt),
    lastTestClass: connection.lastTestClass,
    revokedAt: optionalTime(connection.revokedAt),
    ...stampFields(connection),
  });
}
