import { isJsonObject, memberPath, ObjectReader } from "../../../../../../platform/document/index.ts";
import type { OAuth2Auth, TokenEndpoint, TokenExpiry } from "../../auth-spec.ts";
import type { CompileContext, TemplateScope } from "../compile-context.ts";
import { formats, limits } from "../limits.ts";
import { tokenMembers } from "../manifest-schema.ts";
import { suggest } from "../parse-template.ts";
import { parseUrl } from "../parse-url.ts";
import { optionalPointer } from "../response.ts";
import { readPairs } from "./auth-parts.ts";

export function parseToken(
  reader: ObjectReader,
  scope: TemplateScope,
  context: CompileContext,
): TokenEndpoint | undefined {
  const token = ObjectReader.open(
    reader.required("token", '{"url": "https://example.com/token"}'),
    reader.pathOf("token"),
    context.violations,
    {
      known: tokenMembers,
      example: '{"url": "https://example.com/oauth/token", "client_auth": "body"}',
      what: "a token endpoint",
    },
  );
  if (token === undefined) return undefined;
  const url = parseUrl(token.required("url", '"https://example.com/oauth/token"'), token.pathOf("url"), scope, context);
  return (
    url && {
      url,
      clientAuth: token.choice("client_auth", ["basic", "body", "private_key_jwt", "none"], "basic"),
      format: token.choice("format", ["form", "json"], "form"),
      headers: readPairs(token, "headers", scope, context),
      params: readPairs(token, "params", scope, context),
      errorIn2xx: optionalPointer(token, "error_in_2xx"),
      pointers: {
        accessToken: optionalPointer(token, "access_token") ?? "/access_token",
        refreshToken: optionalPointer(token, "refresh_token") ?? "/refresh_token",
        expiresIn: optionalPointer(token, "expires_in") ?? "/expires_in",
        scope: optionalPointer(token, "scope") ?? "/scope",
      },
    }
  );
}

/** Reads when access tokens expire if the response does not say so. */
export function parseExpiry(reader: ObjectReader): TokenExpiry {
  if (!reader.has("expires")) return { defaultS: undefined, unit: "s" };
  const expires = ObjectReader.open(reader.get("expires"), reader.pathOf("expires"), reader.violations, {
    known: ["default_s", "unit"],
    example: '{"default_s": 3600}',
    what: "an expiry",
  });
  return {
    defaultS: expires && seconds(expires, "default_s"),
    unit: expires?.choice("unit", ["s", "ms"], "s") ?? "s",
  };
}

/** Reads an optional lifetime in seconds. */
export function seconds(reader: ObjectReader, name: string): number | undefined {
  return reader.has(name) ? reader.integer(name, { min: 1, max: limits.lifetimeS }) : undefined;
}

/** Reads the scopes that can be requested and those that are requested by default. */
export function parseScopes(reader: ObjectReader): OAuth2Auth["scopes"] {
  const none: OAuth2Auth["scopes"] = { default: [], available: new Map() };
  if (!reader.has("scopes")) return none;
  const scopes = ObjectReader.open(reader.get("scopes"), reader.pathOf("scopes"), reader.violations, {
    known: ["default", "available"],
    example: '{"default": ["read"], "available": {"read": "Read everything"}}',
    what: "scopes",
  });
  if (scopes === undefined) return none;
  const available = new Map<string, string>();
  const listed = scopes.get("available") ?? {};
  if (!isJsonObject(listed) || Object.keys(listed).length > limits.scopes) {
    scopes.refuse("available", "type", `must be an object of at most ${limits.scopes} scopes with their meanings`);
  } else {
    for (const [name, meaning] of Object.entries(listed)) {
      const place = memberPath(scopes.pathOf("available"), name);
      if (!formats.scope.pattern.test(name)) scopes.violations.add(place, "pattern", formats.scope.description);
      else if (typeof meaning !== "string")
        scopes.violations.add(place, "type", "must be a text that says what it allows");
      else available.set(name, meaning);
    }
  }
  const chosen = scopes.textList("default", formats.scope, { min: 0, max: 100 }, '["read"]') ?? [];
  for (const scope of available.size > 0 ? chosen : []) {
    if (!available.has(scope))
      scopes.refuse("default", "scope", suggest(scope, [...available.keys()].slice(0, 100), "scopes"));
  }
  return { default: chosen, available };
}
