import { createHash } from "node:crypto";
import { canonicalJson } from "../../../../../platform/crypto/index.ts";
import {
  checkDocumentSize,
  type DocumentViolation,
  isJsonObject,
  type Json,
  type JsonObject,
  memberPath,
  type ObjectReader,
  Violations,
} from "../../../../../platform/document/index.ts";
import { createHostList } from "../host-list.ts";
import type { Provider } from "../provider.ts";
import { checkChoiceActions, parseAction } from "./action.ts";
import type { AuthMode, AuthSpec } from "./auth/modes.ts";
import { availableScopes, capturedNames, parseAuth } from "./auth/parse-auth.ts";
import { type CompileContext, providerScope } from "./compile-context.ts";
import { parseFields } from "./fields.ts";
import { documentLimits, formats, limits } from "./limits.ts";
import { manifest, readHosts } from "./manifest.ts";
import { parseMessages } from "./messages/messages.ts";
import { SchemaResolver } from "./parse-schema.ts";
import { suggest, toText } from "./parse-template.ts";
import { parseErrors } from "./response.ts";
import { parseTrigger } from "./trigger.ts";

/** A compiled manifest, or what is wrong with it. */
export type CompiledManifest =
  | { readonly provider: Provider; readonly violations: readonly [] }
  | { readonly provider: undefined; readonly violations: readonly DocumentViolation[] };

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
  const reader = manifest.open(document, "", { violations });
  if (reader === undefined) return undefined;
  const settings = yield* parseFields(reader.get("settings"), "settings", { violations }, { secret: false });
  for (const { name, secret } of settings) {
    if (secret) violations.add(`settings.${name}.secret`, "secret", "must be false: put secret values into auth");
  }
  const settingNames = new Set(settings.map(({ name }) => name));
  const hosts = createHostList(readHosts(reader, settingNames));
  const actions = readObject(reader, "actions", limits.actions);
  const names = { settings: settingNames, captured: capturedNames(reader.get("auth")) };
  const schemas = new SchemaResolver(readObject(reader, "schemas", limits.schemas), violations);
  const context: CompileContext = {
    ...names,
    violations,
    key: toText(reader.get("key")),
    hosts,
    scopes: availableScopes(reader.get("auth")),
    actionNames: new Set(Object.keys(actions)),
    schemas,
    scope: providerScope(names),
  };
  yield* schemas.checkAll();
  const errors = yield* parseErrors(reader.get("errors"), "errors", context);
  const values = manifest.readMembers(reader, context);
  const auth = yield* parseAuth(reader.get("auth"), context);
  const compiledActions = yield* compileEach(actions, "actions", violations, (name, value) =>
    parseAction(name, value, context, errors),
  );
  checkChoiceActions(compiledActions, violations);
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
  const authModes = orderModes(reader, auth);
  if (violations.list.length > 0) return undefined;
  const byMode = new Map(auth.map((each) => [each.mode, each]));
  return {
    ...values,
    digest: digest ?? digestOf(document as JsonObject),
    hosts,
    settings,
    authModes,
    auth: (mode) => byMode.get(mode),
    errors,
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

/** Modes are offered in a fixed order, because the order of members is lost in canonical JSON. */
function orderModes(reader: ObjectReader, auth: readonly AuthSpec[]): readonly AuthMode[] {
  const modes = auth.map(({ mode }) => mode);
  const first = reader.get("default_auth");
  if (first === undefined) return modes;
  if (!modes.includes(first as AuthMode)) {
    reader.refuse("default_auth", "choice", suggest(first, modes, "modes of this manifest"));
    return modes;
  }
  return [first as AuthMode, ...modes.filter((mode) => mode !== first)];
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
