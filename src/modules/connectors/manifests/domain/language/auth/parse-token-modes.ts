import { ObjectReader } from "../../../../../../platform/document/index.ts";
import type { AccountProbe, AuthSpec, FieldSpec } from "../../auth-spec.ts";
import type { CompileContext, TemplateScope } from "../compile-context.ts";
import { formats } from "../limits.ts";
import { readHeaders } from "../parse-request.ts";
import { parseText, parseValue } from "../parse-template.ts";
import { parseUrl } from "../parse-url.ts";
import { optionalPointer } from "../response.ts";
import { bearer, parseApply, readPairs, readPointers } from "./auth-parts.ts";
import { parseExpiry, parseScopes, parseToken } from "./parse-token.ts";

/** Reads the mode oauth2_cc: a client id and a secret are exchanged for an access token. */
export function parseClientCredentials(
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

/** Reads the mode two_step: a request of the provider's own exchanges the fields for an access token. */
export function parseTwoStep(
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

/** Reads the mode jwt: a signed assertion is exchanged for an access token. */
export function parseJwt(
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

/** Reads the mode signed_jwt: the service signs a token, which is not exchanged for another one. */
export function parseSignedJwt(
  reader: ObjectReader,
  scope: TemplateScope,
  context: CompileContext,
  fields: readonly FieldSpec[],
  account: AccountProbe | undefined,
): AuthSpec | undefined {
  const { violations } = context;
  if (!fields.some(({ name }) => name === "private_key")) reader.refuse("fields", "required", "must have private_key");
  const issuer = parseText(
    reader.required("issuer", '"{credentials.team_id}"'),
    reader.pathOf("issuer"),
    scope,
    violations,
  );
  const keyId = reader.has("key_id")
    ? parseText(reader.get("key_id"), reader.pathOf("key_id"), scope, violations)
    : undefined;
  const apply = parseApply(reader, scope, context, bearer);
  if (issuer === undefined || apply === undefined) return undefined;
  return {
    mode: "signed_jwt",
    fields,
    algorithm: reader.choice("algorithm", ["RS256", "ES256"], "ES256"),
    keyId,
    issuer,
    claims: readPairs(reader, "claims", scope, context),
    lifetimeS: reader.integer("lifetime_s", { min: 60, max: 3000 }, 1800) ?? 1800,
    account,
    apply,
  };
}
