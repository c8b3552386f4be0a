import type {
  CompleteConnectSessionRequest,
  ConnectSessionService as Rpc,
} from "../../../../gen/service/api/connect_session_pb.ts";
import type { Context } from "../../../chain/call.ts";
import type { Handlers } from "../../../chain/handlers.ts";
import { productionOf } from "../../../platform/access/index.ts";
import type { ConnectSession } from "./domain/connect-session.ts";
import { statusAt } from "./domain/session-status.ts";
import type { Completion } from "./flow/completion.ts";
import type { ConnectSessionService } from "./service.ts";
import { connectSessionStore } from "./store.ts";

interface Dependencies {
  readonly service: ConnectSessionService;
  readonly completion: Pick<Completion, "complete">;
  /** The link for the end user. */
  readonly connectUrlOf: (id: string, token: string) => string;
}

export function connectSessionHandlers({ service, completion, connectUrlOf }: Dependencies): Handlers<typeof Rpc> {
  return {
    async createConnectSession(context, request) {
      const { id, email, displayName } = request.endUser!;
      const input = { ...request, endUser: { id, email, displayName } };
      const { session, token } = await service.createConnectSession(context, input);
      const shownOnce = { token, connectUrl: connectUrlOf(session.id, token) };
      return { connectSession: { ...fromSession(session, context.nowMs), ...shownOnce } };
    },

    async getConnectSession(context, { id }) {
      return { connectSession: fromSession(await service.getConnectSession(context, id), context.nowMs) };
    },

    async listConnectSessions(context, request) {
      const { tenantId, sql, principal, nowMs } = context;
      const { status, endUserId } = request;
      const filter = { status, endUserId, inProduction: productionOf(principal) };
      const page = await context.page("connectSessions", request, Object.values(filter), (wanted) =>
        connectSessionStore(sql).list(tenantId, filter, wanted, new Date(nowMs)),
      );
      return { ...page, connectSessions: page.connectSessions.map((session) => fromSession(session, nowMs)) };
    },

    async revokeConnectSession(context, { id }) {
      return { connectSession: fromSession(await service.revokeConnectSession(context, id), context.nowMs) };
    },

    completeConnectSession: {
      prepare: (context: Context, { id, completionCode, endUserId }: CompleteConnectSessionRequest) =>
        completion.complete(context, id, completionCode, endUserId),
      async run(context: Context, { id }: CompleteConnectSessionRequest) {
        return { connectSession: fromSession(await service.getConnectSession(context, id), context.nowMs) };
      },
    },
  };
}

const fromSession = (session: ConnectSession, nowMs: number) => ({ ...session, status: statusAt(session, nowMs) });
