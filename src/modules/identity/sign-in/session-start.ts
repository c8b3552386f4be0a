import type { Audit } from "../../../platform/audit/index.ts";
import type { PlatformServices } from "../../area.ts";
import type { EventContext } from "../../operations/index.ts";
import { inTenant } from "../../tenant-work.ts";
import type { ExternalPerson, MemberFinder, SignInRefusal, SsoConnection } from "../connections/index.ts";
import type { BrowserSession, NewSession, SessionService } from "../sessions/index.ts";

export interface SigningBrowser {
  readonly userAgent: string;
  readonly address: string;
  /** The session cookie that it has sent. Its session ends, because the browser gets a new one. */
  readonly previousCookie: string | undefined;
}

/** A session that was started. */
export interface StartedSession {
  readonly session: BrowserSession;
  readonly cookie: string;
}

/** Starts sessions for verified sign-ins. */
export type SessionStarter = ReturnType<typeof createSessionStarter>;

interface Dependencies extends Pick<PlatformServices, "db" | "clock"> {
  readonly audit: Audit | undefined;
  readonly sessions: SessionService;
  readonly findMember: MemberFinder;
}

export function createSessionStarter(dependencies: Dependencies) {
  const { audit, sessions, findMember } = dependencies;

  async function record(
    tenantId: string,
    actor: string,
    error: string | undefined,
    browser: SigningBrowser,
    id: string,
  ) {
    await audit?.append({
      ...{ tenant_id: tenantId, actor, actor_kind: "user", operation: "identity.sign_in" },
      ...{ resource: "browser_session", action: "write", outcome: error === undefined ? "succeeded" : "denied" },
      ...(error !== undefined && { error_code: error }),
      ...{
        request_id: "",
        remote_address: browser.address,
        details: { records: id === "" ? [] : [{ type: "browser_session", id }] },
      },
    });
  }

  async function open(
    context: EventContext,
    browser: SigningBrowser,
    input: Omit<NewSession, "userAgent" | "address">,
  ) {
    const { previousCookie, userAgent, address } = browser;
    if (previousCookie !== undefined) await sessions.endByCookie(context, previousCookie, "replaced");
    return sessions.open(context, { ...input, userAgent, address } as NewSession);
  }

  return {
    /** Starts a session with a link, if it is valid. */
    async byLink(
      token: string,
      browser: SigningBrowser,
    ): Promise<(StartedSession & { returnTo: string }) | { readonly refusal: "invalid_link" | SignInRefusal }> {
      const { db, clock } = dependencies;
      const link = await sessions.spendLink({ sql: db.sql, nowMs: clock.now() }, token);
      if (link === undefined) return { refusal: "invalid_link" };
      const { tenantId, memberId, apiKeyId, returnTo } = link;
      const owner = memberId === "" ? ({ memberId, apiKeyId } as const) : ({ memberId, apiKeyId: "" } as const);
      const started = await inTenant(dependencies, tenantId, (context) =>
        open(context, browser, {
          ...(owner as { memberId: string; apiKeyId: "" }),
          ...{ method: "link", connectionId: "", groups: [], providerData: {}, notAfter: undefined },
        }),
      );
      const actor = memberId === "" ? `key:${apiKeyId}` : `member:${memberId}`;
      if ("refusal" in started) {
        await record(tenantId, actor, started.refusal, browser, "");
        return started.refusal === "inactive" ? { refusal: "invalid_link" } : started;
      }
      await record(tenantId, actor, undefined, browser, started.session.id);
      return { ...started, returnTo };
    },

    /** Starts a session for a person whom the identity provider has named. */
    async byProvider(
      connection: SsoConnection,
      person: ExternalPerson,
      browser: SigningBrowser,
    ): Promise<StartedSession | { readonly refusal: SignInRefusal }> {
      const { tenantId } = connection;
      const result = await inTenant(dependencies, tenantId, async (context) => {
        const found = await findMember(context, connection, person);
        if ("refusal" in found) return found;
        return open(context, browser, {
          ...{ memberId: found.member.id, apiKeyId: "", method: connection.kind, connectionId: connection.id },
          ...{ groups: person.groups, providerData: person.providerData },
          notAfter: person.notAfterMs === undefined ? undefined : new Date(person.notAfterMs),
        });
      });
      const isRefused = "refusal" in result;
      const actor = isRefused ? `${connection.kind}:${person.subject}` : `member:${result.session.memberId}`;
      await record(
        tenantId,
        actor,
        isRefused ? result.refusal : undefined,
        browser,
        isRefused ? "" : result.session.id,
      );
      return result;
    },
  };
}
