import type { Call, Plane } from "../chain/call.ts";
import type { Authenticator } from "../chain/steps/authentication.ts";
import type { Config } from "../config/index.ts";
import { fail } from "../errors/index.ts";
import type { SessionAuthenticator } from "../modules/identity/index.ts";
import type { SubscriberTokens } from "../modules/notifications/index.ts";
import type { ApiKeyVerifier, Members } from "../modules/tenancy/index.ts";
import { grantedScopes, type Principal, type TenantId } from "../platform/access/index.ts";
import type { Clock } from "../platform/clock/clock.ts";
import { isUlid } from "../platform/ids/ulid.ts";
import { createOidcVerifier, isStorable, isSubject, verifyServiceToken } from "../platform/tokens/index.ts";

interface Dependencies {
  readonly config: Config;
  readonly clock: Clock;
  readonly apiKeys: ApiKeyVerifier;
  readonly members: Members;
  readonly sessions: SessionAuthenticator;
  readonly subscriberTokens: SubscriberTokens;
  readonly platformTenantId: () => TenantId;
}

/** Creates each plane's authenticators, in order. The first one that recognises the credentials decides. */
export function createAuthenticators(dependencies: Dependencies): Record<Plane, Authenticator[]> {
  const { config, platformTenantId } = dependencies;
  const external: Authenticator[] = [];
  if (!config["auth.enabled"]) external.push(() => anonymous(platformTenantId(), "admin"));
  external.push(refuseTwoCredentials, refuseTokenAsKey);
  if (config["auth.api_key_enabled"]) external.push(refuseKeyAsToken);
  if (config["auth.api_key_enabled"]) external.push(byApiKey(dependencies.apiKeys));
  external.push(bySubscriberToken(dependencies.subscriberTokens));
  if (config["api.oidc_issuer"].length > 0) external.push(byToken(dependencies));
  external.push((call) => dependencies.sessions.authenticate(call));
  if (config["auth.allow_anonymous"])
    external.push((call) => (hasCredentials(call) ? undefined : anonymous(platformTenantId(), "viewer")));

  const internal: Authenticator[] = [refuseTwoCredentials];
  const secret = config["auth.service_token_secret"];
  if (secret !== "") internal.push(byServiceToken(secret));
  if (config["server.internal_require_mtls"]) internal.push(byCertificate);
  return { external, internal };
}

/** Refuses requests with two credentials. The same API key in both headers counts as one credential. */
const refuseTwoCredentials: Authenticator = (call) => {
  if (!/^bearer\b/i.test(call.header("authorization") ?? "")) return undefined;
  const token = bearerOf(call);
  if (token === undefined) {
    throw fail("UNAUTHENTICATED", {
      public: "Authorization must be sent once, with one token (for example: Authorization: Bearer <token>).",
    });
  }
  const key = call.header("x-api-key");
  if (key === undefined || key === token) return undefined;
  throw fail("UNAUTHENTICATED", {
    public: "The request has two credentials. Send either X-API-Key or Authorization: Bearer <token>, not both.",
  });
};

/** Refuses a token in the header of API keys. Its form is enough, because no API key looks like a token. */
const refuseTokenAsKey: Authenticator = (call) => {
  const presented = call.header("x-api-key");
  if (presented === undefined || presented.startsWith("sk_")) return undefined;
  if (/^bearer +sk_/i.test(presented)) {
    throw fail("UNAUTHENTICATED", {
      public: "X-API-Key must be the API key alone, without the word Bearer: send X-API-Key: <key>.",
    });
  }
  if (!/^bearer\b|^sst_|^ey[\w-]+\.[\w-]+\.[\w-]+$/i.test(presented)) return undefined;
  throw fail("UNAUTHENTICATED", {
    public: "X-API-Key has a token, which belongs in another header: send Authorization: Bearer <token>.",
  });
};

/** Refuses an API key in the header of tokens, with or without a scheme before it. Only directories send keys like that. */
const refuseKeyAsToken: Authenticator = (call) => {
  if (call.header("x-api-key") !== undefined || call.protocol === "scim") return undefined;
  if (!/^(?:[a-z-]+ +)?sk_/i.test(call.header("authorization") ?? "")) return undefined;
  throw fail("UNAUTHENTICATED", {
    public: "Authorization has an API key, which belongs in another header: send X-API-Key: <key>.",
  });
};

function byApiKey(verifier: ApiKeyVerifier): Authenticator {
  const accept = (principal: Principal | undefined) => {
    if (principal === undefined)
      throw fail("UNAUTHENTICATED", { public: "The API key is not valid: it is unknown, expired or revoked." });
    return principal;
  };
  return (call) => {
    const presented = call.header("x-api-key") ?? keyOfDirectory(call);
    if (presented === undefined) return undefined;
    const verified = verifier.verify(presented, call.remoteAddress, () => call.signal);
    return verified instanceof Promise ? verified.then((each) => accept(each?.principal)) : accept(verified?.principal);
  };
}

/** The API key that a directory sends as a token. */
function keyOfDirectory(call: Call): string | undefined {
  const token = call.protocol === "scim" ? bearerOf(call) : undefined;
  return token?.startsWith("sk_") ? token : undefined;
}

function bySubscriberToken(tokens: SubscriberTokens): Authenticator {
  return (call) => {
    const token = bearerOf(call);
    return token === undefined ? undefined : tokens.authenticate(token);
  };
}

/**
 * Authenticates a person by an OpenID Connect token. The tenant and the roles are claims. Membership adds roles;
 * a suspended or removed member is refused.
 */
function byToken({ config, members, clock }: Dependencies): Authenticator {
  const issuers = config["api.oidc_issuer"];
  const audiences = config["api.oidc_audience"];
  const verifier = createOidcVerifier({ issuers, audiences });
  // Clients of the Model Context Protocol request tokens for the URL of the endpoint (RFC 8707).
  const mcpUrl =
    config["mcp.enabled"] && config["api.public_url"] && `${config["api.public_url"]}${config["mcp.path"]}`;
  const mcpVerifier = mcpUrl ? createOidcVerifier({ issuers, audiences: [...audiences, mcpUrl] }) : verifier;
  return async (call) => {
    const token = bearerOf(call);
    if (token === undefined) return undefined;
    const claims = await (call.protocol === "mcp" ? mcpVerifier : verifier).verify(token);
    const tenantId = claims[config["auth.tenant_claim"]];
    if (typeof tenantId !== "string" || !isUlid(tenantId)) {
      throw fail("UNAUTHENTICATED", {
        public: `The token has no valid tenant id in the claim ${config["auth.tenant_claim"]}.`,
      });
    }
    const email = typeof claims.email === "string" && isStorable(claims.email) ? claims.email : undefined;
    const member = await members.resolve(tenantId as TenantId, claims.sub, email, claims.email_verified === true);
    if (member?.status === "suspended" || member?.status === "removed") {
      throw fail("UNAUTHENTICATED", { public: `The member is ${member.status}.` });
    }
    if (member !== undefined && member.expiresAt !== null && member.expiresAt.getTime() <= clock.now()) {
      throw fail("UNAUTHENTICATED", { public: "The membership has expired." });
    }
    // Times of tokens are whole seconds. A token of the second of the sign-out counts as issued before it.
    if (member?.signedOutAt && !((claims.iat ?? 0) > Math.floor(member.signedOutAt.getTime() / 1000))) {
      throw fail("UNAUTHENTICATED", {
        public: "The member was signed out after the token was issued. Request a new one.",
      });
    }
    const roles = [...new Set([...textsOf(claims[config["auth.roles_claim"]]), ...(member?.roles ?? [])])];
    return {
      tenantId: tenantId as TenantId,
      subject: claims.sub,
      kind: "user",
      roles,
      scopes: grantedScopes(roles, []),
      environmentMode: member?.environmentMode ?? "any",
      expiresAt: member?.expiresAt ?? undefined,
      memberId: member?.id,
      email,
    };
  };
}

function byServiceToken(secret: string): Authenticator {
  return async (call) => {
    const token = bearerOf(call);
    if (token === undefined) return undefined;
    const { sub, tenant_id: tenantId } = await verifyServiceToken(token, secret);
    if (!isUlid(tenantId))
      throw fail("UNAUTHENTICATED", { public: "The service token has no valid tenant id in the claim tenant_id." });
    const certified = certifiedService(call);
    if (certified !== undefined && (certified.name !== sub || certified.tenantId !== tenantId)) {
      throw fail("UNAUTHENTICATED", {
        public: "The service token and the client certificate name different services or tenants.",
      });
    }
    return service(sub, tenantId);
  };
}

const byCertificate: Authenticator = (call) => {
  const certified = certifiedService(call);
  return certified && service(certified.name, certified.tenantId);
};

/** Reads the service (CN) and its tenant (O) from a verified client certificate. */
function certifiedService({ peerCertificate }: Call): { name: string; tenantId: string } | undefined {
  const { commonName = "", organization = "" } = peerCertificate ?? {};
  return isSubject(commonName) && isUlid(organization) ? { name: commonName, tenantId: organization } : undefined;
}

function service(name: string, tenantId: string): Principal {
  return {
    tenantId: tenantId as TenantId,
    subject: `service:${name}`,
    kind: "service",
    roles: ["admin", "service"],
    scopes: new Set(["*:*"]),
    environmentMode: "any",
  };
}

function anonymous(tenantId: TenantId, role: "admin" | "viewer"): Principal {
  const roles = [role];
  return {
    tenantId,
    subject: "anonymous",
    kind: "anonymous",
    roles,
    scopes: grantedScopes(roles, []),
    environmentMode: "any",
  };
}

function hasCredentials(call: Call): boolean {
  return call.header("x-api-key") !== undefined || call.header("authorization") !== undefined;
}

function bearerOf(call: Call): string | undefined {
  return /^Bearer +([^\s]+)$/i.exec(call.header("authorization") ?? "")?.[1];
}

function textsOf(claim: unknown): string[] {
  if (typeof claim === "string") return claim.split(/[ ,]+/).filter((each) => each !== "");
  return Array.isArray(claim) ? claim.filter((each): each is string => typeof each === "string") : [];
}
