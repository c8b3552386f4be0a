import type { Context } from "../../../chain/call.ts";
import { fail, invalid } from "../../../errors/index.ts";
import type { Principal, TenantId } from "../../../platform/access/index.ts";
import { newTenantSecret, tenantOfSecret } from "../../../platform/crypto/index.ts";
import { notFound, type Sql, type TenantChanges } from "../../../platform/db/index.ts";
import { ulid } from "../../../platform/ids/ulid.ts";
import type { EventContext, EventRecorder } from "../../operations/index.ts";
import type { ApiKeys, MemberAccounts } from "../../tenancy/index.ts";
import {
  type BrowserSession,
  type EndReason,
  isOwner,
  type NewSession,
  type SessionOwner,
  safeReturnPath,
} from "./domain/session.ts";
import { hashOf } from "./session-cookie.ts";
import type { SessionMetrics } from "./session-metrics.ts";
import { sessionStore } from "./store.ts";

/** Whether a member with these roles may use a session that was started in this way. */
export type SignInCheck = (
  sql: Sql,
  tenantId: TenantId,
  member: { readonly email: string; readonly roles: readonly string[] },
  session: Pick<BrowserSession, "method" | "connectionId">,
) => Promise<boolean>;

/** Why no session was started. */
export interface OpenRefusal {
  readonly refusal: "inactive" | "sso_enforced";
}

export interface SessionParts {
  readonly maySignIn: SignInCheck;
  readonly changes: TenantChanges;
  readonly events: EventRecorder;
  readonly metrics: SessionMetrics;
  readonly members: Pick<MemberAccounts, "lock" | "signOut">;
  readonly apiKeys: Pick<ApiKeys, "access">;
  readonly sessionMs: number;
}

const linkMs = 10 * 60_000;
const userAgentCharsMax = 300;

export type SessionService = ReturnType<typeof createSessionService>;

export function createSessionService({
  changes,
  events,
  metrics,
  members,
  apiKeys,
  maySignIn,
  sessionMs,
}: SessionParts) {
  async function ended(context: EventContext, sessions: readonly BrowserSession[]): Promise<void> {
    if (sessions.length === 0) return;
    await changes.invalidate(context);
    for (const session of sessions) {
      await events.record(context, "browser_session.ended", session.id, {
        member_id: session.memberId,
        reason: session.endReason,
      });
      metrics.ended(session.endReason);
    }
  }

  async function createLink(
    { sql, tenantId, nowMs }: Pick<EventContext, "sql" | "tenantId" | "nowMs">,
    owner: SessionOwner,
    createdBy: string,
    returnTo: string,
  ): Promise<{ id: string; token: string; expiresAt: Date }> {
    const token = newTenantSecret(tenantId);
    const expiresAt = new Date(nowMs + linkMs);
    const id = ulid(nowMs);
    const link = { tenantId, id, ...owner, returnTo: returnTo === "" ? "" : safeReturnPath(returnTo) };
    await sessionStore(sql).insertLink(hashOf(token), { ...link, createdBy, expiresAt, createdAt: new Date(nowMs) });
    return { id, token, expiresAt };
  }

  /**
   * Why somebody may not sign in now; undefined if they may. A member stays as it is until the transaction ends, so that a
   * suspension ends the session.
   */
  async function refusalOf(
    { sql, tenantId, nowMs }: EventContext,
    session: NewSession,
  ): Promise<OpenRefusal | undefined> {
    const { memberId, apiKeyId } = session;
    if (memberId === "") {
      return (await apiKeys.access(sql, tenantId, apiKeyId, nowMs)) ? undefined : { refusal: "inactive" };
    }
    const member = await members.lock(sql, tenantId, memberId);
    if (member?.status !== "active") return { refusal: "inactive" };
    const person = { email: member.email, roles: [...member.roles, ...member.groupRoles] };
    return (await maySignIn(sql, tenantId, person, session)) ? undefined : { refusal: "sso_enforced" };
  }

  return {
    createLink,

    /** Creates a link with the access of the caller. */
    async createLoginLink(context: Context, returnTo: string) {
      const owner = ownerOf(context.principal);
      if (owner === undefined) {
        throw fail("FAILED_PRECONDITION", {
          public: "A login link has the access of an API key or of a member. Call with a key, or as a member.",
        });
      }
      const link = await createLink(context, owner, context.principal.subject, returnTo);
      await events.record(context, "login_link.created", link.id, { created_by: context.principal.subject });
      return link;
    },

    /** Spends a link; undefined if it is unknown, expired or was used. */
    async spendLink({ sql, nowMs }: Pick<EventContext, "sql" | "nowMs">, token: string) {
      return sessionStore(sql).spendLink(tenantOfSecret(token), hashOf(token), new Date(nowMs));
    },

    /**
     * Starts a session for a sign-in that was verified, if its owner may still sign in like this. The cookie is always new, so
     * that nobody else can know it.
     */
    async open(context: EventContext, input: NewSession) {
      const { sql, tenantId, nowMs } = context;
      const refusal = await refusalOf(context, input);
      if (refusal !== undefined) return refusal;
      const { notAfter, ...fields } = input;
      const cookie = newTenantSecret(tenantId);
      const latestMs = Math.min(nowMs + sessionMs, notAfter?.getTime() ?? Number.POSITIVE_INFINITY);
      const now = new Date(nowMs);
      const session = await sessionStore(sql).insert(hashOf(cookie), {
        ...fields,
        ...{ tenantId, id: ulid(nowMs), userAgent: input.userAgent.slice(0, userAgentCharsMax) },
        ...{ createdAt: now, lastSeenAt: now, expiresAt: new Date(latestMs), endedAt: null, endReason: "" },
      });
      const { id, method, memberId, connectionId } = session;
      await events.record(context, "browser_session.started", id, {
        ...{ method, member_id: memberId, connection_id: connectionId },
      });
      metrics.started(method);
      return { session, cookie };
    },

    /** Ends a session; without an effect if it has ended. */
    async end(context: EventContext, id: string, reason: EndReason): Promise<void> {
      const session = await sessionStore(context.sql).end(context.tenantId, id, reason, new Date(context.nowMs));
      await ended(context, session === undefined ? [] : [session]);
    },

    /** Ends the session of a cookie, whatever its tenant. */
    async endByCookie(context: Omit<EventContext, "tenantId">, cookie: string, reason: EndReason) {
      const found = await sessionStore(context.sql).findByToken(tenantOfSecret(cookie), hashOf(cookie));
      if (found === undefined) return undefined;
      await this.end({ ...context, tenantId: found.tenantId }, found.id, reason);
      return found;
    },

    /** Ends all sessions of a member and of API keys, and voids their links. */
    async endOfPerson(context: EventContext, memberId: string, apiKeyIds: readonly string[], reason: EndReason) {
      const { sql, tenantId, nowMs } = context;
      const store = sessionStore(sql);
      const sessions = await store.endOfPerson(tenantId, memberId, apiKeyIds, reason, new Date(nowMs));
      await store.deleteLinksOfPerson(tenantId, memberId, apiKeyIds);
      await ended(context, sessions);
      return sessions.length;
    },

    /** Ends the sessions that were signed in with a connection, and whose provider data include these. */
    async endOfConnection(
      context: EventContext,
      connectionId: string,
      providerData: Readonly<Record<string, string>>,
      reason: EndReason,
    ): Promise<number> {
      const now = new Date(context.nowMs);
      const store = sessionStore(context.sql);
      const sessions = await store.endOfConnection(context.tenantId, connectionId, providerData, reason, now);
      await ended(context, sessions);
      return sessions.length;
    },

    async find({ sql, tenantId }: Context, id: string): Promise<BrowserSession | undefined> {
      return sessionStore(sql).find(tenantId, id);
    },

    /** Ends one of the caller's own sessions; an admin may end every session of the tenant. */
    async revokeBrowserSession(context: Context, id: string): Promise<BrowserSession> {
      const { sql, tenantId, principal } = context;
      const store = sessionStore(sql);
      const session = await store.find(tenantId, id);
      const owner = ownerOf(principal);
      const isOwn = session !== undefined && owner !== undefined && isOwner(session, owner);
      // A session of somebody else does not exist for callers who may not end it.
      if (session === undefined || !(isOwn || principal.roles.includes("admin"))) throw notFound("session");
      await this.end(context, id, "revoked");
      return (await store.find(tenantId, id))!;
    },

    /** Signs the caller out everywhere; an admin may sign out every member. */
    async signOutEverywhere(context: Context, wantedId: string) {
      const { memberId: ownId = "", roles } = context.principal;
      const memberId = wantedId || ownId;
      if (memberId === "") throw invalid("member_id", "required", "must be set, because the caller is not a member");
      const isAllowed = memberId === ownId || roles.includes("admin");
      const signedOut = isAllowed ? await members.signOut(context, memberId) : undefined;
      // Other members do not exist for callers who may not sign them out.
      if (signedOut === undefined) throw notFound("member");
      return signedOut;
    },
  };
}

/** Whose sessions a caller has; undefined for callers that cannot have any. */
export function ownerOf({ kind, subject, memberId }: Principal): SessionOwner | undefined {
  if (kind === "api_key") return { memberId: "", apiKeyId: subject.slice("key:".length) };
  return kind === "user" && memberId !== undefined ? { memberId, apiKeyId: "" } : undefined;
}
