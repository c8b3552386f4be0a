import { createHash } from "node:crypto";
import { canonicalJson } from "../../../../../platform/crypto/index.ts";
import {
  checkDocumentSize,
  type DocumentViolation,
  isJsonObject,
  type Json,
  type JsonObject,
  memberPath,
  ObjectReader,
  Violations,
} from "../../../../../platform/document/index.ts";
import { requiredObject } from "../../../../../platform/json-schema/index.ts";
import type { AuthMode, AuthSpec } from "../auth-spec.ts";
import { createHostList, hostSettingOf } from "../host-list.ts";
import { type Category, categories, type Provider } from "../provider.ts";
import { availableScopes, capturedNames, parseAuth } from "./auth/parse-auth.ts";
import { type CompileContext, providerScope } from "./compile-context.ts";
import { documentLimits, formats, limits } from "./limits.ts";
import { manifestMembers } from "./manifest-schema.ts";
import { parseMessages } from "./messages/parse-messages.ts";
import { parseAction } from "./parse-action.ts";
import { parseFields } from "./parse-fields.ts";
import { readHeaders } from "./parse-request.ts";
import { SchemaResolver } from "./parse-schema.ts";
import { suggest } from "./parse-template.ts";
import { parseTrigger } from "./parse-trigger.ts";
import { parseUrl } from "./parse-url.ts";
import { hint, parseErrors } from "./response.ts";

/** A compiled manifest, or what is wrong with it. */
export type CompiledManifest =
  | { readonly provider: Provider; readonly violations: readonly [] }
  | { readonly provider: undefined; readonly violations: readonly DocumentViolation[] };

const example =
  '{"manifest": 1, "key": "github", "version": "1.0.0", "name": "GitHub", "hosts": ["api.github.com"], …}';

/**
 * Compiles a manifest. It accepts any value, never throws, and takes time in proportion to the size of the document, which is
 * limited. A digest that is already known saves computing it.
 */
export function compileManifest(document: unknown, digest?: string): CompiledManifest {
  const work = compileInSteps(document, digest);
  for (let result = work.next(); ; result = work.next()) if (result.done === true) return result.value;
}

/** Compiles a manifest in steps of some milliseconds at most, because a hostile one takes a second. */
export function* compileInSteps(document: unknown, digest?: string): Generator<void, CompiledManifest> {
  const violations = new Violations();
  const isBounded = checkDocumentSize(document, violations, documentLimits);
  const provider = isBounded ? yield* readManifest(document as Json, violations, digest) : undefined;
  return provider === undefined || violations.list.length > 0
    ? { provider: undefined, violations: violations.list }
    : { provider, violations: [] };
}

function* readManifest(
  document: Json,
  violations: Violations,
  digest: string | undefined,
): Generator<void, Provider | undefined> {
  const reader = ObjectReader.open(document, "", violations, { known: manifestMembers, example, what: "a manifest" });
  if (reader === undefined) return undefined;
  if (reader.get("manifest") !== 1)
    reader.refuse("manifest", "choice", "must be the number 1, the version of the language");
  const key = reader.text("key", formats.key);
  const settings = yield* parseFields(reader.get("settings"), "settings", violations, { secret: false });
  for (const { name, secret } of settings) {
    if (secret) violations.add(`settings.${name}.secret`, "secret", "must be false: put secret values into auth");
  }
  const hosts = createHostList(readHosts(reader, new Set(settings.map(({ name }) => name))));
  const actions = readObject(reader, "actions", limits.actions);
  const schemas = readObject(reader, "schemas", limits.schemas);
  const names = new Set(settings.map(({ name }) => name));
  const captured = capturedNames(reader.get("auth"));
  const context: CompileContext = {
    violations,
    key: key ?? "",
    hosts,
    settings: names,
    captured,
    scopes: availableScopes(reader.get("auth")),
    actionNames: new Set(Object.keys(actions)),
    schemas: new SchemaResolver(schemas, violations),
    scope: providerScope({ settings: names, captured }),
  };
  yield* context.schemas.checkAll();
  const errors = yield* parseErrors(reader.get("errors"), "errors", context);
  const baseUrl = parseUrl(
    reader.required("base_url", '"https://api.example.com"'),
    "base_url",
    providerScope(context),
    context,
  );
  if (baseUrl !== undefined && /[?]/.test(baseUrl.source)) reader.refuse("base_url", "url", "must not have a query");
  const auth = yield* parseAuth(reader.get("auth"), context);
  const headers = reader.get("headers");
  const compiledActions = yield* compileEach(actions, "actions", violations, (name, value) =>
    parseAction(name, value, context, errors),
  );
  const triggers = yield* compileEach(
    readObject(reader, "triggers", limits.triggers),
    "triggers",
    violations,
    (name, value) => parseTrigger(name, value, context, errors),
  );
  const messages = yield* parseMessages(reader.get("notifications"), context, compiledActions, auth);
  if (compiledActions.size === 0 && triggers.size === 0) {
    violations.add("actions", "required", "must have at least one action or trigger");
  }
  const version = reader.text("version", formats.version);
  const name = reader.text("name", formats.name);
  const category = readCategory(reader);
  const docsUrl = reader.text("docs_url", formats.url, "") ?? "";
  const modes = orderModes(reader, auth);
  const rateLimit = readRateLimit(reader, context);
  const compiledHeaders =
    headers === undefined ? undefined : readHeaders(headers, "headers", providerScope(context), context);
  const description = reader.prose("description", limits.descriptionLength);
  const httpVersion = reader.choice("http_version", ["1.1", "2"], "1.1");
  if (
    key === undefined ||
    version === undefined ||
    name === undefined ||
    baseUrl === undefined ||
    violations.list.length > 0
  ) {
    return undefined;
  }
  const byMode = new Map(auth.map((each) => [each.mode, each]));
  return {
    key,
    version,
    digest: digest ?? digestOf(document as JsonObject),
    name,
    category,
    description,
    docsUrl,
    hosts,
    baseUrl,
    httpVersion,
    settings,
    authModes: modes,
    auth: (mode) => byMode.get(mode),
    headers: compiledHeaders,
    errors,
    rateLimit,
    actions: compiledActions,
    triggers,
    messages,
    document: document as JsonObject,
  };
}

/** SHA-256, in hex, of a canonical manifest. */
function digestOf(document: JsonObject): string {
  return createHash("sha256").update(canonicalJson(document)).digest("hex");
}

function readCategory(reader: ObjectReader): Category {
  const value = reader.required("category", '"developer_tools"');
  if (value !== undefined && !categories.includes(value as Category)) {
    reader.refuse("category", "choice", suggest(String(value), categories, "categories"));
  }
  return value as Category;
}

/** Modes are offered in a fixed order, because the order of members is lost in canonical JSON. */
function orderModes(reader: ObjectReader, auth: readonly AuthSpec[]): readonly AuthMode[] {
  const modes = auth.map(({ mode }) => mode);
  const first = reader.get("default_auth");
  if (first === undefined) return modes;
  if (!modes.includes(first as AuthMode)) {
    reader.refuse("default_auth", "choice", suggest(String(first), modes, "modes of this manifest"));
    return modes;
  }
  return [first as AuthMode, ...modes.filter((mode) => mode !== first)];
}

function readHosts(reader: ObjectReader, settings: ReadonlySet<string>): readonly string[] {
  if (!reader.has("hosts")) {
    reader.refuse(
      "hosts",
      "required",
      'is required: the hosts that requests may reach, for example ["api.github.com"]',
    );
    return [];
  }
  const hosts = reader.textList("hosts", formats.host, { min: 1, max: limits.hosts }, '["api.github.com"]') ?? [];
  for (const [at, host] of hosts.entries()) {
    const problem = hostProblem(host, settings);
    if (problem !== undefined) reader.violations.add(`hosts[${at}]`, "host", problem);
  }
  return hosts;
}

function hostProblem(host: string, settings: ReadonlySet<string>): string | undefined {
  const setting = hostSettingOf(host);
  if (setting !== undefined) {
    return settings.has(setting) ? undefined : suggest(setting, [...settings], "settings");
  }
  const labels = host.replace(/:\d+$/, "").split(".");
  if (labels.some((label) => label === "" || (label.includes("*") && label !== "*"))) {
    return "must have a wildcard only as a whole label, for example *.zendesk.com";
  }
  const wildcards = labels.filter((label) => label === "*").length;
  if (wildcards > 1) return "must have at most one wildcard label";
  if (wildcards === 1 && labels.slice(labels.indexOf("*") + 1).length < 2) {
    return "must have at least two labels after the wildcard, for example *.zendesk.com";
  }
  return undefined;
}

function readRateLimit(reader: ObjectReader, context: CompileContext): Provider["rateLimit"] {
  if (!reader.has("rate_limit")) return undefined;
  const limit = ObjectReader.open(reader.get("rate_limit"), "rate_limit", reader.violations, {
    known: ["remaining", "until"],
    example: '{"remaining": "x-ratelimit-remaining", "until": {"header": "x-ratelimit-reset", "unit": "epoch_s"}}',
    what: "a rate limit",
  });
  const remaining = limit?.text("remaining", formats.header);
  const until =
    limit && requiredObject("until", hint, '{"header": "x-ratelimit-reset", "unit": "epoch_s"}').read(limit, context);
  return remaining === undefined || until === undefined ? undefined : { remaining: remaining.toLowerCase(), until };
}

function readObject(reader: ObjectReader, name: string, max: number): JsonObject {
  const value = reader.get(name);
  if (value === undefined) return {};
  if (isJsonObject(value) && Object.keys(value).length <= max) return value;
  reader.refuse(name, "type", `must be an object with at most ${max} members`);
  return {};
}

/** Compiles the members of an object, sorted by name, at least one step each. */
function* compileEach<T>(
  members: JsonObject,
  path: string,
  violations: Violations,
  compile: (name: string, value: Json) => Generator<void, T | undefined>,
): Generator<void, ReadonlyMap<string, T>> {
  const compiled = new Map<string, T>();
  for (const name of Object.keys(members).sort()) {
    if (violations.isFull) break;
    if (!formats.operation.pattern.test(name) || name.length > formats.operation.lengthMax) {
      violations.add(memberPath(path, name), "pattern", formats.operation.description);
      continue;
    }
    const value = yield* compile(name, members[name]!);
    if (value !== undefined) compiled.set(name, value);
    yield;
  }
  return compiled;
}
