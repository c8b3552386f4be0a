import type { BrowserSessionService as Rpc } from "../../../../gen/service/api/browser_session_pb.ts";
import type { Handlers } from "../../../chain/handlers.ts";
import type { BrowserSession } from "./domain/session.ts";
import { ownerOf, type SessionService } from "./service.ts";
import { sessionStore } from "./store.ts";

/** Creates the handlers of BrowserSessionService; `linkUrlOf` returns the link that a browser opens. */
export function sessionHandlers(service: SessionService, linkUrlOf: (token: string) => string): Handlers<typeof Rpc> {
  return {
    async createLoginLink(context, { returnTo }) {
      const { id, token, expiresAt } = await service.createLoginLink(context, returnTo);
      return { loginLink: { id, url: linkUrlOf(token), expiresAt } };
    },

    async getCurrentSession(context) {
      const { tenantId, subject, kind, roles, scopes, environmentMode, sessionId } = context.principal;
      const session = sessionId === undefined ? undefined : await service.find(context, sessionId);
      return {
        currentSession: {
          ...{ tenantId, subject, kind, environmentMode, roles, scopes: [...scopes].sort() },
          session: session && fromSession(session, sessionId),
        },
      };
    },

    async listBrowserSessions(context, request) {
      const { tenantId, sql, principal, nowMs } = context;
      const owner = ownerOf(principal) ?? { memberId: "", apiKeyId: "" };
      const page = await context.page("sessions", request, [owner.memberId, owner.apiKeyId], (wanted) =>
        sessionStore(sql).list(tenantId, owner, new Date(nowMs), wanted),
      );
      return { ...page, sessions: page.sessions.map((session) => fromSession(session, principal.sessionId)) };
    },

    async revokeBrowserSession(context, { id }) {
      const session = await service.revokeBrowserSession(context, id);
      return { browserSession: fromSession(session, context.principal.sessionId) };
    },

    async signOutEverywhere(context, request) {
      const { member, sessions } = await service.signOutEverywhere(context, request.memberId);
      return { signOut: { memberId: member.id, sessions, signedOutAt: member.signedOutAt } };
    },
  };
}

const fromSession = (session: BrowserSession, currentId: string | undefined) => ({
  ...session,
  current: session.id === currentId,
});
