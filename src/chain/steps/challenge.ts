import type { Config } from "../../config/index.ts";
import type { Failure } from "../../errors/index.ts";
import type { Call, Plane } from "../call.ts";

/** What a plane asks of callers it does not know. */
export interface Challenge {
  /** How to authenticate, in a sentence. */
  readonly advice: string;
  /** The value of WWW-Authenticate (RFC 9110) that goes with a refusal. */
  header(call: Call, refusal: Failure): string;
}

/** The challenge of a plane: what its settings accept. */
export function challengeOf(plane: Plane, config: Config): Challenge {
  const realm = plane === "external" ? "service" : "service.internal";
  const apiKeys = plane === "external" && config["auth.api_key_enabled"];
  return {
    advice: plane === "external" ? externalAdvice(config) : internalAdvice(config),
    header(call, refusal) {
      const bearer = [`Bearer realm="${realm}"`];
      // RFC 6750: a request without a token is told no error.
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
  if (config["auth.api_key_enabled"]) ways.push("a key in X-API-Key");
  if (config["api.oidc_issuer"] !== "") ways.push("a token in Authorization: Bearer");
  if (ways.length > 0) return `Send ${ways.join(" or ")}.`;
  return "Nobody can authenticate here: the operator must set auth.api_key_enabled or api.oidc_issuer.";
}

function internalAdvice(config: Config): string {
  const ways: string[] = [];
  if (config["auth.service_token_secret"] !== "") ways.push("send a service token (HS256) in Authorization: Bearer");
  if (config["server.internal_require_mtls"]) {
    ways.push("connect with a client certificate that names the service (CN) and its tenant (O)");
  }
  if (ways.length > 0) return `The internal plane takes other services: ${ways.join(", or ")}.`;
  return "Nobody can authenticate here: the operator must set auth.service_token_secret or server.internal_require_mtls.";
}

/** Text as a quoted string of a header may hold it. */
function quotable(text: string): string {
  return text.replaceAll(/[^\x20-\x7e]|["\\]/g, " ");
}
