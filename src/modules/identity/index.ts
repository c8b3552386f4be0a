/**
 * Identity: how people come in from the systems that know them.
 *
 * Session: a browser in which somebody is signed in. Connection: an identity provider that signs people in, by OpenID Connect or
 * SAML. Sign-in: the pages and flows that lead to a session. SCIM: the protocol by which a directory provisions people.
 */
import type { TenantId } from "../../platform/access/index.ts";
import type { Audit } from "../../platform/audit/index.ts";
import type { Reencryptable } from "../../platform/crypto/index.ts";
import type { Sql } from "../../platform/db/index.ts";
import type { Area, PlatformServices } from "../area.ts";
import type { EventRecorder } from "../operations/index.ts";
import type { ApiKeys, MemberAccounts } from "../tenancy/index.ts";
import {
  connectionUrls,
  createConnections,
  createMemberFinder,
  maySignIn,
  reencryptableConnections,
} from "./connections/index.ts";
import { identityNames } from "./name-sources.ts";
import { createSamlFlow, expiredMessagesJob } from "./saml/index.ts";
import { createScimHandlers, createScimService, describeFailure, scimOperations, scimScope } from "./scim/index.ts";
import { createSessions, readCookie, type SessionOwner } from "./sessions/index.ts";
import { createSignIn } from "./sign-in/index.ts";

export { scimOperations } from "./scim/index.ts";
export type { SessionAuthenticator } from "./sessions/index.ts";

/** Scopes that keys can have and that no operation requires. */
export const identityScopes: readonly string[] = [scimScope];

interface Dependencies extends PlatformServices {
  readonly events: EventRecorder;
  readonly audit: Audit | undefined;
  readonly members: MemberAccounts;
  readonly apiKeys: Pick<ApiKeys, "access">;
  /** The URL at which browsers reach the service. */
  readonly publicUrl: () => string;
}

/** The tables of the area that are encrypted with the master keys. */
export function sealedByIdentity(sql: Sql): readonly Reencryptable[] {
  return [reencryptableConnections(sql)];
}

export function createIdentity(dependencies: Dependencies) {
  const { config, members, publicUrl } = dependencies;
  const sessionMs = config["identity.sessions.max_hours"] * 3600_000;
  const connections = createConnections({
    ...dependencies,
    isSamlEnabled: config["identity.saml.enabled"],
    endSessions: (context, id) => sessions.service.endOfConnection(context, id, {}, "connection_deleted"),
    applyGroupRoles: (context) => scim.applyGroupRoles(context),
  });
  const sessions = createSessions({
    ...dependencies,
    sessionMs,
    idleMs: config["identity.sessions.idle_minutes"] * 60_000,
    rolesOfGroups: connections.rolesOfGroups,
    maySignIn,
  });
  const scimUrl = () => `${publicUrl()}/scim/v2`;
  const scim = createScimService({ ...dependencies, baseUrl: scimUrl });
  const saml = createSamlFlow({
    ...dependencies,
    skewMs: config["identity.saml.clock_skew_s"] * 1000,
    urlsOf: (connection) => connectionUrls(connection, publicUrl()),
  });
  return {
    handlers: {
      "service.api.BrowserSessionService": sessions.handlers,
      "service.api.SsoService": connections.handlers,
      scim: createScimHandlers({ service: scim, baseUrl: scimUrl }),
    },
    jobs: [...sessions.jobs, ...connections.jobs, expiredMessagesJob(dependencies)],
    workers: [],
    names: identityNames,
    sessions: sessions.authenticator,
    endSessions: sessions.service.endOfPerson,
    /** The tenant that a browser with this Cookie header is signed in to, for pages. */
    async tenantOfBrowser(cookieHeader: string | undefined): Promise<TenantId | undefined> {
      const cookie = readCookie("session", cookieHeader, new URL(publicUrl()));
      return cookie === undefined ? undefined : (await sessions.authenticator.find(cookie))?.session.tenantId;
    },
    /** A link that signs a browser in to a tenant, with the access of an API key or as a member. */
    async createLoginLink(tenantId: TenantId, owner: SessionOwner): Promise<string> {
      const context = { sql: dependencies.db.sql, tenantId, nowMs: dependencies.clock.now() };
      const { token } = await sessions.service.createLink(context, owner, "start", "");
      return sessions.linkUrlOf(token);
    },
    /** The endpoint of directories; undefined if SCIM is off. */
    scim: config["identity.scim.enabled"] ? { operations: scimOperations, describeFailure } : undefined,
    pages: createSignIn({
      ...{ ...dependencies, sessions, sessionMs, findMember: createMemberFinder(members) },
      saml: config["identity.saml.enabled"] ? saml : undefined,
    }),
  } satisfies Area & Record<string, unknown>;
}
