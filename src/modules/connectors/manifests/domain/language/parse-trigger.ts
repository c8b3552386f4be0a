import type { CelExpression } from "../../../../../platform/cel/index.ts";
import {
  isJsonObject,
  type Json,
  memberPath,
  ObjectReader,
  type Violations,
} from "../../../../../platform/document/index.ts";
import type { ErrorRule } from "../response-spec.ts";
import type { ChallengeSpec, PollSpec, RegistrationSpec, Trigger } from "../trigger.ts";
import { type CompileContext, type TemplateScope, triggerScope } from "./compile-context.ts";
import { formats, limits } from "./limits.ts";
import { triggerMembers } from "./manifest-schema.ts";
import { noInput, readInputSchema, readScopes } from "./parse-action.ts";
import { deliveryVariables, parseExpression } from "./parse-condition.ts";
import { parseRequest } from "./parse-request.ts";
import { suggest } from "./parse-template.ts";
import { parseVerify } from "./parse-verify.ts";
import { output, pagination, parseErrors } from "./response.ts";

const example = '{"title": "Item changed", "kind": "webhook", "verify": {"kind": "hmac", "header": "x-signature"}}';

export function* parseTrigger(
  name: string,
  value: Json,
  context: CompileContext,
  providerErrors: readonly ErrorRule[],
): Generator<void, Trigger | undefined> {
  const { violations, schemas } = context;
  const path = memberPath("triggers", name);
  const reader = ObjectReader.open(value, path, violations, { known: triggerMembers, example, what: "a trigger" });
  if (reader === undefined) return undefined;
  const kind = reader.get("kind");
  if (kind !== "webhook" && kind !== "poll") {
    return reader.refuse("kind", "choice", suggest(String(kind), ["webhook", "poll"], "kinds"));
  }
  const runtime = readRuntime(reader);
  const inputSchema = readInputSchema(reader, schemas) ?? noInput;
  const scope = triggerScope(context, inputSchema);
  if (kind === "webhook" && runtime.status === "executable" && !reader.has("verify")) {
    reader.refuse(
      "verify",
      "required",
      'is required for webhooks, for example {"kind": "hmac", "header": "x-signature"}',
    );
  }
  if (kind === "poll" && runtime.status === "executable" && !reader.has("poll")) {
    reader.refuse("poll", "required", "is required for triggers that are polled");
  }
  const events = yield* readEvents(reader, name);
  const ownErrors = yield* parseErrors(reader.get("errors"), reader.pathOf("errors"), context);
  return {
    key: `${context.key}.${name}`,
    name,
    title: reader.text("title", formats.title) ?? name,
    description: reader.prose("description", limits.descriptionLength),
    scopes: readScopes(reader, context),
    kind,
    runtime,
    inputSchema,
    outputSchema: reader.has("output_schema")
      ? schemas.resolve(reader.get("output_schema")!, reader.pathOf("output_schema"))
      : undefined,
    verify: reader.has("verify") ? parseVerify(reader.get("verify"), reader.pathOf("verify"), violations) : undefined,
    challenge: readChallenge(reader),
    events,
    items: reader.has("items") ? reader.text("items", formats.pointer) : undefined,
    dedup: parseExpression(reader.get("dedup"), reader.pathOf("dedup"), violations, deliveryVariables, "any"),
    register: reader.has("register") ? readRegistration(reader, scope, context) : undefined,
    poll: reader.has("poll") ? readPoll(reader, scope, context) : undefined,
    errors: [...ownErrors, ...providerErrors],
    output: output("output").read(reader, context),
  };
}

function readRuntime(reader: ObjectReader): Trigger["runtime"] {
  const value = reader.get("runtime");
  if (value === undefined || value === "executable") return { status: "executable", reason: "" };
  const inner = ObjectReader.open(value, reader.pathOf("runtime"), reader.violations, {
    known: ["status", "reason"],
    example: '{"status": "catalog_only", "reason": "Needs an app of its own."}',
    what: "a runtime",
  });
  const status = inner?.choice("status", ["executable", "catalog_only", "deprecated"], "executable") ?? "executable";
  const reason = inner?.prose("reason", 500) ?? "";
  if (status !== "executable" && reason === "")
    inner?.refuse("reason", "required", "is required: say why it cannot be used");
  return { status, reason };
}

function* readEvents(reader: ObjectReader, name: string): Generator<void, Trigger["events"]> {
  const example = '[{"when": "body.type == \\"x\\"", "type": "x"}]';
  const events: { when: CelExpression | undefined; type: string }[] = [];
  for (const [at, value] of (reader.list("events", { min: 1, max: limits.events }, example) ?? []).entries()) {
    const event = ObjectReader.open(value, `${reader.pathOf("events")}[${at}]`, reader.violations, {
      known: ["when", "type"],
      example: '{"when": "body.type == \\"x\\"", "type": "x"}',
      what: "an event",
    });
    if (event === undefined) continue;
    const when = parseExpression(event.get("when"), event.pathOf("when"), reader.violations, deliveryVariables, "bool");
    events.push({ when, type: event.text("type", formats.operation, name) ?? name });
    yield;
  }
  return events;
}

/** Reads how the check of a URL is answered. */
export function readChallenge(reader: ObjectReader): ChallengeSpec | undefined {
  if (!reader.has("challenge")) return undefined;
  const { violations } = reader;
  const challenge = ObjectReader.open(reader.get("challenge"), reader.pathOf("challenge"), violations, {
    known: ["when", "respond"],
    example: '{"when": "body.type == \\"url_verification\\"", "respond": {"text": "/challenge"}}',
    what: "a challenge",
  });
  if (challenge === undefined) return undefined;
  const condition = challenge.required("when", '"body.type == \\"url_verification\\""');
  const when = parseExpression(condition, challenge.pathOf("when"), violations, deliveryVariables, "bool");
  const respond = ObjectReader.open(challenge.get("respond"), challenge.pathOf("respond"), violations, {
    known: ["text", "query", "header", "json"],
    example: '{"text": "/challenge"}',
    what: "a reply",
  });
  const reply = respond && readReply(respond, violations);
  return when && reply && { when, respond: reply };
}

function readReply(reader: ObjectReader, violations: Violations): ChallengeSpec["respond"] | undefined {
  const [kind, ...others] = (["text", "query", "header", "json"] as const).filter((each) => reader.has(each));
  if (kind === undefined || others.length > 0) {
    return violations.add(reader.path, "exclusive", "must have exactly one of text, query, header and json");
  }
  if (kind === "json") {
    const value = reader.get("json");
    if (!isJsonObject(value))
      return reader.refuse("json", "type", 'must be an object, for example {"challenge": "/challenge"}');
    return { kind, members: Object.entries(value).map(([name, pointer]) => [name, String(pointer)] as const) };
  }
  if (kind === "text") {
    const pointer = reader.text("text", formats.pointer);
    return pointer === undefined ? undefined : { kind, pointer };
  }
  const name = reader.text(kind, kind === "query" ? formats.param : formats.header);
  return name === undefined ? undefined : { kind, name: kind === "header" ? name.toLowerCase() : name };
}

function readRegistration(
  reader: ObjectReader,
  scope: TemplateScope,
  context: CompileContext,
): RegistrationSpec | undefined {
  const { violations } = context;
  const register = ObjectReader.open(reader.get("register"), reader.pathOf("register"), violations, {
    known: ["request", "id", "secret", "expires", "renew", "unregister"],
    example: '{"request": {"method": "POST", "path": "/hooks"}, "id": "/id"}',
    what: "a registration",
  });
  if (register === undefined) return undefined;
  const request = parseRequest(
    register.required("request", '{"method": "POST", "path": "/hooks"}'),
    register.pathOf("request"),
    scope,
    context,
  );
  const id = register.text("id", formats.pointer);
  const secret = register.get("secret") ?? "generated";
  const pointer = secret === "generated" ? undefined : register.text("secret", formats.pointer);
  const optional = (name: "renew" | "unregister") =>
    register.has(name) ? parseRequest(register.get(name), register.pathOf(name), scope, context) : undefined;
  const rest = { renew: optional("renew"), unregister: optional("unregister"), expires: readExpiry(register) };
  if (rest.expires !== undefined && !register.has("renew")) {
    register.refuse("renew", "required", "is required because the registration expires");
  }
  if (request === undefined || id === undefined) return undefined;
  return { request, id, secret: pointer === undefined ? { kind: "generated" } : { kind: "answer", pointer }, ...rest };
}

function readExpiry(register: ObjectReader): RegistrationSpec["expires"] {
  if (!register.has("expires")) return undefined;
  const expires = ObjectReader.open(register.get("expires"), register.pathOf("expires"), register.violations, {
    known: ["at", "unit", "after_s"],
    example: '{"at": "/expirationDateTime"}',
    what: "an expiry",
  });
  if (expires === undefined) return undefined;
  if (expires.has("at") === expires.has("after_s")) {
    return register.refuse("expires", "exclusive", "must have either at or after_s");
  }
  if (expires.has("after_s")) {
    const afterS = expires.integer("after_s", { min: 60, max: limits.lifetimeS });
    return afterS === undefined ? undefined : { afterS };
  }
  const at = expires.text("at", formats.pointer);
  const unit = expires.choice("unit", ["rfc3339", "epoch_s", "epoch_ms"], "rfc3339");
  return at === undefined ? undefined : { at, unit };
}

function readPoll(reader: ObjectReader, scope: TemplateScope, context: CompileContext): PollSpec | undefined {
  const { violations } = context;
  const poll = ObjectReader.open(reader.get("poll"), reader.pathOf("poll"), violations, {
    known: ["request", "items", "since", "lookback_s", "key", "every_s", "paginate"],
    example: '{"request": {"method": "GET", "path": "/items"}, "items": "/items", "key": ["/id"]}',
    what: "a poll",
  });
  if (poll === undefined) return undefined;
  const request = parseRequest(
    poll.required("request", '{"method": "GET", "path": "/items"}'),
    poll.pathOf("request"),
    scope,
    context,
  );
  const items = poll.text("items", formats.pointer);
  if (!poll.has("key"))
    poll.refuse("key", "required", 'is required: pointers that identify an item, for example ["/id", "/updated_at"]');
  const key = poll.textList("key", formats.pointer, { min: 1, max: 10 }, '["/id", "/updated_at"]') ?? [];
  const lookbackS = poll.integer("lookback_s", { min: 0, max: 30 * 86_400 }, 600) ?? 600;
  const everyS = poll.integer("every_s", { min: 10, max: 86_400 }, 60) ?? 60;
  const paginate = pagination.read(poll, context);
  const since = readSince(poll);
  return request && items !== undefined ? { request, items, since, lookbackS, key, everyS, paginate } : undefined;
}

function readSince(poll: ObjectReader): PollSpec["since"] {
  if (!poll.has("since")) return undefined;
  const since = ObjectReader.open(poll.get("since"), poll.pathOf("since"), poll.violations, {
    known: ["param", "in", "format"],
    example: '{"param": "since", "format": "rfc3339"}',
    what: "a start time",
  });
  const param = since?.text("param", formats.param);
  if (since === undefined || param === undefined) return undefined;
  return {
    param,
    in: since.choice("in", ["query", "body"], "query"),
    format: since.choice("format", ["rfc3339", "epoch_s", "epoch_ms"], "rfc3339"),
  };
}
