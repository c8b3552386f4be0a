import { fail } from "../../../errors/index.ts";
import { grantedScopes, type Principal, type TenantId } from "../../../platform/access/index.ts";
import { BoundedCache } from "../../../platform/cache/bounded-cache.ts";
import { tenantOfSecret } from "../../../platform/crypto/index.ts";
import { createTenantCache } from "../../../platform/db/index.ts";
import type { PlatformServices } from "../../area.ts";
import type { ApiKeys, MemberAccounts } from "../../tenancy/index.ts";
import type { BrowserSession } from "./domain/session.ts";
import { requireOwnRequest } from "./request-origin.ts";
import type { SignInCheck } from "./service.ts";
import { hashOf, readCookie } from "./session-cookie.ts";
import { sessionStore } from "./store.ts";

/** A session that is valid now, with the access that it gives. */
export interface LiveSession {
  readonly session: BrowserSession;
  readonly principal: Principal;
}

/** Identifies callers by the cookie of their browser session. */
export type SessionAuthenticator = ReturnType<typeof createSessionAuthenticator>;

interface Dependencies extends Pick<PlatformServices, "db" | "changes" | "clock" | "log"> {
  readonly members: Pick<MemberAccounts, "access">;
  readonly apiKeys: Pick<ApiKeys, "access">;
  /** The roles of groups that the identity provider named. */
  readonly rolesOfGroups: (tenantId: TenantId, groups: readonly string[]) => Promise<readonly string[]>;
  readonly maySignIn: SignInCheck;
  readonly idleMs: number;
  /** The URL at which browsers reach the service. */
  readonly publicUrl: () => string;
}

/** A stored session with its access; the access is undefined if the owner has none any more. */
interface LoadedSession {
  readonly session: BrowserSession;
  readonly principal: Principal | undefined;
}

const useRecordedEveryMs = 60_000;
const usesMax = 10_000;

/** Creates the authenticator. Sessions are cached until their tenant changes, which every node notices within a second. */
export function createSessionAuthenticator(dependencies: Dependencies) {
  const { db, changes, clock, log, members, apiKeys, rolesOfGroups, maySignIn, idleMs, publicUrl } = dependencies;
  /** When this node last saw a session, and when that was stored. */
  const uses = new BoundedCache<string, { tenantId: TenantId; atMs: number; storedAtMs: number }>(usesMax);

  async function memberPrincipal(session: BrowserSession): Promise<Principal | undefined> {
    const { tenantId, id: sessionId, memberId } = session;
    const member = await members.access(db.sql, tenantId, memberId);
    if (member?.status !== "active") return undefined;
    const groupRoles = session.groups.length === 0 ? [] : await rolesOfGroups(tenantId, session.groups);
    const roles = [...new Set([...member.roles, ...groupRoles])];
    if (!(await maySignIn(db.sql, tenantId, { email: member.email, roles }, session))) return undefined;
    return {
      ...{ tenantId, subject: subjectOf(member), kind: "user", roles, scopes: grantedScopes(roles, []) },
      ...{ environmentMode: member.environmentMode, expiresAt: member.expiresAt ?? undefined, memberId, sessionId },
    };
  }

  async function load(key: string): Promise<LoadedSession | undefined> {
    const [tenantId, hash] = key.split(":") as [TenantId, string];
    const session = await sessionStore(db.sql).findByToken(tenantId, Buffer.from(hash, "base64"));
    if (session === undefined) return undefined;
    if (session.endedAt !== null) return { session, principal: undefined };
    if (session.memberId !== "") return { session, principal: await memberPrincipal(session) };
    const access = await apiKeys.access(db.sql, session.tenantId, session.apiKeyId, clock.now());
    return { session, principal: access && { ...access, sessionId: session.id } };
  }

  const cache = createTenantCache<string, LoadedSession | undefined>({
    changes,
    load,
    tenantOf: (_key, loaded) => loaded?.session.tenantId,
  });

  /** Whether a session can be used now. Another node may have seen it since it was read. */
  function verdictOf({ session, principal }: LoadedSession): "live" | "idle" | "ended" {
    const nowMs = clock.now();
    if (principal === undefined || session.expiresAt.getTime() <= nowMs) return "ended";
    if (principal.expiresAt !== undefined && principal.expiresAt.getTime() <= nowMs) return "ended";
    const seenMs = Math.max(session.lastSeenAt.getTime(), uses.get(session.id)?.atMs ?? 0);
    return seenMs + idleMs <= nowMs ? "idle" : "live";
  }

  function use({ tenantId, id, lastSeenAt }: BrowserSession): void {
    const before = uses.get(id);
    const atMs = clock.now();
    uses.set(id, { tenantId, atMs, storedAtMs: before?.storedAtMs ?? lastSeenAt.getTime() });
  }

  function accept(loaded: LoadedSession): LiveSession {
    use(loaded.session);
    return { session: loaded.session, principal: loaded.principal! };
  }

  function check(
    key: string,
    loaded: LoadedSession | undefined,
  ): LiveSession | undefined | Promise<LiveSession | undefined> {
    if (loaded === undefined) return undefined;
    const verdict = verdictOf(loaded);
    if (verdict === "live") return accept(loaded);
    if (verdict === "ended") return undefined;
    return load(key).then((read) => (read !== undefined && verdictOf(read) === "live" ? accept(read) : undefined));
  }

  function lookUp(cookie: string): LiveSession | undefined | Promise<LiveSession | undefined> {
    const key = `${tenantOfSecret(cookie)}:${hashOf(cookie).toString("base64")}`;
    const found = cache.get(key);
    return found instanceof Promise ? found.then((loaded) => check(key, loaded)) : check(key, found);
  }

  return {
    /**
     * The caller of an API request; undefined without a session cookie. Throws if the session is not valid any more, or if the
     * request may come from another site.
     */
    authenticate(request: {
      readonly httpMethod: string;
      readonly header: (name: string) => string | undefined;
    }): Principal | undefined | Promise<Principal | undefined> {
      const header = request.header("cookie");
      if (header === undefined) return undefined;
      // A key or a token is the caller's choice; the cookie is sent by every request of the browser.
      if (request.header("x-api-key") !== undefined || request.header("authorization") !== undefined) return undefined;
      const url = new URL(publicUrl());
      const cookie = readCookie("session", header, url);
      if (cookie === undefined) return undefined;
      requireOwnRequest(request, url.origin);
      const found = lookUp(cookie);
      return found instanceof Promise ? found.then(principalOrRefusal) : principalOrRefusal(found);
    },
    /** The valid session of a cookie, for hosted pages. */
    find: async (cookie: string): Promise<LiveSession | undefined> => lookUp(cookie),
    /** Writes the times of last use to the database. */
    async flushUses() {
      const nowMs = clock.now();
      const unsaved = [...uses].filter(([, { atMs, storedAtMs }]) => atMs - storedAtMs >= useRecordedEveryMs);
      for (const [id, { storedAtMs }] of uses) if (storedAtMs + 2 * idleMs < nowMs) uses.delete(id);
      if (unsaved.length === 0) return;
      const recorded = unsaved.map(([id, { tenantId, atMs }]) => ({ tenantId, id, at: new Date(atMs) }));
      try {
        await sessionStore(db.sql).touch(recorded);
        for (const [, entry] of unsaved) entry.storedAtMs = entry.atMs;
      } catch (error) {
        log.warn({ err: error }, "could not store the last use of browser sessions");
      }
    },
  };
}

function principalOrRefusal(found: LiveSession | undefined): Principal {
  if (found !== undefined) return found.principal;
  throw fail("UNAUTHENTICATED", { public: "The browser session has ended. Sign in again at /auth/sign-in." });
}

/** The subject of a member's calls. */
function subjectOf({ id, subject }: { readonly id: string; readonly subject: string }): string {
  return subject === "" ? `member:${id}` : subject;
}
