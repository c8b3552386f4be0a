/**
 * Sessions: how people use the service in a browser.
 *
 * Session: a browser in which a member, or the holder of an API key, is signed in. Cookie: the secret that identifies it, of
 * which only the hash is stored. Link: signs a browser in, once. Own request: one that a page of this service has caused.
 */

import type { TenantId } from "../../../platform/access/index.ts";
import { retentionJob } from "../../../platform/jobs/index.ts";
import type { PlatformServices } from "../../area.ts";
import type { EventRecorder } from "../../operations/index.ts";
import type { ApiKeys, MemberAccounts } from "../../tenancy/index.ts";
import { createSessionAuthenticator } from "./authenticator.ts";
import { sessionHandlers } from "./handler.ts";
import { createSessionService, type SignInCheck } from "./service.ts";
import { createSessionMetrics } from "./session-metrics.ts";
import { sessionStore } from "./store.ts";

export type { LiveSession, SessionAuthenticator } from "./authenticator.ts";
export type { SessionOwner } from "./domain/session.ts";
export { type BrowserSession, type NewSession, safeReturnPath } from "./domain/session.ts";
export { isOwnForm } from "./request-origin.ts";
export type { SessionService } from "./service.ts";
export {
  derive,
  formToken,
  hasFormToken,
  hashOf,
  isSecret,
  newSecret,
  readCookie,
  setCookie,
} from "./session-cookie.ts";
export type { SessionMetrics } from "./session-metrics.ts";
export { sessionStore };

interface Dependencies extends Pick<PlatformServices, "db" | "changes" | "clock" | "log" | "metrics"> {
  readonly events: EventRecorder;
  readonly members: Pick<MemberAccounts, "access" | "lock" | "signOut">;
  readonly apiKeys: Pick<ApiKeys, "access">;
  readonly rolesOfGroups: (tenantId: TenantId, groups: readonly string[]) => Promise<readonly string[]>;
  readonly maySignIn: SignInCheck;
  readonly sessionMs: number;
  readonly idleMs: number;
  readonly publicUrl: () => string;
  readonly platformTenantId: () => string;
}

/** How long ended sessions stay readable. */
const retentionMs = 30 * 24 * 3600_000;

/** The module's public API. */
export type Sessions = ReturnType<typeof createSessions>;

export function createSessions(dependencies: Dependencies) {
  const { publicUrl } = dependencies;
  const metrics = createSessionMetrics(dependencies.metrics);
  const service = createSessionService({ ...dependencies, metrics });
  const linkUrlOf = (token: string) => `${publicUrl()}/auth/link#token=${token}`;
  return {
    handlers: sessionHandlers(service, linkUrlOf),
    jobs: [
      retentionJob(dependencies, {
        ...{ kind: "identity.delete_ended_sessions", everyMs: 60_000, batchSize: 1000 },
        rows: [
          { table: "login_links", column: "expires_at" },
          { ageMs: retentionMs, table: "browser_sessions", column: "ended_at" },
          {
            ...{ ageMs: retentionMs, table: "browser_sessions", column: "expires_at" },
            where: (sql) => sql`ended_at is null`,
          },
        ],
      }),
    ],
    authenticator: createSessionAuthenticator(dependencies),
    service,
    metrics,
    linkUrlOf,
  };
}
