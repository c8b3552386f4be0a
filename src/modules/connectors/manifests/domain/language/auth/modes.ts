import type { JsonObject } from "../../../../../../platform/document/index.ts";
import {
  choice,
  defineObject,
  integer,
  type Member,
  object,
  objectOrEmpty,
  optional,
  optionalText,
  prose,
  required,
  text,
  type ValueOf,
  type ValuesOf,
} from "../../../../../../platform/json-schema/index.ts";
import type { CompileContext } from "../compile-context.ts";
import type { FieldSpec } from "../fields.ts";
import { formats } from "../limits.ts";
import {
  define,
  pointer,
  raw,
  ref,
  template,
  templateOr,
  templates,
  url,
  valueTemplate,
  withoutDefault,
} from "../members.ts";
import { headers } from "../request.ts";
import { account, apply, captured, expires, requiredApply, scopes, seconds, token } from "./auth-members.ts";

/** Passed to the readers of modes. Fields are read before, because templates use their names. */
export interface ModeContext extends CompileContext {
  readonly fields: readonly FieldSpec[];
  readonly config: readonly FieldSpec[];
}

const fields: Member<readonly FieldSpec[], ModeContext> = {
  ...{ name: "fields", schema: ref("fields"), isRequired: false },
  read: (_reader, context) => context.fields,
};

/** Values of the provider config besides client_id, client_secret and private_key. */
const config: Member<readonly FieldSpec[], ModeContext> = {
  ...fields,
  name: "config",
  read: (_reader, context) => context.config,
};

function defineMode<K extends string, M extends Readonly<Record<string, Member<unknown, ModeContext>>>>(
  mode: K,
  members: M,
) {
  const example = mode === "none" ? "{}" : '{"fields": {"api_key": {"title": "API key"}}}';
  type Mode = { readonly mode: K; readonly fields: readonly FieldSpec[] } & ValuesOf<M>;
  return defineObject<M, ModeContext, Mode>(`the mode ${mode}`, example, members, (values, _reader, { fields }) => ({
    ...{ mode, fields },
    ...values,
  }));
}

const scopeSeparator = choice("scope_separator", [" ", ",", "+"], " ");

const authorize = define("an authorization endpoint", '{"url": "https://example.com/oauth/authorize"}', {
  url: required(url("url"), '"https://example.com/oauth/authorize"'),
  /** The `iss` of callbacks (RFC 9207), for providers that send it. */
  issuer: optional(template("issuer")),
  scopeSeparator,
  scopeParam: optionalText("scope_param", formats.param, "scope"),
  params: templates("params"),
});

type Pkce = { readonly mode: "S256" } | { readonly mode: "none"; readonly reason: string };

const pkceObject = define(
  "PKCE",
  '"S256"',
  { mode: { ...raw("mode", { enum: ["S256", "none"] }), isRequired: true }, reason: prose("reason", 500) },
  ({ mode, reason }, reader): Pkce => {
    if (mode === "S256") return { mode };
    if (mode !== "none") reader.refuse("mode", "choice", 'must be "S256" or "none"');
    if (reason === "") reader.refuse("reason", "required", "is required: say why the provider cannot use PKCE");
    return { mode: "none", reason };
  },
);

const pkce: Member<Pkce, CompileContext> = {
  ...{ name: "pkce", schema: { oneOf: [{ const: "S256" }, pkceObject.schema] }, isRequired: false },
  read: (reader, context) =>
    (reader.get("pkce") ?? "S256") === "S256" ? { mode: "S256" } : object("pkce", pkceObject).read(reader, context),
};

const refresh = define(
  "a refresh",
  '{"mode": "rotate"}',
  {
    /** rotate: each refresh returns a new refresh token. reuse: the token stays. none: access tokens do not expire. */
    mode: choice("mode", ["rotate", "reuse", "none"], "reuse"),
    url: optional(url("url")),
    /** The refresh token ends when it is not used for this long. */
    idleS: seconds("idle_s"),
    /** The refresh token ends after this time in any case. */
    lifetimeS: seconds("lifetime_s"),
    /** How long a spent refresh token is still accepted. */
    graceS: seconds("grace_s"),
  },
  ({ graceS = 0, ...refresh }) => ({ ...refresh, graceS }),
);

const revoke = define("a revocation endpoint", '{"url": "https://example.com/oauth/revoke"}', {
  url: required(url("url"), '"https://example.com/oauth/revoke"'),
  clientAuth: choice("client_auth", ["basic", "body", "none"], "basic"),
  token: choice("token", ["access_token", "refresh_token"], "refresh_token"),
});

const login = define(
  "a login request",
  '{"url": "https://example.com/login", "json": {"key": "{credentials.key}"}, "token": "/token"}',
  {
    method: choice("method", ["POST", "GET", "PUT"], "POST"),
    url: required(url("url"), '"https://example.com/login"'),
    headers: headers(),
    json: raw("json", {}),
    form: raw("form", {}),
    /** A pointer to the token in the answer. */
    token: pointer("token"),
    expiresIn: optional(pointer("expires_in")),
    expires,
  },
  ({ json: _json, form: _form, ...login }, reader, context) => {
    const kind = (["json", "form"] as const).find((each) => reader.has(each));
    const value = kind && valueTemplate(kind, {}).read(reader, context);
    return { ...login, body: kind && value && { kind, value } };
  },
);

const algorithms = ["RS256", "ES256"] as const;

const assertion = define(
  "a token request",
  '{"url": "https://oauth2.googleapis.com/token"}',
  {
    url: required(url("url"), '"https://example.com/token"'),
    audience: optional(template("audience")),
    issuer: templateOr("issuer", "{credentials.client_email}"),
    grant: prose("grant", 200),
    algorithm: choice("algorithm", algorithms, "RS256"),
    lifetimeS: withoutDefault(integer("lifetime_s", { min: 30, max: 86_400 }, 3600)),
    claims: templates("claims"),
    expires,
  },
  ({ audience, grant, ...token }) => ({
    ...token,
    audience: audience ?? token.url,
    grant: grant === "" ? "urn:ietf:params:oauth:grant-type:jwt-bearer" : grant,
  }),
);

/** How requests to a provider are authenticated, in the order in which the modes are offered. */
export const modes = {
  oauth2: defineMode("oauth2", {
    authorize: required(object("authorize", authorize), '{"url": "https://example.com/oauth/authorize"}'),
    token,
    scopes,
    pkce,
    refresh: objectOrEmpty("refresh", refresh),
    expires,
    /** Values to keep from the token answer, as pointers. */
    captured: captured("captured"),
    /** Values to keep from the query of the callback, as parameter names. */
    capturedQuery: captured("captured_query", formats.param),
    revoke: optional(object("revoke", revoke)),
    account,
    apply,
    config,
    fields,
  }),
  /** OAuth 2 with client credentials: tokens are fetched without an end user. */
  oauth2_cc: defineMode("oauth2_cc", {
    ...{ token, scopes, scopeSeparator, expires, captured: captured("captured"), account, apply, fields },
  }),
  api_key: defineMode("api_key", {
    fields: required(fields, '{"api_key": {"title": "API key"}}'),
    apply: requiredApply,
    account,
  }),
  basic: defineMode("basic", {
    fields,
    username: templateOr("username", "{credentials.username}"),
    password: templateOr("password", "{credentials.password}"),
    account,
  }),
  /** A login request exchanges the fields for a token of limited validity. */
  two_step: defineMode("two_step", {
    fields,
    token: required(object("token", login), '{"url": "https://example.com/login"}'),
    captured: captured("captured"),
    account,
    apply,
  }),
  /** A signed assertion is exchanged for a token (RFC 7523). */
  jwt: defineMode("jwt", {
    fields,
    token: required(object("token", assertion), '{"url": "https://example.com/token"}'),
    scopes,
    account,
    apply,
  }),
  /** Requests carry a JWT that the service signs itself (APNs). The fields have the private_key. */
  signed_jwt: defineMode("signed_jwt", {
    fields: { ...fields, isRequired: true },
    algorithm: choice("algorithm", algorithms, "ES256"),
    /** The `kid` of the header. */
    keyId: optional(template("key_id")),
    issuer: required(template("issuer"), '"{credentials.team_id}"'),
    claims: templates("claims"),
    /** How long one token is used. Providers limit how often it may change. */
    lifetimeS: integer("lifetime_s", { min: 60, max: 3000 }, 1800),
    account,
    apply,
  }),
  /** AWS Signature Version 4. The fields are access_key_id, secret_access_key and optionally session_token. */
  aws_sigv4: defineMode("aws_sigv4", {
    service: text("service", formats.service),
    region: required(template("region"), '"{settings.region}"'),
    fields,
    account,
  }),
  none: defineMode("none", {}),
};

export type AuthMode = keyof typeof modes;
export const authModes = Object.keys(modes) as AuthMode[];

/** The specification of some authentication modes. */
export type AuthOf<K extends AuthMode> = { [N in K]: ValueOf<(typeof modes)[N]> }[K];

/** The specification of one authentication mode. */
export type AuthSpec = AuthOf<AuthMode>;

/** The schemas of modes, by name. */
export const modeSchemas: JsonObject = Object.fromEntries(
  Object.entries(modes).map(([mode, { schema }]) => [`auth_${mode}`, schema]),
);

export type OAuth2Auth = AuthOf<"oauth2">;
export type OAuth2ClientAuth = AuthOf<"oauth2_cc">;
export type TwoStepAuth = AuthOf<"two_step">;
export type JwtAuth = AuthOf<"jwt">;
export type SignedJwtAuth = AuthOf<"signed_jwt">;
export type NoAuth = AuthOf<"none">;
