import { ObjectReader } from "../../../../../../platform/document/index.ts";
import type { AccountProbe, FieldSpec, OAuth2Auth } from "../../auth-spec.ts";
import type { CompileContext, TemplateScope } from "../compile-context.ts";
import { formats } from "../limits.ts";
import { parseText } from "../parse-template.ts";
import { parseUrl } from "../parse-url.ts";
import { bearer, parseApply, readPairs, readPointers } from "./auth-parts.ts";
import { parseExpiry, parseScopes, parseToken, seconds } from "./parse-token.ts";

/** Reads the mode oauth2: an end user grants access. */
export function parseOAuth2(
  reader: ObjectReader,
  scope: TemplateScope,
  context: CompileContext,
  common: {
    readonly fields: readonly FieldSpec[];
    readonly config: readonly FieldSpec[];
    readonly account: AccountProbe | undefined;
  },
): OAuth2Auth | undefined {
  const authorize = ObjectReader.open(
    reader.required("authorize", '{"url": "https://example.com/oauth/authorize"}'),
    reader.pathOf("authorize"),
    context.violations,
    {
      known: ["url", "issuer", "scope_separator", "scope_param", "params"],
      example: '{"url": "https://example.com/oauth/authorize"}',
      what: "an authorization endpoint",
    },
  );
  const url =
    authorize &&
    parseUrl(
      authorize.required("url", '"https://example.com/oauth/authorize"'),
      authorize.pathOf("url"),
      scope,
      context,
    );
  const token = parseToken(reader, scope, context);
  const apply = parseApply(reader, scope, context, bearer);
  const pkce = parsePkce(reader);
  const refresh = parseRefresh(reader, scope, context);
  const revoke = parseRevoke(reader, scope, context);
  const rest = {
    scopes: parseScopes(reader),
    expires: parseExpiry(reader),
    captured: readPointers(reader, "captured"),
    capturedQuery: readPointers(reader, "captured_query"),
  };
  if (authorize === undefined || url === undefined || token === undefined || apply === undefined) return undefined;
  return {
    mode: "oauth2",
    ...common,
    authorize: {
      url,
      scopeSeparator: authorize.choice("scope_separator", [" ", ",", "+"], " "),
      scopeParam: authorize.text("scope_param", formats.param, "scope") ?? "scope",
      params: readPairs(authorize, "params", scope, context),
      issuer: authorize.has("issuer")
        ? parseText(authorize.get("issuer"), authorize.pathOf("issuer"), scope, context.violations)
        : undefined,
    },
    token,
    pkce,
    refresh,
    revoke,
    apply,
    ...rest,
  };
}

function parsePkce(reader: ObjectReader): OAuth2Auth["pkce"] {
  const value = reader.get("pkce");
  if (value === undefined || value === "S256") return { mode: "S256" };
  const pkce = ObjectReader.open(value, reader.pathOf("pkce"), reader.violations, {
    known: ["mode", "reason"],
    example: '"S256"',
    what: "PKCE",
  });
  if (pkce === undefined) return { mode: "S256" };
  if (pkce.get("mode") === "S256") return { mode: "S256" };
  if (pkce.get("mode") !== "none") pkce.refuse("mode", "choice", 'must be "S256" or "none"');
  const reason = pkce.prose("reason", 500);
  if (reason === "") pkce.refuse("reason", "required", "is required: say why the provider cannot use PKCE");
  return { mode: "none", reason };
}

function parseRefresh(reader: ObjectReader, scope: TemplateScope, context: CompileContext): OAuth2Auth["refresh"] {
  const none: OAuth2Auth["refresh"] = {
    mode: "reuse",
    url: undefined,
    idleS: undefined,
    lifetimeS: undefined,
    graceS: 0,
  };
  if (!reader.has("refresh")) return none;
  const refresh = ObjectReader.open(reader.get("refresh"), reader.pathOf("refresh"), reader.violations, {
    known: ["mode", "url", "idle_s", "lifetime_s", "grace_s"],
    example: '{"mode": "rotate"}',
    what: "a refresh",
  });
  if (refresh === undefined) return none;
  return {
    mode: refresh.choice("mode", ["rotate", "reuse", "none"], "reuse"),
    url: refresh.has("url") ? parseUrl(refresh.get("url"), refresh.pathOf("url"), scope, context) : undefined,
    idleS: seconds(refresh, "idle_s"),
    lifetimeS: seconds(refresh, "lifetime_s"),
    graceS: seconds(refresh, "grace_s") ?? 0,
  };
}

function parseRevoke(reader: ObjectReader, scope: TemplateScope, context: CompileContext): OAuth2Auth["revoke"] {
  if (!reader.has("revoke")) return undefined;
  const revoke = ObjectReader.open(reader.get("revoke"), reader.pathOf("revoke"), reader.violations, {
    known: ["url", "client_auth", "token"],
    example: '{"url": "https://example.com/oauth/revoke"}',
    what: "a revocation endpoint",
  });
  const url =
    revoke &&
    parseUrl(revoke.required("url", '"https://example.com/oauth/revoke"'), revoke.pathOf("url"), scope, context);
  return (
    url && {
      url,
      clientAuth: revoke.choice("client_auth", ["basic", "body", "none"], "basic"),
      token: revoke.choice("token", ["access_token", "refresh_token"], "refresh_token"),
    }
  );
}
