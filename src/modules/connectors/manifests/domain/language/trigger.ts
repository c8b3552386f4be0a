import type { CelExpression } from "../../../../../platform/cel/index.ts";
import { isJsonObject, type Json, memberPath } from "../../../../../platform/document/index.ts";
import {
  choice,
  integer,
  listSchema,
  type Member,
  object,
  optional,
  prose,
  required,
  text,
  type ValueOf,
} from "../../../../../platform/json-schema/index.ts";
import { input, noInput, outputSchema, runtime, runtimeMembers, scopes } from "./action.ts";
import { type CompileContext, triggerScope } from "./compile-context.ts";
import { formats, limits } from "./limits.ts";
import {
  checkExclusive,
  define,
  expression,
  header,
  named,
  oneOf,
  pointer,
  raw,
  requiredExpression,
  requiredTexts,
  withoutDefault,
} from "./members.ts";
import { deliveryVariables } from "./parse-condition.ts";
import { toText } from "./parse-template.ts";
import { request } from "./request.ts";
import { type ErrorRule, errorRules, output, pagination, parseErrors, readEach } from "./response.ts";
import { verify } from "./verify.ts";

const runtimeObject = define(
  "a runtime",
  '{"status": "catalog_only", "reason": "Needs an app of its own."}',
  runtimeMembers,
  (runtime, reader) => {
    if (runtime.status !== "executable" && runtime.reason === "")
      reader.refuse("reason", "required", "is required: say why it cannot be used");
    return runtime;
  },
);

/** The names of a JSON reply, and pointers to their values. */
const jsonReply: Member<readonly (readonly [name: string, pointer: string])[]> = {
  ...{ name: "json", schema: { type: "object" }, isRequired: true },
  read(reader) {
    const value = reader.get("json");
    if (!isJsonObject(value)) {
      reader.refuse("json", "type", 'must be an object, for example {"challenge": "/challenge"}');
      return [];
    }
    return Object.entries(value).map(([name, pointer]) => [name, toText(pointer)] as const);
  },
};

const reply = define(
  "a reply",
  '{"text": "/challenge"}',
  {
    text: optional(pointer("text")),
    query: optional(text("query", formats.param)),
    header: optional(header("header")),
    json: optional(jsonReply),
  },
  ({ text: body = "", query, header, json }, reader) => {
    checkExclusive(reader, "text", "query", "header", "json");
    if (json !== undefined) return { kind: "json" as const, members: json };
    if (query !== undefined) return { kind: "query" as const, name: query };
    return header === undefined ? { kind: "text" as const, pointer: body } : { kind: "header" as const, name: header };
  },
);

const challengeObject = define(
  "a challenge",
  '{"when": "body.type == \\"url_verification\\"", "respond": {"text": "/challenge"}}',
  {
    when: requiredExpression("when", deliveryVariables, "bool", '"body.type == \\"url_verification\\""'),
    respond: { ...object("respond", reply), schema: { type: "object", minProperties: 1, maxProperties: 1 } },
  },
);

/** The reply to a provider that checks the URL of a subscription. */
export type ChallengeSpec = ValueOf<typeof challengeObject>;

export const challenge = optional(object("challenge", challengeObject));

const event = define("an event", '{"when": "body.type == \\"x\\"", "type": "x"}', {
  when: expression("when", deliveryVariables, "bool"),
  type: optional(text("type", formats.operation)),
});

const times = ["rfc3339", "epoch_s", "epoch_ms"] as const;

type Expiry = { readonly at: string; readonly unit: (typeof times)[number] } | { readonly afterS: number };

const expiry = define(
  "an expiry",
  '{"at": "/expirationDateTime"}',
  {
    at: optional(pointer("at")),
    unit: withoutDefault(choice("unit", times, "rfc3339")),
    afterS: optional(integer("after_s", { min: 60, max: limits.lifetimeS })),
  },
  ({ at = "", unit, afterS }, reader): Expiry => {
    checkExclusive(reader, "at", "after_s");
    return afterS === undefined ? { at, unit } : { afterS };
  },
);

/** generated: the service creates the secret. Otherwise a pointer to it in the answer. */
const secret: Member<{ readonly kind: "generated" } | { readonly kind: "answer"; readonly pointer: string }> = {
  ...{ name: "secret", schema: { type: "string" }, isRequired: false },
  read: (reader, context) =>
    (reader.get("secret") ?? "generated") === "generated"
      ? { kind: "generated" }
      : { kind: "answer", pointer: pointer("secret").read(reader, context) },
};

const registration = define(
  "a registration",
  '{"request": {"method": "POST", "path": "/hooks"}, "id": "/id"}',
  {
    request: named(required(object("request", request), '{"method": "POST", "path": "/hooks"}'), "request"),
    /** A pointer to the provider's id of the subscription. */
    id: pointer("id"),
    secret,
    expires: optional(object("expires", expiry)),
    renew: named(optional(object("renew", request)), "request"),
    unregister: named(optional(object("unregister", request)), "request"),
  },
  (registration, reader) => {
    if (registration.expires !== undefined && !reader.has("renew")) {
      reader.refuse("renew", "required", "is required because the registration expires");
    }
    return registration;
  },
);

/** How a subscription is made known to the provider. Requests use `{subscription.callback_url}`, `.secret` and `.id`. */
export type RegistrationSpec = ValueOf<typeof registration>;

const since = define("a start time", '{"param": "since", "format": "rfc3339"}', {
  param: text("param", formats.param),
  in: withoutDefault(choice("in", ["query", "body"], "query")),
  format: withoutDefault(choice("format", times, "rfc3339")),
});

const poll = define("a poll", '{"request": {"method": "GET", "path": "/items"}, "items": "/items", "key": ["/id"]}', {
  request: named(required(object("request", request), '{"method": "GET", "path": "/items"}'), "request"),
  items: pointer("items"),
  /** The query parameter that limits the answer to changes since a time. */
  since: optional(object("since", since)),
  lookbackS: integer("lookback_s", { min: 0, max: 30 * 86_400 }, 600),
  /** Pointers into an item; together they identify one version of it. */
  key: requiredTexts(
    "key",
    formats.pointer,
    { min: 1, max: 10 },
    '["/id", "/updated_at"]',
    "pointers that identify an item",
  ),
  everyS: integer("every_s", { min: 10, max: 86_400 }, 60),
  paginate: pagination,
});

export type PollSpec = ValueOf<typeof poll>;

const register = optional(object("register", registration));
const ownPoll = optional(object("poll", poll));

const eventsExample = '[{"when": "body.type == \\"x\\"", "type": "x"}]';
const eventsSize = { min: 1, max: limits.events };

const trigger = define(
  "a trigger",
  '{"title": "Item changed", "kind": "webhook", "verify": {"kind": "hmac", "header": "x-signature"}}',
  {
    title: text("title", formats.title),
    description: prose("description", limits.descriptionLength),
    scopes,
    kind: oneOf("kind", ["webhook", "poll"], "kinds"),
    runtime: runtime(runtimeObject),
    inputSchema: input,
    /** Set for webhooks. */
    verify: optional(verify),
    challenge,
    events: raw("events", listSchema(event.schema, eventsSize.min, eventsSize.max, false)),
    /** A pointer to the list of a batch. */
    items: optional(pointer("items")),
    dedup: expression("dedup", deliveryVariables, "any"),
    register: raw("register", register.schema),
    poll: raw("poll", ownPoll.schema),
    errors: errorRules,
    output: output("output"),
    outputSchema,
  },
  ({ inputSchema = noInput, events: _events, errors: _errors, ...trigger }, reader, context) => {
    const { kind, runtime } = trigger;
    if (kind === "webhook" && runtime.status === "executable" && !reader.has("verify")) {
      const message = 'is required for webhooks, for example {"kind": "hmac", "header": "x-signature"}';
      reader.refuse("verify", "required", message);
    }
    if (kind === "poll" && runtime.status === "executable" && !reader.has("poll")) {
      reader.refuse("poll", "required", "is required for triggers that are polled");
    }
    const scoped = { ...context, scope: triggerScope(context, inputSchema) };
    return {
      ...trigger,
      inputSchema,
      register: register.read(reader, scoped),
      poll: ownPoll.read(reader, scoped),
    };
  },
);

/** Something that happens at a provider. */
export interface Trigger extends ValueOf<typeof trigger> {
  /** The global key, for example `github.issue.changed`. */
  readonly key: string;
  readonly name: string;
  /** Filters and names deliveries; variables are headers, query, body, item and input. Empty: everything matches. */
  readonly events: readonly { readonly when: CelExpression | undefined; readonly type: string }[];
  readonly errors: readonly ErrorRule[];
}

export function* parseTrigger(
  name: string,
  value: Json,
  context: CompileContext,
  providerErrors: readonly ErrorRule[],
): Generator<void, Trigger | undefined> {
  const reader = trigger.open(value, memberPath("triggers", name), context);
  if (reader === undefined) return undefined;
  const listed = reader.list("events", eventsSize, eventsExample) ?? [];
  const events = yield* readEach(event, listed, reader.pathOf("events"), context);
  const errors = yield* parseErrors(reader.get("errors"), reader.pathOf("errors"), context);
  return {
    ...{ key: `${context.key}.${name}`, name },
    ...trigger.readMembers(reader, context),
    events: events.map(({ when, type = name }) => ({ when, type })),
    errors: [...errors, ...providerErrors],
  };
}

/** The JSON Schema of a trigger. */
export const triggerSchema = trigger.schema;
