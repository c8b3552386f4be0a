import type {
  RefreshConnectionRequest,
  ConnectionService as Rpc,
  TestConnectionRequest,
  UpdateConnectionRequest,
} from "../../../../gen/service/api/connection_pb.ts";
import type { Context } from "../../../chain/call.ts";
import type { Handlers } from "../../../chain/handlers.ts";
import { environmentIdOf, productionOf, type TenantId } from "../../../platform/access/index.ts";
import { dateOf, expectedVersion } from "../../../platform/records/index.ts";
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
}

export function connectionHandlers({ service, updates, test }: Dependencies): Handlers<typeof Rpc> {
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
      return { connection: fromConnection(connection) };
    },

    async getConnection(context, { id }) {
      const connection = await service.getConnection(context, id);
      const attempts = await connectionStore(context.sql).attempts(context.tenantId, id);
      return { connection: { ...fromConnection(connection), attempts } };
    },

    updateConnection: {
      prepare: (context: Context, request: UpdateConnectionRequest) =>
        updates.prepare(context, request.id, toChange(request), expectedVersion(request.recordVersion)),
      async run(context: Context, request: UpdateConnectionRequest, tested: TestedCredentials | undefined) {
        const { id, recordVersion } = request;
        const version = expectedVersion(recordVersion);
        return { connection: fromConnection(await updates.update(context, id, toChange(request), version, tested)) };
      },
    },

    testConnection: {
      async prepare(context: Context, { id }: TestConnectionRequest) {
        await service.getConnection(context, id);
        return test(context.tenantId, id);
      },
      async run(context: Context, { id }: TestConnectionRequest, result: TestResult) {
        const { status } = await service.recordTest(context, id, result);
        return { ...result, status };
      },
    },

    refreshConnection: {
      prepare: (context: Context, { id }: RefreshConnectionRequest) => service.refreshConnection(context, id),
      async run(context: Context, { id }: RefreshConnectionRequest) {
        return { connection: fromConnection(await service.getConnection(context, id)) };
      },
    },

    async revokeConnection(context, { id }) {
      return { connection: fromConnection(await service.revokeConnection(context, id)) };
    },

    async listConnections(context, request) {
      const { tenantId, sql, principal } = context;
      const { providerKey, status, endUserId, providerConfigId } = request;
      const environmentId = await environmentIdOf(context, request.environmentId);
      const inProduction = productionOf(principal);
      const filter = { providerKey, status, endUserId, providerConfigId, environmentId, inProduction };
      const page = await context.page("connections", request, Object.values(filter), (wanted) =>
        connectionStore(sql).list(tenantId, filter, wanted),
      );
      return { ...page, connections: page.connections.map(fromConnection) };
    },
  };
}

function toChange(request: UpdateConnectionRequest): ConnectionChange {
  const { name, endUser, settings, credentials, accountId, expiresAt } = request;
  return {
    ...{ name, settings, accountId },
    endUser: endUser && { id: endUser.id, email: endUser.email, displayName: endUser.displayName },
    credentials: Object.keys(credentials).length === 0 ? undefined : credentials,
    expiresAt: expiresAt === undefined ? null : dateOf(expiresAt),
  };
}

const fromConnection = (connection: Connection) => ({
  ...connection,
  account: connection.account.id === "" ? undefined : connection.account,
  attempts: [] as readonly ConnectionAttempt[],
});
