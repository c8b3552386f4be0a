import { isJsonObject, memberPath, type TextFormat } from "../../../../../../platform/document/index.ts";
import {
  choice,
  integer,
  type Member,
  object,
  objectOrEmpty,
  optional,
  optionalText,
  optionalTexts,
  required,
  textSchema,
  type ValueOf,
} from "../../../../../../platform/json-schema/index.ts";
import type { TextTemplate } from "../../template.ts";
import { type CompileContext, providerScope } from "../compile-context.ts";
import { formats, limits } from "../limits.ts";
import { define, named, pointer, ref, template, templates, url } from "../members.ts";
import { parseText, suggest } from "../parse-template.ts";
import { completeRequest, requestMembers } from "../request.ts";

const applied = define(
  "apply",
  '{"headers": {"authorization": "Bearer {credentials.api_key}"}}',
  {
    headers: templates("headers"),
    query: templates("query"),
    /** Replaces the provider's base URL, for providers that have a secret in the path. */
    baseUrl: optional(url("base_url")),
  },
  ({ headers, ...apply }, reader, { scope, violations }) => {
    if (headers.length === 0 && apply.query.length === 0 && !reader.has("base_url")) {
      violations.add(reader.path, "required", "must have headers, query or base_url");
    }
    const path = reader.pathOf("headers");
    const named = headers.flatMap(([name, value]) => {
      const nameTemplate = parseText(name, memberPath(path, name), scope, violations);
      return nameTemplate === undefined ? [] : [[nameTemplate, value] as const];
    });
    return { headers: named, ...apply };
  },
);

/** Where credentials go in a request. */
export type ApplySpec = ValueOf<typeof applied>;

export const requiredApply = named(
  required(objectOrEmpty("apply", applied), '{"headers": {"x-api-key": "{credentials.api_key}"}}'),
  "apply",
);

/** Where an access token goes. */
export const apply: Member<ApplySpec, CompileContext> = {
  ...{ name: "apply", schema: ref("apply"), isRequired: false },
  read(reader, context) {
    const value = reader.get("apply") ?? { headers: { authorization: "Bearer {credentials.access_token}" } };
    return applied.read(value, reader.pathOf("apply"), context) ?? applied.readEmpty(context);
  },
};

/** Names, and the places in an answer or a callback where their values are. */
export function captured(name: string, format: TextFormat = formats.pointer): Member<ReadonlyMap<string, string>> {
  return {
    name,
    schema: {
      ...{ type: "object", maxProperties: limits.captured },
      ...{ propertyNames: textSchema(formats.field), additionalProperties: { type: "string" } },
    },
    isRequired: false,
    read(reader, { violations }) {
      const value = reader.get(name);
      const places = new Map<string, string>();
      if (value === undefined) return places;
      if (!isJsonObject(value) || Object.keys(value).length > limits.captured) {
        const message = `must be an object of at most ${limits.captured} texts, for example {"team": "/team/id"}`;
        reader.refuse(name, "type", message);
        return places;
      }
      for (const [key, place] of Object.entries(value)) {
        const path = memberPath(reader.pathOf(name), key);
        if (!formats.field.pattern.test(key)) violations.add(path, "pattern", formats.field.description);
        if (typeof place === "string" && place.length <= format.lengthMax && format.pattern.test(place))
          places.set(key, place);
        else violations.add(path, "pattern", format.description);
      }
      return places;
    },
  };
}

/** A pointer into the answer, or a text such as an id that the callback had. */
const accountId: Member<string | TextTemplate, CompileContext> = {
  ...{ name: "id", schema: { anyOf: [pointer("id").schema, template("id").schema] }, isRequired: true },
  read(reader, context) {
    const value = reader.get("id");
    const isTemplate = typeof value === "string" && value.startsWith("{");
    return (isTemplate ? template("id") : pointer("id")).read(reader, context);
  },
};

const probe = define(
  "an account probe",
  '{"method": "GET", "path": "/me", "id": "/id", "label": "/name"}',
  {
    ...requestMembers,
    /** Points to the list of accounts, whose items have the other pointers; undefined if the answer is one account. */
    items: optional(pointer("items")),
    id: accountId,
    label: optional(pointer("label")),
    /** Further values to capture, as pointers. */
    captured: captured("captured"),
  },
  ({ items, id, label, captured, ...request }, reader, context) => ({
    ...{ items, id, label, captured },
    request: completeRequest(request, reader, context),
  }),
);

/** The request that identifies the connected account, and the values to keep from its answer. */
export type AccountProbe = ValueOf<typeof probe>;

const ownAccount = optional(object("account", probe));
export const account: Member<AccountProbe | undefined, CompileContext> = {
  ...named(ownAccount, "account"),
  read: (reader, context) => ownAccount.read(reader, { ...context, scope: providerScope(context) }),
};

const endpoint = define(
  "a token endpoint",
  '{"url": "https://example.com/oauth/token", "client_auth": "body"}',
  {
    url: required(url("url"), '"https://example.com/oauth/token"'),
    clientAuth: choice("client_auth", ["basic", "body", "private_key_jwt", "none"], "basic"),
    format: choice("format", ["form", "json"], "form"),
    headers: templates("headers"),
    params: templates("params"),
    /** A pointer to the error code in answers with status 200. */
    errorIn2xx: optional(pointer("error_in_2xx")),
    accessToken: optionalText("access_token", formats.pointer, "/access_token"),
    refreshToken: optionalText("refresh_token", formats.pointer, "/refresh_token"),
    expiresIn: optionalText("expires_in", formats.pointer, "/expires_in"),
    scope: optionalText("scope", formats.pointer, "/scope"),
  },
  ({ accessToken, refreshToken, expiresIn, scope, ...token }) => ({
    ...token,
    pointers: { accessToken, refreshToken, expiresIn, scope },
  }),
);

/** The token endpoint of OAuth 2. Pointers locate the values in its answer. */
export type TokenEndpoint = ValueOf<typeof endpoint>;

export const token = named(required(object("token", endpoint), '{"url": "https://example.com/token"}'), "token");

/** A lifetime; undefined if it is missing. */
export function seconds(name: string): Member<number | undefined> {
  return optional(integer(name, { min: 1, max: limits.lifetimeS }));
}

const expiry = define("an expiry", '{"default_s": 3600}', {
  /** Used if the answer does not say; undefined if the token does not expire then. */
  defaultS: seconds("default_s"),
  unit: choice("unit", ["s", "ms"], "s"),
});

/** How long an access token is valid. */
export type TokenExpiry = ValueOf<typeof expiry>;

export const expires = named(objectOrEmpty("expires", expiry), "expires");

/** The scopes that can be requested, with their meanings. */
const available: Member<ReadonlyMap<string, string>> = {
  name: "available",
  schema: {
    ...{ type: "object", maxProperties: limits.scopes },
    ...{ propertyNames: textSchema(formats.scope), additionalProperties: { type: "string" } },
  },
  isRequired: false,
  read(scopes, { violations }) {
    const available = new Map<string, string>();
    const listed = scopes.get("available") ?? {};
    if (!isJsonObject(listed) || Object.keys(listed).length > limits.scopes) {
      scopes.refuse("available", "type", `must be an object of at most ${limits.scopes} scopes with their meanings`);
      return available;
    }
    for (const [name, meaning] of Object.entries(listed)) {
      const place = memberPath(scopes.pathOf("available"), name);
      if (!formats.scope.pattern.test(name)) violations.add(place, "pattern", formats.scope.description);
      else if (typeof meaning !== "string") violations.add(place, "type", "must be a text that says what it allows");
      else available.set(name, meaning);
    }
    return available;
  },
};

const scopeLists = define(
  "scopes",
  '{"default": ["read"], "available": {"read": "Read everything"}}',
  { default: optionalTexts("default", formats.scope, { min: 0, max: 100 }, '["read"]'), available },
  ({ default: chosen = [], available }, reader) => {
    for (const scope of available.size > 0 ? chosen : []) {
      if (!available.has(scope))
        reader.refuse("default", "scope", suggest(scope, [...available.keys()].slice(0, 100), "scopes"));
    }
    return { default: chosen, available };
  },
);

/** The scopes that can be requested, and those that are requested by default. */
export const scopes = named(objectOrEmpty("scopes", scopeLists), "scopes");

/** The schemas of the parts of authentication modes, by name. */
export const authPartSchemas = {
  account: probe.schema,
  token: endpoint.schema,
  apply: { ...applied.schema, minProperties: 1 },
  expires: expiry.schema,
  scopes: scopeLists.schema,
};
