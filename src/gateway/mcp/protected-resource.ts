import type { Failure } from "../../errors/index.ts";
import type { PathHandler } from "../edge.ts";
import { writeText } from "../exchange.ts";
import { requireRead } from "../health.ts";

interface Options {
  /** The path of the endpoint. */
  readonly path: string;
  readonly baseUrl: () => string;
  /** The issuers of tokens. If there are none, clients need an API key, and there is nothing to discover. */
  readonly issuers: readonly string[];
  /** The scopes that a client requests from an issuer. */
  readonly oauthScopes: readonly string[];
}

/** Tells clients where to get a token (RFC 9728). */
export interface ProtectedResource {
  /** Serves the metadata at their well-known path. */
  readonly handle: PathHandler;
  /** Adds the parameters that clients need to the challenge of a refusal. */
  extendChallenge(challenge: string): string;
  /** The challenge of a call without a scope that it needs (RFC 6750). */
  insufficientScope(refusal: Failure, scopes: readonly string[]): string;
}

const wellKnown = "/.well-known/oauth-protected-resource";

/** Describes the endpoint as a resource that OAuth protects. */
export function createProtectedResource({ path, baseUrl, issuers, oauthScopes }: Options): ProtectedResource {
  // Clients of the first revisions try the path without the suffix too.
  const paths = new Set([`${wellKnown}${path}`, wellKnown]);
  const metadataParameters = (scopes: readonly string[]) => [
    ...(issuers.length === 0 ? [] : [`resource_metadata="${baseUrl()}${wellKnown}${path}"`]),
    ...(scopes.length === 0 ? [] : [`scope="${scopes.join(" ")}"`]),
  ];
  return {
    handle(exchange) {
      if (issuers.length === 0 || !paths.has(exchange.path)) return false;
      requireRead(exchange);
      const body = JSON.stringify({
        resource: `${baseUrl()}${path}`,
        authorization_servers: issuers,
        ...(oauthScopes.length > 0 && { scopes_supported: oauthScopes }),
        bearer_methods_supported: ["header"],
        resource_name: "Switchyard",
      });
      const headers = { "content-type": "application/json", "cache-control": "public, max-age=300" };
      writeText(exchange, 200, headers, body);
      return true;
    },
    extendChallenge(challenge) {
      // Before the parameters of the first challenge, which is the one for tokens.
      return challenge.replace(
        /^Bearer /,
        ["Bearer ", ...metadataParameters(oauthScopes).map((p) => `${p}, `)].join(""),
      );
    },
    insufficientScope(refusal, scopes) {
      const parameters = [
        'realm="service"',
        'error="insufficient_scope"',
        ...metadataParameters(scopes),
        `error_description="${refusal.message.replaceAll(/[^\x20-\x7e]|["\\]/g, " ")}"`,
      ];
      return `Bearer ${parameters.join(", ")}`;
    },
  };
}
