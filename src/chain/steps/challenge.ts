import type { Config } from "../../config/index.ts";
import type { Failure } from "../../errors/index.ts";
import type { Call, Plane } from "../call.ts";

/** How a plane tells unauthenticated callers to authenticate. */
export type Challenge = ReturnType<typeof createChallenge>;

export function createChallenge(plane: Plane, config: Config) {
  const realm = plane === "external" ? "service" : "service.internal";
  const apiKeys = plane === "external" && config["auth.api_key_enabled"];
  return {
    /** One sentence that explains how to authenticate. */
    advice: plane === "external" ? externalAdvice(config) : internalAdvice(config),
    /** The WWW-Authenticate header (RFC 9110) of a refusal. */
    header(call: Call, refusal: Failure): string {
      const bearer = [`Bearer realm="${realm}"`];
      // RFC 6750: the challenge has no error code if the request had no token.
      if (/^bearer\b/i.test(call.header("authorization") ?? "")) {
        bearer.push('error="invalid_token"', `error_description="${quotable(refusal.message)}"`);
      }
      const challenges = [bearer.join(", ")];
      if (apiKeys) challenges.push(`ApiKey realm="${realm}", header="X-API-Key"`);
      return challenges.join(", ");
    },
  };
}

function externalAdvice(config: Config): string {
  const ways: string[] = [];
  if (config["auth.api_key_enabled"]) ways.push("an API key in the X-API-Key header");
  if (config["api.oidc_issuer"].length > 0) ways.push("a token in the header Authorization: Bearer <token>");
  if (ways.length > 0) return `Send ${ways.join(" or ")}.`;
  return "No authentication method is configured: the operator must set auth.api_key_enabled or api.oidc_issuer.";
}

function internalAdvice(config: Config): string {
  const ways: string[] = [];
  if (config["auth.service_token_secret"] !== "")
    ways.push("send a service token (HS256) in the header Authorization: Bearer <token>");
  if (config["server.internal_require_mtls"]) {
    ways.push("connect with a client certificate that names the service (CN) and its tenant (O)");
  }
  if (ways.length > 0) return `The internal plane accepts only other services: ${ways.join(", or ")}.`;
  return "No authentication method is configured: the operator must set auth.service_token_secret or server.internal_require_mtls.";
}

/** Replaces characters that a quoted header string must not contain. */
function quotable(text: string): string {
  return text.replaceAll(/[^\x20-\x7e]|["\\]/g, " ");
}
