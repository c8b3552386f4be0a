import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import {
  type BrowserSession as BrowserSessionMessage,
  BrowserSessionSchema,
  CreateLoginLinkResponseSchema,
  GetCurrentSessionResponseSchema,
  ListBrowserSessionsResponseSchema,
  RevokeBrowserSessionResponseSchema,
  type BrowserSessionService as Rpc,
  SignOutEverywhereResponseSchema,
} from "../../../../gen/service/api/browser_session_pb.ts";
import type { Handlers } from "../../../chain/handlers.ts";
import type { Cursors } from "../../../platform/cursor/index.ts";
import { readPage } from "../../../platform/paging/index.ts";
import { optionalTime } from "../../../platform/records/index.ts";
import type { BrowserSession } from "./domain/session.ts";
import { ownerOf, type SessionService } from "./service.ts";
import { sessionStore } from "./store.ts";

interface Dependencies {
  readonly service: SessionService;
  readonly cursors: Cursors;
  /** The link that a browser opens. */
  readonly linkUrlOf: (token: string) => string;
}

/** Creates the handlers of BrowserSessionService. */
export function sessionHandlers({ service, cursors, linkUrlOf }: Dependencies): Handlers<typeof Rpc> {
  return {
    async createLoginLink(context, { returnTo }) {
      const { id, token, expiresAt } = await service.createLoginLink(context, returnTo);
      const loginLink = { id, url: linkUrlOf(token), expiresAt: timestampFromDate(expiresAt) };
      return create(CreateLoginLinkResponseSchema, { loginLink });
    },

    async getCurrentSession(context) {
      const { principal } = context;
      const { tenantId, subject, kind, roles, scopes, environmentMode, sessionId } = principal;
      const session = sessionId === undefined ? undefined : await service.find(context, sessionId);
      const currentSession = {
        ...{ tenantId, subject, kind, environmentMode, roles: [...roles], scopes: [...scopes].sort() },
        session: session && fromSession(session, sessionId),
      };
      return create(GetCurrentSessionResponseSchema, { currentSession });
    },

    async listBrowserSessions({ tenantId, sql, operation, principal, nowMs }, request) {
      const owner = ownerOf(principal) ?? { memberId: "", apiKeyId: "" };
      const { items, ...page } = await readPage(
        cursors,
        request,
        { tenantId, operation: operation.id, filter: [owner.memberId, owner.apiKeyId] },
        (session: BrowserSession) => session.id,
        (wanted) => sessionStore(sql).list(tenantId, owner, new Date(nowMs), wanted),
      );
      const sessions = items.map((session) => fromSession(session, principal.sessionId));
      return create(ListBrowserSessionsResponseSchema, { ...page, sessions });
    },

    async revokeBrowserSession(context, { id }) {
      const session = await service.revokeBrowserSession(context, id);
      const browserSession = fromSession(session, context.principal.sessionId);
      return create(RevokeBrowserSessionResponseSchema, { browserSession });
    },

    async signOutEverywhere(context, request) {
      const { member, sessions } = await service.signOutEverywhere(context, request.memberId);
      const signOut = { memberId: member.id, sessions, signedOutAt: optionalTime(member.signedOutAt) };
      return create(SignOutEverywhereResponseSchema, { signOut });
    },
  };
}

function fromSession(session: BrowserSession, currentId: string | undefined): BrowserSessionMessage {
  const { tenantId, id, memberId, apiKeyId, method, connectionId, userAgent, address } = session;
  return create(BrowserSessionSchema, {
    ...{ tenantId, id, memberId, apiKeyId, method, connectionId, userAgent, address, current: id === currentId },
    createdAt: timestampFromDate(session.createdAt),
    lastSeenAt: timestampFromDate(session.lastSeenAt),
    expiresAt: timestampFromDate(session.expiresAt),
    endedAt: optionalTime(session.endedAt),
  });
}
