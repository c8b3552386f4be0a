import {
  type Json,
  type JsonObject,
  memberPath,
  type ObjectReader,
  type Violations,
} from "../../../../../platform/document/index.ts";
import {
  choice,
  flag,
  integer,
  listSchema,
  type Member,
  type ObjectDefinition,
  object,
  objectOrEmpty,
  objects,
  optional,
  optionalText,
  optionalTexts,
  prose,
  required,
  text,
  type ValueOf,
} from "../../../../../platform/json-schema/index.ts";
import { nearestName } from "../../../../../platform/text/index.ts";
import { actionScope, type CompileContext } from "./compile-context.ts";
import { formats, limits } from "./limits.ts";
import { checkExclusive, define, named, oneOf, pointer, raw, ref, withoutDefault } from "./members.ts";
import { suggest } from "./parse-template.ts";
import { type RequestSpec, request } from "./request.ts";
import {
  type AnswerClass,
  type ErrorRule,
  errorRules,
  type OutputSpec,
  output,
  pagination,
  parseErrors,
} from "./response.ts";

const effects = ["read", "search", "create", "update", "delete", "send"] as const;
export type Effect = (typeof effects)[number];

/** The input of operations that need none. */
export const noInput: JsonObject = { type: "object", properties: {}, additionalProperties: false };

/** The schema of an input, which is always an object; undefined if it is invalid. */
export const input: Member<JsonObject | undefined, CompileContext> = {
  ...{ name: "input", schema: ref("schema"), isRequired: false },
  read(reader, { schemas }) {
    if (!reader.has("input")) return noInput;
    const schema = schemas.resolve(reader.get("input")!, reader.pathOf("input"));
    if (schema === undefined || schema.type === "object") return schema;
    return reader.refuse("input", "type", 'must be a schema with type "object"');
  },
};

/** The schema of an output; undefined if it is missing. */
export const outputSchema: Member<JsonObject | undefined, CompileContext> = {
  ...{ name: "output_schema", schema: ref("schema"), isRequired: false },
  read: (reader, { schemas }) =>
    reader.has("output_schema")
      ? schemas.resolve(reader.get("output_schema")!, reader.pathOf("output_schema"))
      : undefined,
};

const scopeList = optionalTexts("scopes", formats.scope, { min: 0, max: 50 }, '["repo"]');

/** Scopes, which OAuth must offer. */
export const scopes: Member<readonly string[], CompileContext> = {
  ...scopeList,
  read(reader, context) {
    const scopes = scopeList.read(reader, context) ?? [];
    if (context.scopes.size === 0) return scopes;
    for (const scope of scopes) {
      if (context.scopes.has(scope)) continue;
      const near = nearestName(scope, [...context.scopes].slice(0, 50));
      const hint = near === undefined ? "add it to auth.oauth2.scopes.available" : `did you mean ${near}?`;
      reader.refuse("scopes", "scope", `has ${scope}, which auth.oauth2.scopes.available does not list; ${hint}`);
    }
    return scopes;
  },
};

const relatedList = optionalTexts("related", formats.operation, { min: 0, max: limits.related }, '["issue.list"]');

/** Global keys. */
const related: Member<readonly string[], CompileContext> = {
  ...relatedList,
  read(reader, context) {
    const names = relatedList.read(reader, context) ?? [];
    for (const name of names) checkAction(name, "related", reader, context);
    return names.map((name) => `${context.key}.${name}`);
  },
};

/** Reports a member that names an action which the manifest does not have. */
export function checkAction(name: string, member: string, reader: ObjectReader, { actionNames }: CompileContext): void {
  if (!actionNames.has(name))
    reader.refuse(member, "reference", suggest(name, [...actionNames].slice(0, 100), "actions"));
}

const choiceSource = define(
  "a source of choices",
  '{"for": "repo", "action": "repo.list", "value": "/name"}',
  {
    /** A property of the input. */
    for: text("for", formats.param),
    action: text("action", formats.operation),
    items: optionalText("items", formats.pointer),
    value: pointer("value"),
    label: optional(pointer("label")),
    /** Properties of the input that the action needs, under the same names. */
    inputs: optionalTexts("inputs", formats.param, { min: 0, max: 10 }, '["owner"]'),
  },
  ({ for: property, action: name, value, label = value, inputs = [], items }, reader, context) => {
    checkAction(name, "action", reader, context);
    return { property, name, actionKey: `${context.key}.${name}`, items, value, label, inputs };
  },
);

/** An action that lists the values to choose from for a property of the input. */
export type ChoiceSource = ValueOf<typeof choiceSource>;

/** Reports properties that the input does not have. */
function checkChoices(sources: readonly ChoiceSource[], inputSchema: JsonObject, reader: ObjectReader): void {
  const names = Object.keys((inputSchema.properties ?? {}) as JsonObject);
  for (const name of sources.flatMap(({ property, inputs }) => [property, ...inputs])) {
    if (!names.includes(name)) reader.refuse("choices", "reference", suggest(name, names, "properties of the input"));
  }
}

/** Reports choices that come from an action which changes something. */
export function checkChoiceActions(actions: ReadonlyMap<string, Action>, violations: Violations): void {
  for (const action of actions.values()) {
    for (const [at, { name }] of action.choices.entries()) {
      const source = actions.get(name);
      if (source === undefined || isReading(source.mutation.effect)) continue;
      const message = `must be an action that reads: ${name} has the effect ${source.mutation.effect}`;
      violations.add(`${memberPath("actions", action.name)}.choices[${at}].action`, "effect", message);
    }
  }
}

const keyPlace = define(
  "a place of the idempotency key",
  '{"header": "Idempotency-Key"}',
  {
    header: optional(text("header", formats.header)),
    query: optional(text("query", formats.param)),
    /** A pointer into the JSON or form body. */
    body: optional(pointer("body")),
  },
  ({ header, query, body = "" }, reader) => {
    checkExclusive(reader, "header", "query", "body");
    if (header !== undefined) return { in: "header" as const, name: header };
    return query === undefined ? { in: "body" as const, pointer: body } : { in: "query" as const, name: query };
  },
);

/** Where the idempotency key goes. */
export type KeyPlace = ValueOf<typeof keyPlace>;

const keyIn = object("key_in", keyPlace);
const idempotencies = ["natural", "key", "none"] as const;

function isReading(effect: unknown): boolean {
  return effect === "read" || effect === "search";
}

const mutation = define(
  "a mutation",
  '{"effect": "create", "idempotency": "none"}',
  {
    effect: oneOf("effect", effects, "effects"),
    /** Whether data is lost. */
    destructive: optional(flag("destructive")),
    /** natural: repeating it has no further effect. key: the provider deduplicates by a key. none: it must not be repeated. */
    idempotency: {
      ...{ name: "idempotency", schema: { enum: idempotencies }, isRequired: false },
      read: (reader: ObjectReader) =>
        reader.choice("idempotency", idempotencies, isReading(reader.get("effect")) ? "natural" : "none"),
    },
    keyIn: optional({ ...keyIn, schema: { ...keyIn.schema, minProperties: 1, maxProperties: 1 } }),
  },
  ({ destructive, ...mutation }, reader) => {
    const { effect, idempotency } = mutation;
    if (isReading(effect) && idempotency !== "natural") {
      reader.refuse("idempotency", "choice", 'must be "natural" for reading actions');
    }
    if (idempotency === "key" && !reader.has("key_in")) {
      const message = 'is required with idempotency "key", for example {"header": "Idempotency-Key"}';
      reader.refuse("key_in", "required", message);
    }
    if (idempotency !== "key" && reader.has("key_in")) {
      reader.refuse("key_in", "exclusive", 'is allowed only with idempotency "key"');
    }
    return { ...mutation, destructive: destructive ?? effect === "delete" };
  },
);

/** Effect of an action on the provider's data. */
export type Mutation = ValueOf<typeof mutation>;

const retryClasses = ["rate_limited", "unavailable", "malformed"] as const satisfies readonly AnswerClass[];

/** Repeating is allowed only where it cannot have an effect twice. */
function retryMember(isSafe: boolean) {
  const on: Member<readonly AnswerClass[]> = {
    ...{ name: "on", schema: listSchema({ enum: retryClasses }, 0, retryClasses.length, false), isRequired: false },
    read(reader, { violations }) {
      const list = reader.list("on", { min: 0, max: retryClasses.length }, '["unavailable"]') as
        | AnswerClass[]
        | undefined;
      for (const [at, each] of list?.entries() ?? []) {
        const place = `${reader.pathOf("on")}[${at}]`;
        if (!retryClasses.includes(each as (typeof retryClasses)[number])) {
          violations.add(place, "choice", suggest(each, retryClasses, "classes that can be repeated"));
        } else if (!isSafe && each !== "rate_limited") {
          const message = `cannot be repeated: the action's idempotency is "none", so that only "rate_limited" can`;
          violations.add(place, "retry", message);
        }
      }
      return list ?? (isSafe ? ["unavailable", "rate_limited"] : []);
    },
  };
  const policy = define("a retry policy", '{"max_attempts": 3, "on": ["unavailable"]}', {
    maxAttempts: withoutDefault(integer("max_attempts", { min: 1, max: limits.attempts }, isSafe ? 3 : 1)),
    on,
  });
  return objectOrEmpty("retry", policy);
}

const safeRetry = retryMember(true);
const unsafeRetry = retryMember(false);
const ownRequest = optional(object("request", request));

const statuses = ["executable", "catalog_only", "deprecated"] as const;

/** The status of an operation, and why it is so. */
export const runtimeMembers = {
  status: { ...withoutDefault(choice("status", statuses, "executable")), isRequired: true },
  reason: prose("reason", 500),
};

const runtimeObject = define(
  "a runtime",
  '{"status": "catalog_only", "reason": "Needs a file upload."}',
  { ...runtimeMembers, by: optional(text("by", formats.operation)) },
  ({ by, ...runtime }, reader, context) => {
    if (runtime.status !== "executable" && runtime.reason === "")
      reader.refuse("reason", "required", "is required: say why it cannot be executed");
    if (by !== undefined) checkAction(by, "by", reader, context);
    return {
      ...runtime,
      /** The global key of the action to use instead of a deprecated one. */
      replacedBy: by === undefined ? undefined : `${context.key}.${by}`,
    };
  },
);

/** A runtime, which is executable if it is missing. */
export function runtime<T>(definition: ObjectDefinition<T, CompileContext>): Member<T, CompileContext> {
  const { read, ...member } = named(objectOrEmpty("runtime", definition), "runtime");
  return {
    ...member,
    read: (reader, context) =>
      reader.get("runtime") === "executable" ? definition.readEmpty(context) : read(reader, context),
  };
}

const action = define(
  "an action",
  '{"title": "Get an item", "mutation": {"effect": "read"}, "request": {"method": "GET", "path": "/item"}}',
  {
    title: text("title", formats.title),
    description: prose("description", limits.descriptionLength),
    scopes,
    permissions: optionalTexts("permissions", formats.scope, { min: 0, max: 50 }, '["issues:write"]'),
    related,
    mutation: required(objectOrEmpty("mutation", mutation), '{"effect": "read"}'),
    retry: raw("retry", safeRetry.schema),
    timeoutMs: integer("timeout_ms", limits.timeoutMs, limits.timeoutMs.default),
    responseBytesMax: integer("response_bytes_max", limits.responseBytes, limits.responseBytes.default),
    runtime: runtime(runtimeObject),
    /** JSON Schemas without references. */
    inputSchema: input,
    /** Where the values of properties can be chosen from. */
    choices: objects("choices", choiceSource, { min: 0, max: 20 }, '[{"for": "repo", "action": "repo.list"}]'),
    request: raw("request", ref("request")),
    /** The form of the body; any: JSON if it is JSON, otherwise text. */
    response: choice("response", ["json", "text", "binary", "none", "any"], "json"),
    errors: errorRules,
    /** Undefined: the whole body. */
    output: output("output"),
    outputSchema,
    paginate: pagination,
  },
  ({ permissions = [], errors: _errors, inputSchema, ...action }, reader, context) => {
    const { mutation, runtime } = action;
    if (runtime.status === "executable" && !reader.has("request")) {
      const message = "is required for executable actions; otherwise set runtime to catalog_only with a reason";
      reader.refuse("request", "required", message);
    }
    const scoped = inputSchema && { ...context, scope: actionScope(context, inputSchema) };
    const own = scoped && ownRequest.read(reader, scoped);
    if (own !== undefined) checkEffect(reader, mutation, own);
    if (inputSchema !== undefined) checkChoices(action.choices, inputSchema, reader);
    const retry = mutation.idempotency === "none" ? unsafeRetry : safeRetry;
    return {
      ...action,
      permissions,
      retry: retry.read(reader, context),
      inputSchema: inputSchema ?? noInput,
      outputSchema: reader.has("output_schema") ? action.outputSchema : schemaOf(action.output),
      /** Undefined for actions that are only described. */
      request: own,
    };
  },
);

/** An operation of a provider. */
export interface Action extends ValueOf<typeof action> {
  /** The global key, for example `github.issue.create`. */
  readonly key: string;
  /** The key within the provider, for example `issue.create`. */
  readonly name: string;
  /** The rules of the action, then those of the provider. */
  readonly errors: readonly ErrorRule[];
}

export function* parseAction(
  name: string,
  value: Json,
  context: CompileContext,
  providerErrors: readonly ErrorRule[],
): Generator<void, Action | undefined> {
  const reader = action.open(value, memberPath("actions", name), context);
  if (reader === undefined) return undefined;
  const errors = yield* parseErrors(reader.get("errors"), reader.pathOf("errors"), context);
  const read = action.readMembers(reader, context);
  return { key: `${context.key}.${name}`, name, ...read, errors: [...errors, ...providerErrors] };
}

function checkEffect(reader: ObjectReader, { effect, keyIn }: Mutation, { method, body }: RequestSpec): void {
  if (isReading(effect) && (method === "PUT" || method === "PATCH" || method === "DELETE")) {
    reader.refuse("mutation", "effect", `must not have the effect ${effect}: ${method} changes data`);
  }
  if (keyIn?.in === "body" && (body?.kind === "text" || body?.kind === "base64")) {
    reader.refuse("mutation", "key_in", "cannot put the key into a body that is neither JSON nor a form");
  }
}

/** The schema of an output, as far as its structure says. */
function schemaOf(output: OutputSpec | undefined): JsonObject | undefined {
  if (output === undefined) return undefined;
  switch (output.kind) {
    case "object":
      return {
        type: "object",
        properties: Object.fromEntries(output.members.map(([name, each]) => [name, schemaOf(each) ?? {}])),
      };
    case "list":
      return { type: "array", items: schemaOf(output.each) ?? {} };
    case "status":
      return { type: "integer" };
    case "headers":
      return { type: "object" };
    case "text":
    case "base64":
    case "header":
      return { type: "string" };
    case "constant":
    case "pointer":
      return {};
  }
}

/** The schemas of actions, by name. */
export const actionSchemas = {
  runtime: { oneOf: [{ const: "executable" }, runtimeObject.schema] },
  action: action.schema,
};
