import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import {
  type CompleteConnectSessionRequest,
  CompleteConnectSessionResponseSchema,
  type ConnectSession as ConnectSessionMessage,
  ConnectSessionSchema,
  CreateConnectSessionResponseSchema,
  GetConnectSessionResponseSchema,
  ListConnectSessionsResponseSchema,
  RevokeConnectSessionResponseSchema,
  type ConnectSessionService as Rpc,
} from "../../../../gen/service/api/connect_session_pb.ts";
import type { Context } from "../../../chain/call.ts";
import type { Handlers } from "../../../chain/handlers.ts";
import { productionOf } from "../../../platform/access/index.ts";
import type { Cursors } from "../../../platform/cursor/index.ts";
import { readPage } from "../../../platform/paging/index.ts";
import { optionalTime, stampFields } from "../../../platform/records/index.ts";
import type { ConnectSession } from "./domain/connect-session.ts";
import { statusAt } from "./domain/session-status.ts";
import type { Completion } from "./flow/completion.ts";
import type { ConnectSessionService } from "./service.ts";
import { connectSessionStore } from "./store.ts";

interface Dependencies {
  readonly service: ConnectSessionService;
  readonly completion: Pick<Completion, "complete">;
  readonly cursors: Cursors;
  /** The link for the end user. */
  readonly connectUrlOf: (id: string, token: string) => string;
}

export function connectSessionHandlers({
  service,
  completion,
  cursors,
  connectUrlOf,
}: Dependencies): Handlers<typeof Rpc> {
  return {
    async createConnectSession(context, request) {
      const { id, email, displayName } = request.endUser!;
      const { session, token } = await service.createConnectSession(context, {
        allowedProviderKeys: request.allowedProviderKeys,
        providerConfigId: request.providerConfigId,
        environmentId: request.environmentId,
        endUser: { id, email, displayName },
        connectionId: request.connectionId,
        connectionName: request.connectionName,
        scopes: request.scopes,
        allowedOrigins: request.allowedOrigins,
        successRedirectUri: request.successRedirectUri,
        errorRedirectUri: request.errorRedirectUri,
        expiresInS: request.expiresInS,
        requireCompletion: request.requireCompletion,
      });
      const shownOnce = { token, connectUrl: connectUrlOf(session.id, token) };
      const connectSession = create(ConnectSessionSchema, { ...fromSession(session, context.nowMs), ...shownOnce });
      return create(CreateConnectSessionResponseSchema, { connectSession });
    },

    async getConnectSession(context, { id }) {
      const session = await service.getConnectSession(context, id);
      return create(GetConnectSessionResponseSchema, { connectSession: fromSession(session, context.nowMs) });
    },

    async listConnectSessions({ tenantId, sql, operation, principal, nowMs }, request) {
      const filter = {
        status: request.status || undefined,
        endUserId: request.endUserId || undefined,
        inProduction: productionOf(principal),
      };
      const page = await readPage(
        cursors,
        request,
        { tenantId, operation: operation.id, filter: [filter.status, filter.endUserId, filter.inProduction] },
        ({ id }: ConnectSession) => id,
        (wanted) => connectSessionStore(sql).list(tenantId, filter, wanted, new Date(nowMs)),
      );
      const connectSessions = page.items.map((session) => fromSession(session, nowMs));
      return create(ListConnectSessionsResponseSchema, { ...page, connectSessions });
    },

    async revokeConnectSession(context, { id }) {
      const session = await service.revokeConnectSession(context, id);
      return create(RevokeConnectSessionResponseSchema, { connectSession: fromSession(session, context.nowMs) });
    },

    completeConnectSession: {
      prepare: (context: Context, { id, completionCode, endUserId }: CompleteConnectSessionRequest) =>
        completion.complete(context, id, completionCode, endUserId),
      async run(context: Context, { id }: CompleteConnectSessionRequest) {
        const session = await service.getConnectSession(context, id);
        return create(CompleteConnectSessionResponseSchema, { connectSession: fromSession(session, context.nowMs) });
      },
    },
  };
}

function fromSession(session: ConnectSession, nowMs: number): ConnectSessionMessage {
  return create(ConnectSessionSchema, {
    id: session.id,
    tenantId: session.tenantId,
    environmentId: session.environmentId,
    status: statusAt(session, nowMs),
    allowedProviderKeys: [...session.allowedProviderKeys],
    providerConfigId: session.providerConfigId,
    endUser: session.endUser,
    connectionId: session.connectionId,
    connectionName: session.connectionName,
    scopes: [...session.scopes],
    allowedOrigins: [...session.allowedOrigins],
    successRedirectUri: session.successRedirectUri,
    errorRedirectUri: session.errorRedirectUri,
    requireCompletion: session.requireCompletion,
    awaitingCompletion: session.awaitingCompletion,
    resultConnectionId: session.resultConnectionId,
    errorCode: session.errorCode,
    errorDetail: session.errorDetail,
    expiresAt: timestampFromDate(session.expiresAt),
    endedAt: optionalTime(session.endedAt),
    ...stampFields(session),
  });
}
