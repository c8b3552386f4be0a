import { type Json, type JsonObject, memberPath, ObjectReader } from "../../../../../platform/document/index.ts";
import { nearestName } from "../../../../../platform/text/index.ts";
import { type Action, type Effect, effects, type KeyPlace, type Mutation } from "../action.ts";
import type { RequestSpec } from "../request-spec.ts";
import type { AnswerClass, ErrorRule, OutputSpec } from "../response-spec.ts";
import { actionScope, type CompileContext } from "./compile-context.ts";
import { formats, limits } from "./limits.ts";
import { actionMembers, idempotencies, responseKinds, retryClasses } from "./manifest-schema.ts";
import { flag } from "./parse-fields.ts";
import { parseRequest } from "./parse-request.ts";
import type { SchemaResolver } from "./parse-schema.ts";
import { suggest } from "./parse-template.ts";
import { output, pagination, parseErrors } from "./response.ts";

const example =
  '{"title": "Get an item", "mutation": {"effect": "read"}, "request": {"method": "GET", "path": "/item"}}';
/** The input of operations that need none. */
export const noInput: JsonObject = { type: "object", properties: {}, additionalProperties: false };

export function* parseAction(
  name: string,
  value: Json,
  context: CompileContext,
  providerErrors: readonly ErrorRule[],
): Generator<void, Action | undefined> {
  const { violations, schemas } = context;
  const path = memberPath("actions", name);
  const reader = ObjectReader.open(value, path, violations, { known: actionMembers, example, what: "an action" });
  if (reader === undefined) return undefined;
  const mutation = readMutation(reader);
  const runtime = readRuntime(reader, context);
  const inputSchema = readInputSchema(reader, schemas);
  const request =
    reader.has("request") && inputSchema !== undefined
      ? parseRequest(reader.get("request"), reader.pathOf("request"), actionScope(context, inputSchema), context)
      : undefined;
  if (runtime.status === "executable" && !reader.has("request")) {
    reader.refuse(
      "request",
      "required",
      "is required for executable actions; otherwise set runtime to catalog_only with a reason",
    );
  }
  if (mutation !== undefined && request !== undefined) checkEffect(reader, mutation, request);
  const ownErrors = yield* parseErrors(reader.get("errors"), reader.pathOf("errors"), context);
  const outputSpec = output("output").read(reader, context);
  const outputSchema = reader.has("output_schema")
    ? schemas.resolve(reader.get("output_schema")!, reader.pathOf("output_schema"))
    : schemaOf(outputSpec);
  return {
    key: `${context.key}.${name}`,
    name,
    title: reader.text("title", formats.title) ?? name,
    description: reader.prose("description", limits.descriptionLength),
    scopes: readScopes(reader, context),
    permissions: reader.textList("permissions", formats.scope, { min: 0, max: 50 }, '["issues:write"]') ?? [],
    related: readRelated(reader, context),
    mutation: mutation ?? { effect: "update", destructive: false, idempotency: "none", keyIn: undefined },
    retry: readRetry(reader, mutation),
    timeoutMs: reader.integer("timeout_ms", limits.timeoutMs, limits.timeoutMs.default) ?? limits.timeoutMs.default,
    responseBytesMax:
      reader.integer("response_bytes_max", limits.responseBytes, limits.responseBytes.default) ??
      limits.responseBytes.default,
    runtime,
    inputSchema: inputSchema ?? noInput,
    outputSchema,
    request,
    response: reader.choice("response", responseKinds, "json"),
    errors: [...ownErrors, ...providerErrors],
    output: outputSpec,
    paginate: pagination.read(reader, context),
  };
}

/** Reads the schema of an input, which is always an object. */
export function readInputSchema(reader: ObjectReader, schemas: SchemaResolver): JsonObject | undefined {
  if (!reader.has("input")) return noInput;
  const schema = schemas.resolve(reader.get("input")!, reader.pathOf("input"));
  if (schema === undefined || schema.type === "object") return schema;
  return reader.refuse("input", "type", 'must be a schema with type "object"');
}

/** Reads scopes, which OAuth must offer. */
export function readScopes(reader: ObjectReader, { scopes: known }: CompileContext): readonly string[] {
  const scopes = reader.textList("scopes", formats.scope, { min: 0, max: 50 }, '["repo"]') ?? [];
  if (known.size === 0) return scopes;
  for (const scope of scopes) {
    if (known.has(scope)) continue;
    const near = nearestName(scope, [...known].slice(0, 50));
    const hint = near === undefined ? "add it to auth.oauth2.scopes.available" : `did you mean ${near}?`;
    reader.refuse("scopes", "scope", `has ${scope}, which auth.oauth2.scopes.available does not list; ${hint}`);
  }
  return scopes;
}

function readRelated(reader: ObjectReader, { key, actionNames }: CompileContext): readonly string[] {
  const names = reader.textList("related", formats.operation, { min: 0, max: limits.related }, '["issue.list"]') ?? [];
  for (const name of names) {
    if (!actionNames.has(name))
      reader.refuse("related", "reference", suggest(name, [...actionNames].slice(0, 100), "actions"));
  }
  return names.map((name) => `${key}.${name}`);
}

function readMutation(reader: ObjectReader): Mutation | undefined {
  const value = reader.required("mutation", '{"effect": "read"}');
  if (value === undefined) return undefined;
  const inner = ObjectReader.open(value, reader.pathOf("mutation"), reader.violations, {
    known: ["effect", "destructive", "idempotency", "key_in"],
    example: '{"effect": "create", "idempotency": "none"}',
    what: "a mutation",
  });
  if (inner === undefined) return undefined;
  const effect = inner.get("effect");
  if (!effects.includes(effect as Effect)) {
    return inner.refuse("effect", "choice", suggest(String(effect), effects, "effects"));
  }
  const isReading = effect === "read" || effect === "search";
  const idempotency = inner.choice("idempotency", idempotencies, isReading ? "natural" : "none");
  if (isReading && idempotency !== "natural") {
    inner.refuse("idempotency", "choice", 'must be "natural" for reading actions');
  }
  const keyIn = inner.has("key_in") ? readKeyPlace(inner) : undefined;
  if (idempotency === "key" && !inner.has("key_in")) {
    inner.refuse("key_in", "required", 'is required with idempotency "key", for example {"header": "Idempotency-Key"}');
  }
  if (idempotency !== "key" && inner.has("key_in")) {
    inner.refuse("key_in", "exclusive", 'is allowed only with idempotency "key"');
  }
  return { effect: effect as Effect, destructive: flag(inner, "destructive", effect === "delete"), idempotency, keyIn };
}

function readKeyPlace(reader: ObjectReader): KeyPlace | undefined {
  const place = ObjectReader.open(reader.get("key_in"), reader.pathOf("key_in"), reader.violations, {
    known: ["header", "query", "body"],
    example: '{"header": "Idempotency-Key"}',
    what: "a place of the idempotency key",
  });
  if (place === undefined) return undefined;
  const [kind, ...others] = (["header", "query", "body"] as const).filter((each) => place.has(each));
  if (kind === undefined || others.length > 0) {
    return reader.refuse("key_in", "exclusive", "must have exactly one of header, query and body");
  }
  if (kind === "body") {
    const pointer = place.text("body", formats.pointer);
    return pointer === undefined ? undefined : { in: "body", pointer };
  }
  const name = place.text(kind, kind === "header" ? formats.header : formats.param);
  return name === undefined ? undefined : { in: kind, name };
}

/** Repeating is allowed only where it cannot have an effect twice. */
function readRetry(reader: ObjectReader, mutation: Mutation | undefined): Action["retry"] {
  const isSafe = mutation?.idempotency === "natural" || mutation?.idempotency === "key";
  const fallback: Action["retry"] = isSafe
    ? { maxAttempts: 3, on: ["unavailable", "rate_limited"] }
    : { maxAttempts: 1, on: [] };
  if (!reader.has("retry")) return fallback;
  const inner = ObjectReader.open(reader.get("retry"), reader.pathOf("retry"), reader.violations, {
    known: ["max_attempts", "on"],
    example: '{"max_attempts": 3, "on": ["unavailable"]}',
    what: "a retry policy",
  });
  if (inner === undefined) return fallback;
  const maxAttempts = inner.integer("max_attempts", { min: 1, max: limits.attempts }, fallback.maxAttempts) ?? 1;
  const on = (inner.list("on", { min: 0, max: retryClasses.length }, '["unavailable"]') ??
    fallback.on) as AnswerClass[];
  for (const [at, each] of on.entries()) {
    const place = `${inner.pathOf("on")}[${at}]`;
    if (!retryClasses.includes(each as (typeof retryClasses)[number])) {
      inner.violations.add(place, "choice", suggest(String(each), retryClasses, "classes that can be repeated"));
    } else if (!isSafe && each !== "rate_limited") {
      const message = `cannot be repeated: the action's idempotency is "none", so that only "rate_limited" can`;
      inner.violations.add(place, "retry", message);
    }
  }
  return { maxAttempts, on };
}

const runtimeStatuses = ["executable", "catalog_only", "deprecated"] as const;

function readRuntime(reader: ObjectReader, { key, actionNames }: CompileContext): Action["runtime"] {
  const value = reader.get("runtime");
  const executable = { status: "executable", reason: "", replacedBy: undefined } as const;
  if (value === undefined || value === "executable") return executable;
  const inner = ObjectReader.open(value, reader.pathOf("runtime"), reader.violations, {
    known: ["status", "reason", "by"],
    example: '{"status": "catalog_only", "reason": "Needs a file upload."}',
    what: "a runtime",
  });
  if (inner === undefined) return executable;
  const status = inner.choice("status", runtimeStatuses, "executable");
  const reason = inner.prose("reason", 500);
  if (status !== "executable" && reason === "")
    inner.refuse("reason", "required", "is required: say why it cannot be executed");
  const by = inner.has("by") ? inner.text("by", formats.operation) : undefined;
  if (by !== undefined && !actionNames.has(by))
    inner.refuse("by", "reference", suggest(by, [...actionNames].slice(0, 100), "actions"));
  return { status, reason, replacedBy: by === undefined ? undefined : `${key}.${by}` };
}

function checkEffect(reader: ObjectReader, { effect, keyIn }: Mutation, { method, body }: RequestSpec): void {
  const isReading = effect === "read" || effect === "search";
  if (isReading && (method === "PUT" || method === "PATCH" || method === "DELETE")) {
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
