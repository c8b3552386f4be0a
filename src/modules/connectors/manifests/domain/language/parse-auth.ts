import { isJsonObject, type Json, memberPath, ObjectReader } from "../../../../../platform/document/index.ts";
import {
  type AccountProbe,
  type ApplySpec,
  type AuthMode,
  type AuthSpec,
  authModes,
  type FieldSpec,
  type OAuth2Auth,
  type TokenEndpoint,
  type TokenExpiry,
} from "../auth-spec.ts";
import type { TextTemplate } from "../template.ts";
import { type CompileContext, providerScope, type TemplateScope } from "./compile-context.ts";
import { formats, limits } from "./limits.ts";
import { parseFields } from "./parse-fields.ts";
import { readHeaders, readRequest, requestMembers } from "./parse-request.ts";
import { optionalPointer } from "./parse-response.ts";
import { parseText, parseValue, suggest } from "./parse-template.ts";
import { parseUrl } from "./parse-url.ts";

/** The members of each mode. */
export const authMembers = {
  oauth2: [
    "authorize",
    "token",
    "scopes",
    "pkce",
    "refresh",
    "expires",
    "captured",
    "captured_query",
    "revoke",
    "account",
    "apply",
    "config",
    "fields",
  ],
  oauth2_cc: ["token", "scopes", "scope_separator", "expires", "captured", "account", "apply", "fields"],
  api_key: ["fields", "apply", "account"],
  basic: ["fields", "username", "password", "account"],
  two_step: ["fields", "token", "captured", "account", "apply"],
  jwt: ["fields", "token", "scopes", "account", "apply"],
  aws_sigv4: ["service", "region", "fields", "account"],
  none: [],
} as const satisfies Record<AuthMode, readonly string[]>;

export const tokenMembers = [
  "url",
  "client_auth",
  "format",
  "headers",
  "params",
  "error_in_2xx",
  "access_token",
  "refresh_token",
  "expires_in",
  "scope",
] as const;

const configNames = ["client_id", "client_secret", "private_key", "key_id"];

/** Fields that a mode has unless the manifest declares others. */
const defaultFields: Partial<Record<AuthMode, Json>> = {
  oauth2_cc: { client_id: { title: "Client id", secret: false }, client_secret: { title: "Client secret" } },
  basic: { username: { title: "User name", secret: false }, password: { title: "Password" } },
  jwt: {
    client_email: { title: "Service account e-mail", secret: false },
    private_key: { title: "Private key", multiline: true },
  },
  aws_sigv4: {
    access_key_id: { title: "Access key id", secret: false },
    secret_access_key: { title: "Secret access key" },
    session_token: { title: "Session token", required: false },
  },
};

/** Credentials that the service obtains itself. */
const obtained: Partial<Record<AuthMode, readonly string[]>> = {
  oauth2: ["access_token", "refresh_token", "id_token"],
  oauth2_cc: ["access_token"],
  two_step: ["access_token"],
  jwt: ["access_token"],
};

/** The names that all modes capture; the templates of the manifest may use them. */
export function capturedNames(auth: Json | undefined): ReadonlySet<string> {
  const names = new Set<string>();
  if (!isJsonObject(auth)) return names;
  for (const mode of Object.values(auth)) {
    if (!isJsonObject(mode)) continue;
    const inAccount = isJsonObject(mode.account) ? mode.account.captured : undefined;
    for (const each of [mode.captured, mode.captured_query, inAccount]) {
      if (isJsonObject(each)) for (const name of Object.keys(each)) names.add(name);
    }
  }
  return names;
}

/** The scopes that OAuth offers. */
export function availableScopes(auth: Json | undefined): ReadonlySet<string> {
  const oauth2 = isJsonObject(auth) ? auth.oauth2 : undefined;
  const scopes = isJsonObject(oauth2) ? oauth2.scopes : undefined;
  const available = isJsonObject(scopes) ? scopes.available : undefined;
  return new Set(isJsonObject(available) ? Object.keys(available) : []);
}

/** Reads all modes, in the order in which they are offered. */
export function* parseAuth(value: Json | undefined, context: CompileContext): Generator<void, readonly AuthSpec[]> {
  const { violations } = context;
  if (!isJsonObject(value) || Object.keys(value).length === 0) {
    violations.add("auth", "required", `must be an object with at least one of ${authModes.join(", ")}`);
    return [];
  }
  for (const mode of Object.keys(value)) {
    if (authModes.includes(mode as AuthMode)) continue;
    violations.add(memberPath("auth", mode), "unknown_field", suggest(mode, authModes, "modes"));
  }
  const specs: AuthSpec[] = [];
  for (const mode of authModes) {
    if (!Object.hasOwn(value, mode)) continue;
    const reader = ObjectReader.open(value[mode], `auth.${mode}`, violations, {
      known: authMembers[mode],
      example: mode === "none" ? "{}" : '{"fields": {"api_key": {"title": "API key"}}}',
      what: `the mode ${mode}`,
    });
    const spec = reader && (yield* parseMode(mode, reader, context));
    if (spec !== undefined) specs.push(spec);
  }
  return specs;
}

function* parseMode(
  mode: AuthMode,
  reader: ObjectReader,
  context: CompileContext,
): Generator<void, AuthSpec | undefined> {
  const { violations } = context;
  const fields = yield* parseFields(reader.get("fields") ?? defaultFields[mode], reader.pathOf("fields"), violations, {
    secret: true,
  });
  const config = yield* parseFields(reader.get("config"), reader.pathOf("config"), violations, { secret: true });
  const scope: TemplateScope = {
    ...providerScope(context),
    credentials: new Set([...fields.map(({ name }) => name), ...(obtained[mode] ?? [])]),
    config: mode === "oauth2" ? new Set([...configNames, ...config.map(({ name }) => name)]) : undefined,
  };
  const account = parseAccount(reader, context);
  switch (mode) {
    case "none":
      return { mode, fields };
    case "api_key": {
      if (!reader.has("fields"))
        reader.refuse("fields", "required", 'is required, for example {"api_key": {"title": "API key"}}');
      const apply = parseApply(reader, scope, context, undefined);
      return apply && { mode, fields, account, apply };
    }
    case "basic": {
      const username = parseText(
        reader.get("username") ?? "{credentials.username}",
        reader.pathOf("username"),
        scope,
        violations,
      );
      const password = parseText(
        reader.get("password") ?? "{credentials.password}",
        reader.pathOf("password"),
        scope,
        violations,
      );
      return username && password && { mode, fields, username, password, account };
    }
    case "aws_sigv4": {
      const service = reader.text("service", formats.service);
      const region = parseText(
        reader.required("region", '"{settings.region}"'),
        reader.pathOf("region"),
        scope,
        violations,
      );
      for (const name of ["access_key_id", "secret_access_key"]) {
        if (!fields.some((each) => each.name === name)) reader.refuse("fields", "required", `must have ${name}`);
      }
      return service === undefined || region === undefined ? undefined : { mode, fields, service, region, account };
    }
    case "oauth2":
      return parseOAuth2(reader, scope, context, { fields, config, account });
    case "oauth2_cc":
      return parseClientCredentials(reader, scope, context, fields, account);
    case "two_step":
      return parseTwoStep(reader, scope, context, fields, account);
    case "jwt":
      return parseJwt(reader, scope, context, fields, account);
  }
}

const bearer = { headers: { authorization: "Bearer {credentials.access_token}" } };

function parseApply(
  reader: ObjectReader,
  scope: TemplateScope,
  context: CompileContext,
  fallback: Json | undefined,
): ApplySpec | undefined {
  const value = reader.get("apply") ?? fallback;
  if (value === undefined) {
    return reader.refuse(
      "apply",
      "required",
      'is required, for example {"headers": {"x-api-key": "{credentials.api_key}"}}',
    );
  }
  const path = reader.pathOf("apply");
  const apply = ObjectReader.open(value, path, context.violations, {
    known: ["headers", "query", "base_url"],
    example: '{"headers": {"authorization": "Bearer {credentials.api_key}"}}',
    what: "apply",
  });
  if (apply === undefined) return undefined;
  const headers = readPairs(apply, "headers", scope, context).flatMap(([name, template]) => {
    const nameTemplate = parseText(name, memberPath(apply.pathOf("headers"), name), scope, context.violations);
    return nameTemplate === undefined ? [] : [[nameTemplate, template] as const];
  });
  const query = readPairs(apply, "query", scope, context);
  const baseUrl = apply.has("base_url")
    ? parseUrl(apply.get("base_url"), apply.pathOf("base_url"), scope, context)
    : undefined;
  if (headers.length === 0 && query.length === 0 && baseUrl === undefined) {
    context.violations.add(path, "required", "must have headers, query or base_url");
  }
  return { headers, query, baseUrl };
}

type Pairs = readonly (readonly [name: string, value: TextTemplate])[];

function readPairs(reader: ObjectReader, member: string, scope: TemplateScope, { violations }: CompileContext): Pairs {
  const value = reader.get(member);
  if (value === undefined) return [];
  if (!isJsonObject(value) || Object.keys(value).length > limits.params) {
    reader.refuse(member, "type", `must be an object of at most ${limits.params} texts`);
    return [];
  }
  return Object.entries(value).flatMap(([name, text]) => {
    const template = parseText(text, memberPath(reader.pathOf(member), name), scope, violations);
    return template === undefined ? [] : [[name, template] as const];
  });
}

function readPointers(reader: ObjectReader, member: string): ReadonlyMap<string, string> {
  const value = reader.get(member);
  const pointers = new Map<string, string>();
  if (value === undefined) return pointers;
  const inner = isJsonObject(value) ? Object.keys(value) : undefined;
  if (inner === undefined || inner.length > limits.captured) {
    reader.refuse(
      member,
      "type",
      `must be an object of at most ${limits.captured} texts, for example {"team": "/team/id"}`,
    );
    return pointers;
  }
  const open = ObjectReader.open(value, reader.pathOf(member), reader.violations, {
    known: inner,
    example: "{}",
    what: member,
  })!;
  for (const name of inner) {
    if (!formats.field.pattern.test(name)) open.refuse(name, "pattern", formats.field.description);
    const text = open.text(name, member === "captured_query" ? formats.param : formats.pointer);
    if (text !== undefined) pointers.set(name, text);
  }
  return pointers;
}

function parseAccount(reader: ObjectReader, context: CompileContext): AccountProbe | undefined {
  if (!reader.has("account")) return undefined;
  const account = ObjectReader.open(reader.get("account"), reader.pathOf("account"), context.violations, {
    known: [...requestMembers, "id", "label", "captured"],
    example: '{"method": "GET", "path": "/me", "id": "/id", "label": "/name"}',
    what: "an account probe",
  });
  if (account === undefined) return undefined;
  const request = readRequest(account, providerScope(context), context);
  const id = account.text("id", formats.pointer);
  const label = optionalPointer(account, "label");
  return request && id !== undefined ? { request, id, label, captured: readPointers(account, "captured") } : undefined;
}

function parseToken(reader: ObjectReader, scope: TemplateScope, context: CompileContext): TokenEndpoint | undefined {
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

function parseExpiry(reader: ObjectReader): TokenExpiry {
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

function seconds(reader: ObjectReader, name: string): number | undefined {
  return reader.has(name) ? reader.integer(name, { min: 1, max: limits.lifetimeS }) : undefined;
}

function parseScopes(reader: ObjectReader): OAuth2Auth["scopes"] {
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

function parseOAuth2(
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

function parseClientCredentials(
  reader: ObjectReader,
  scope: TemplateScope,
  context: CompileContext,
  fields: readonly FieldSpec[],
  account: AccountProbe | undefined,
): AuthSpec | undefined {
  const token = parseToken(reader, scope, context);
  const apply = parseApply(reader, scope, context, bearer);
  const scopes = parseScopes(reader);
  for (const name of ["client_id", "client_secret"]) {
    if (!fields.some((each) => each.name === name)) reader.refuse("fields", "required", `must have ${name}`);
  }
  return (
    token &&
    apply && {
      mode: "oauth2_cc",
      fields,
      token,
      scopes,
      scopeSeparator: reader.choice("scope_separator", [" ", ",", "+"], " "),
      expires: parseExpiry(reader),
      captured: readPointers(reader, "captured"),
      account,
      apply,
    }
  );
}

function parseTwoStep(
  reader: ObjectReader,
  scope: TemplateScope,
  context: CompileContext,
  fields: readonly FieldSpec[],
  account: AccountProbe | undefined,
): AuthSpec | undefined {
  const { violations } = context;
  const token = ObjectReader.open(
    reader.required("token", '{"url": "https://example.com/login"}'),
    reader.pathOf("token"),
    violations,
    {
      known: ["method", "url", "headers", "json", "form", "token", "expires_in", "expires"],
      example: '{"url": "https://example.com/login", "json": {"key": "{credentials.key}"}, "token": "/token"}',
      what: "a login request",
    },
  );
  const apply = parseApply(reader, scope, context, bearer);
  if (token === undefined) return undefined;
  const url = parseUrl(token.required("url", '"https://example.com/login"'), token.pathOf("url"), scope, context);
  const pointer = token.text("token", formats.pointer);
  const kind = (["json", "form"] as const).find((each) => token.has(each));
  const value = kind && parseValue(token.get(kind)!, token.pathOf(kind), scope, violations);
  const headers = token.get("headers");
  if (url === undefined || pointer === undefined || apply === undefined) return undefined;
  return {
    mode: "two_step",
    fields,
    token: {
      method: token.choice("method", ["POST", "GET", "PUT"], "POST"),
      url,
      headers: headers === undefined ? undefined : readHeaders(headers, token.pathOf("headers"), scope, context),
      body: kind && value && { kind, value },
      token: pointer,
      expiresIn: optionalPointer(token, "expires_in"),
      expires: parseExpiry(token),
    },
    captured: readPointers(reader, "captured"),
    account,
    apply,
  };
}

function parseJwt(
  reader: ObjectReader,
  scope: TemplateScope,
  context: CompileContext,
  fields: readonly FieldSpec[],
  account: AccountProbe | undefined,
): AuthSpec | undefined {
  const { violations } = context;
  const token = ObjectReader.open(
    reader.required("token", '{"url": "https://example.com/token"}'),
    reader.pathOf("token"),
    violations,
    {
      known: ["url", "audience", "issuer", "grant", "algorithm", "lifetime_s", "claims", "expires"],
      example: '{"url": "https://oauth2.googleapis.com/token"}',
      what: "a token request",
    },
  );
  const apply = parseApply(reader, scope, context, bearer);
  if (token === undefined) return undefined;
  const url = parseUrl(token.required("url", '"https://example.com/token"'), token.pathOf("url"), scope, context);
  const audience = token.has("audience")
    ? parseText(token.get("audience"), token.pathOf("audience"), scope, violations)
    : url;
  const issuer = parseText(
    token.get("issuer") ?? "{credentials.client_email}",
    token.pathOf("issuer"),
    scope,
    violations,
  );
  if (!fields.some(({ name }) => name === "private_key")) reader.refuse("fields", "required", "must have private_key");
  if (url === undefined || audience === undefined || issuer === undefined || apply === undefined) return undefined;
  const grant = token.prose("grant", 200);
  return {
    mode: "jwt",
    fields,
    token: {
      url,
      audience,
      issuer,
      grant: grant === "" ? "urn:ietf:params:oauth:grant-type:jwt-bearer" : grant,
      algorithm: token.choice("algorithm", ["RS256", "ES256"], "RS256"),
      lifetimeS: token.integer("lifetime_s", { min: 30, max: 86_400 }, 3600) ?? 3600,
      claims: readPairs(token, "claims", scope, context),
      expires: parseExpiry(token),
    },
    scopes: parseScopes(reader),
    account,
    apply,
  };
}
