import type { Json, JsonObject } from "../../../../../platform/document/index.ts";
import {
  integerSchema as integer,
  listSchema as list,
  objectSchema as object,
  schemaOfSchemas,
  textSchema as text,
} from "../../../../../platform/json-schema/index.ts";
import { effects } from "../action.ts";
import { type AuthMode, authModes } from "../auth-spec.ts";
import { categories } from "../provider.ts";
import { httpMethods } from "../request-spec.ts";
import type { AnswerClass } from "../response-spec.ts";
import type { VerifySpec } from "../trigger.ts";
import { formats, limits } from "./limits.ts";
import { messageDefinitions } from "./messages/message-schema.ts";
import { responseSchemas } from "./response.ts";

export const retryClasses = ["rate_limited", "unavailable", "malformed"] as const satisfies readonly AnswerClass[];
export const responseKinds = ["json", "text", "binary", "none", "any"] as const;
export const idempotencies = ["natural", "key", "none"] as const;

/**
 * The JSON Schema (draft 2020-12) of the manifest language, for editors and other tools. It describes the structure. It cannot
 * express everything that the compiler checks: placeholders, hosts, expressions, references, and relations between members.
 */
export function manifestSchema(): JsonObject {
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    $id: "urn:switchyard:connector-manifest:1",
    title: "Connector manifest",
    ...object(manifest(), ["manifest", "key", "version", "name", "category", "hosts", "base_url", "auth"]),
    $defs: definitions(),
  };
}

function manifest(): JsonObject {
  return {
    manifest: { const: 1, description: "The version of the language." },
    key: { ...text(formats.key), description: "The provider's key." },
    version: { ...text(formats.version), description: "The semantic version of the manifest." },
    name: text(formats.name),
    category: { enum: categories },
    description: prose(limits.descriptionLength),
    docs_url: text(formats.url),
    hosts: { ...list(text(formats.host), 1, limits.hosts), description: "The hosts that requests may reach." },
    base_url: template,
    http_version: { enum: ["1.1", "2"], default: "1.1" },
    settings: ref("fields"),
    auth: {
      type: "object",
      minProperties: 1,
      properties: Object.fromEntries(authModes.map((mode) => [mode, ref(`auth_${mode}`)])),
      additionalProperties: false,
    },
    default_auth: { enum: authModes },
    headers: { type: "object" },
    rate_limit: object({ remaining: text(formats.header), until: ref("hint") }, ["remaining", "until"]),
    errors: list(ref("error"), 0, limits.errorRules, false),
    actions: map(formats.operation.source, ref("action"), limits.actions),
    triggers: map(formats.operation.source, ref("trigger"), limits.triggers),
    notifications: ref("notifications"),
    schemas: map(formats.schemaName.source, ref("schema"), limits.schemas),
  };
}

const template: JsonObject = { type: "string", description: "A text with placeholders such as {input.title}." };
const expression: JsonObject = { type: "string", description: "A CEL expression." };
const pointer = text(formats.pointer);
const bool: JsonObject = { type: "boolean" };
const templates: JsonObject = {
  type: "object",
  maxProperties: limits.params,
  additionalProperties: { type: "string" },
};
const pointers: JsonObject = {
  type: "object",
  maxProperties: limits.captured,
  propertyNames: text(formats.field),
  additionalProperties: { type: "string" },
};
const seconds = integer(1, limits.lifetimeS);

function definitions(): JsonObject {
  const { hint, error, output, pagination } = responseSchemas;
  return {
    field: object(field()),
    fields: map(formats.field.source, ref("field"), limits.fields),
    hint,
    error,
    request: object(request(), ["method"]),
    account: object(account(), ["method", "id"]),
    output,
    pagination,
    token: object(token(), ["url"]),
    apply: { ...object({ headers: templates, query: templates, base_url: template }), minProperties: 1 },
    expires: object({ default_s: seconds, unit: { enum: ["s", "ms"], default: "s" } }),
    scopes: object({
      default: list(text(formats.scope), 0, 100),
      available: {
        type: "object",
        maxProperties: limits.scopes,
        propertyNames: text(formats.scope),
        additionalProperties: { type: "string" },
      },
    }),
    ...authDefinitions(),
    runtime: {
      oneOf: [
        { const: "executable" },
        object(
          {
            status: { enum: ["executable", "catalog_only", "deprecated"] },
            reason: prose(500),
            by: text(formats.operation),
          },
          ["status"],
        ),
      ],
    },
    action: object(action(), ["title", "mutation"]),
    trigger: object(trigger(), ["title", "kind"]),
    verify: verify(),
    ...messageDefinitions(),
    schema: schemaWithReferences(),
  };
}

function field(): JsonObject {
  return {
    title: text(formats.title),
    description: prose(limits.descriptionLength),
    secret: bool,
    required: bool,
    multiline: bool,
    pattern: { type: "string", description: "A regular expression (RE2) that values match." },
    choices: list(text(formats.title), 1, 100),
    example: prose(500),
    default: prose(2000),
  };
}

function request(): JsonObject {
  return {
    method: { oneOf: [{ enum: httpMethods }, { type: "string", pattern: "^\\{input\\." }] },
    path: { type: "string", pattern: "^/" },
    url: template,
    query: { type: ["object", "string"] },
    headers: { type: ["object", "string"] },
    json: {},
    form: { type: ["object", "string"] },
    text: template,
    base64: template,
    graphql: object(
      {
        query: { type: "string", minLength: 1, maxLength: limits.graphqlLength },
        variables: {},
        operation_name: prose(200),
      },
      ["query"],
    ),
  };
}

function account(): JsonObject {
  return { ...request(), items: pointer, id: { anyOf: [pointer, template] }, label: pointer, captured: pointers };
}

function token(): JsonObject {
  return {
    url: template,
    client_auth: { enum: ["basic", "body", "private_key_jwt", "none"], default: "basic" },
    format: { enum: ["form", "json"], default: "form" },
    headers: templates,
    params: templates,
    error_in_2xx: pointer,
    access_token: pointer,
    refresh_token: pointer,
    expires_in: pointer,
    scope: pointer,
  };
}

function auth(): Readonly<Record<AuthMode, JsonObject>> {
  const separator = { enum: [" ", ",", "+"], default: " " };
  const fields = ref("fields");
  const account = ref("account");
  const apply = ref("apply");
  return {
    oauth2: {
      authorize: object(
        {
          url: template,
          issuer: template,
          scope_separator: separator,
          scope_param: text(formats.param),
          params: templates,
        },
        ["url"],
      ),
      token: ref("token"),
      scopes: ref("scopes"),
      pkce: {
        oneOf: [{ const: "S256" }, object({ mode: { enum: ["S256", "none"] }, reason: prose(500) }, ["mode"])],
      },
      refresh: object({
        mode: { enum: ["rotate", "reuse", "none"], default: "reuse" },
        url: template,
        idle_s: seconds,
        lifetime_s: seconds,
        grace_s: seconds,
      }),
      expires: ref("expires"),
      captured: pointers,
      captured_query: pointers,
      revoke: object(
        {
          url: template,
          client_auth: { enum: ["basic", "body", "none"], default: "basic" },
          token: { enum: ["access_token", "refresh_token"], default: "refresh_token" },
        },
        ["url"],
      ),
      account,
      apply,
      config: fields,
      fields,
    },
    oauth2_cc: {
      token: ref("token"),
      scopes: ref("scopes"),
      scope_separator: separator,
      expires: ref("expires"),
      captured: pointers,
      account,
      apply,
      fields,
    },
    api_key: { fields, apply, account },
    basic: { fields, username: template, password: template, account },
    two_step: {
      fields,
      token: object(
        {
          method: { enum: ["POST", "GET", "PUT"], default: "POST" },
          url: template,
          headers: { type: ["object", "string"] },
          json: {},
          form: {},
          token: pointer,
          expires_in: pointer,
          expires: ref("expires"),
        },
        ["url", "token"],
      ),
      captured: pointers,
      account,
      apply,
    },
    jwt: {
      fields,
      token: object(
        {
          url: template,
          audience: template,
          issuer: template,
          grant: prose(200),
          algorithm: { enum: ["RS256", "ES256"], default: "RS256" },
          lifetime_s: integer(30, 86_400),
          claims: templates,
          expires: ref("expires"),
        },
        ["url"],
      ),
      scopes: ref("scopes"),
      account,
      apply,
    },
    signed_jwt: {
      fields,
      algorithm: { enum: ["RS256", "ES256"], default: "ES256" },
      key_id: template,
      issuer: template,
      claims: templates,
      lifetime_s: { ...integer(60, 3000), default: 1800 },
      account,
      apply,
    },
    aws_sigv4: {
      service: text(formats.service),
      region: template,
      fields,
      account,
    },
    none: {},
  };
}

function authDefinitions(): JsonObject {
  const members = auth();
  const required: Partial<Record<AuthMode, readonly string[]>> = {
    oauth2: ["authorize", "token"],
    oauth2_cc: ["token"],
    api_key: ["fields", "apply"],
    two_step: ["token"],
    jwt: ["token"],
    signed_jwt: ["fields", "issuer"],
    aws_sigv4: ["service", "region"],
  };
  return Object.fromEntries(authModes.map((mode) => [`auth_${mode}`, object(members[mode], required[mode])]));
}

function action(): JsonObject {
  const keyPlace = {
    ...object({ header: text(formats.header), query: text(formats.param), body: pointer }),
    minProperties: 1,
    maxProperties: 1,
  };
  return {
    title: text(formats.title),
    description: prose(limits.descriptionLength),
    scopes: list(text(formats.scope), 0, 50),
    permissions: list(text(formats.scope), 0, 50),
    related: list(text(formats.operation), 0, limits.related),
    mutation: object(
      {
        effect: { enum: effects },
        destructive: bool,
        idempotency: { enum: idempotencies },
        key_in: keyPlace,
      },
      ["effect"],
    ),
    retry: object({
      max_attempts: integer(1, limits.attempts),
      on: list({ enum: retryClasses }, 0, retryClasses.length, false),
    }),
    timeout_ms: { ...integer(limits.timeoutMs.min, limits.timeoutMs.max), default: limits.timeoutMs.default },
    response_bytes_max: {
      ...integer(limits.responseBytes.min, limits.responseBytes.max),
      default: limits.responseBytes.default,
    },
    runtime: ref("runtime"),
    input: ref("schema"),
    request: ref("request"),
    response: { enum: responseKinds, default: "json" },
    errors: list(ref("error"), 0, limits.errorRules, false),
    output: ref("output"),
    output_schema: ref("schema"),
    paginate: ref("pagination"),
  };
}

function trigger(): JsonObject {
  return {
    title: text(formats.title),
    description: prose(limits.descriptionLength),
    scopes: list(text(formats.scope), 0, 50),
    kind: { enum: ["webhook", "poll"] },
    runtime: ref("runtime"),
    input: ref("schema"),
    verify: ref("verify"),
    challenge: object({ when: expression, respond: { type: "object", minProperties: 1, maxProperties: 1 } }, [
      "when",
      "respond",
    ]),
    events: list(object({ when: expression, type: text(formats.operation) }), 1, limits.events, false),
    items: pointer,
    dedup: expression,
    register: object(
      {
        request: ref("request"),
        id: pointer,
        secret: { type: "string" },
        expires: object({
          at: pointer,
          unit: { enum: ["rfc3339", "epoch_s", "epoch_ms"] },
          after_s: integer(60, limits.lifetimeS),
        }),
        renew: ref("request"),
        unregister: ref("request"),
      },
      ["request", "id"],
    ),
    poll: object(
      {
        request: ref("request"),
        items: pointer,
        since: object(
          {
            param: text(formats.param),
            in: { enum: ["query", "body"] },
            format: { enum: ["rfc3339", "epoch_s", "epoch_ms"] },
          },
          ["param"],
        ),
        lookback_s: { ...integer(0, 30 * 86_400), default: 600 },
        key: list(pointer, 1, 10),
        every_s: { ...integer(10, 86_400), default: 60 },
        paginate: ref("pagination"),
      },
      ["request", "items", "key"],
    ),
    errors: list(ref("error"), 0, limits.errorRules, false),
    output: ref("output"),
    output_schema: ref("schema"),
  };
}

function verifications(): Readonly<Record<VerifySpec["kind"], JsonObject>> {
  const encoding = { enum: ["hex", "base64"], default: "hex" };
  const timestamp = object({
    header: text(formats.header),
    member: text(formats.member),
    unit: { enum: ["epoch_s", "epoch_ms", "rfc3339"], default: "epoch_s" },
    tolerance_s: { ...integer(1, 86_400), default: 300 },
  });
  const over = { type: "string", maxLength: 500, default: "{body}" };
  return {
    hmac: {
      kind: { const: "hmac" },
      algorithm: { enum: ["sha256", "sha1", "sha512"], default: "sha256" },
      encoding,
      header: text(formats.header),
      prefix: prose(50),
      member: text(formats.member),
      over,
      timestamp,
      key: { enum: ["text", "base64", "hex"], default: "text" },
    },
    ed25519: { kind: { const: "ed25519" }, header: text(formats.header), encoding, over, timestamp },
    ecdsa: { kind: { const: "ecdsa" }, header: text(formats.header), over, timestamp },
    body_hmac: {
      kind: { const: "body_hmac" },
      signature: pointer,
      over: list(pointer, 1, 10),
      timestamp: object({ pointer, tolerance_s: { ...integer(1, 86_400), default: 300 } }, ["pointer"]),
    },
    token: { kind: { const: "token" }, header: text(formats.header), query: text(formats.param), prefix: prose(50) },
    body_token: { kind: { const: "body_token" }, pointer },
    none: { kind: { const: "none" }, reason: prose(500) },
  };
}

function verify(): JsonObject {
  const required: Readonly<Record<VerifySpec["kind"], readonly string[]>> = {
    hmac: ["kind", "header"],
    ed25519: ["kind", "header"],
    ecdsa: ["kind", "header"],
    body_hmac: ["kind", "signature", "over", "timestamp"],
    token: ["kind"],
    body_token: ["kind", "pointer"],
    none: ["kind", "reason"],
  };
  return {
    oneOf: Object.entries(verifications()).map(([kind, each]) => object(each, required[kind as VerifySpec["kind"]])),
  };
}

/** The schema of schemas, which may also be references. */
function schemaWithReferences(): JsonObject {
  const { properties, ...rest } = schemaOfSchemas(ref("schema"));
  const reference = { type: "string", pattern: "^#/schemas/" };
  return { ...rest, properties: { ...(properties as JsonObject), $ref: reference } };
}

function ref(name: string): JsonObject {
  return { $ref: `#/$defs/${name}` };
}

function prose(maxLength: number): JsonObject {
  return { type: "string", maxLength };
}

function map(pattern: string, value: Json, maxProperties: number): JsonObject {
  return { type: "object", maxProperties, propertyNames: { type: "string", pattern }, additionalProperties: value };
}

function namesOf<K extends string>(parts: Readonly<Record<K, JsonObject>>): Readonly<Record<K, readonly string[]>> {
  const names = Object.entries<JsonObject>(parts).map(([part, members]) => [part, Object.keys(members)]);
  return Object.fromEntries(names) as Record<K, readonly string[]>;
}

// The compiler knows exactly the members that the schema describes. Its messages list them in this order.
export const manifestMembers = Object.keys(manifest());
export const fieldMembers = Object.keys(field());
export const requestMembers = Object.keys(request());
export const accountMembers = Object.keys(account());
export const tokenMembers = Object.keys(token());
export const actionMembers = Object.keys(action());
export const triggerMembers = Object.keys(trigger());
export const authMembers = namesOf(auth());
export const verifyMembers = namesOf(verifications());
