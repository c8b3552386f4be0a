import { isJsonObject, type Json, memberPath, ObjectReader } from "../../../../../../platform/document/index.ts";
import type { AccountProbe, ApplySpec } from "../../auth-spec.ts";
import type { TextTemplate } from "../../template.ts";
import { type CompileContext, providerScope, type TemplateScope } from "../compile-context.ts";
import { formats, limits } from "../limits.ts";
import { accountMembers } from "../manifest-schema.ts";
import { readRequest } from "../parse-request.ts";
import { parseText } from "../parse-template.ts";
import { parseUrl } from "../parse-url.ts";
import { optionalPointer } from "../response.ts";

/** How an access token is sent, unless the manifest says otherwise. */
export const bearer = { headers: { authorization: "Bearer {credentials.access_token}" } };

/** Reads how credentials are added to requests. */
export function parseApply(
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

/** Reads names and templates of texts. */
export function readPairs(
  reader: ObjectReader,
  member: string,
  scope: TemplateScope,
  { violations }: CompileContext,
): Pairs {
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

/** Reads names and the places in a response where their values are. */
export function readPointers(reader: ObjectReader, member: string): ReadonlyMap<string, string> {
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

/** Reads the request that identifies the account of a connection. */
export function parseAccount(reader: ObjectReader, context: CompileContext): AccountProbe | undefined {
  if (!reader.has("account")) return undefined;
  const account = ObjectReader.open(reader.get("account"), reader.pathOf("account"), context.violations, {
    known: accountMembers,
    example: '{"method": "GET", "path": "/me", "id": "/id", "label": "/name"}',
    what: "an account probe",
  });
  if (account === undefined) return undefined;
  const request = readRequest(account, providerScope(context), context);
  const given = account.get("id");
  const isTemplate = typeof given === "string" && given.startsWith("{");
  const id = isTemplate
    ? parseText(given, account.pathOf("id"), providerScope(context), context.violations)
    : account.text("id", formats.pointer);
  const [items, label] = [optionalPointer(account, "items"), optionalPointer(account, "label")];
  const captured = readPointers(account, "captured");
  return request && id !== undefined ? { request, items, id, label, captured } : undefined;
}
