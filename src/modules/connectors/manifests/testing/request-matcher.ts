import { isJsonObject, type Json } from "../../../../platform/document/index.ts";
import { segmentsOf } from "../domain/json-pointer.ts";
import type { Action, KeyPlace } from "../domain/language/action.ts";
import type { ApplySpec } from "../domain/language/auth/auth-members.ts";
import type { Provider } from "../domain/provider.ts";
import type { RequestSpec } from "../domain/request-spec.ts";
import type { PaginationSpec } from "../domain/response-spec.ts";
import type { TextTemplate, ValueTemplate } from "../domain/template.ts";

/** A request as the mock received it. */
export interface ReceivedRequest {
  readonly method: string;
  /** The host that the caller meant. */
  readonly host: string;
  readonly path: string;
  readonly query: readonly (readonly [name: string, value: string])[];
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: Buffer;
}

/** Something that a manifest declares as a request. */
export interface DeclaredRequest {
  readonly name: string;
  readonly request: RequestSpec;
  readonly action?: Action | undefined;
  readonly mutationKey?: KeyPlace | undefined;
  readonly paginate?: PaginationSpec | undefined;
}

/** Says how a request differs from a declared one; undefined if it matches. */
export function differenceOf(
  provider: Provider,
  declared: DeclaredRequest,
  received: ReceivedRequest,
): string | undefined {
  const { request } = declared;
  if (typeof request.method === "string" && request.method !== received.method) return `method ${received.method}`;
  if (!pathPattern(provider, declared).test(received.path)) return `path ${received.path}`;
  return (
    differenceOfQuery(provider, declared, received) ??
    differenceOfHeaders(provider, request, received) ??
    differenceOfBody(declared, received)
  );
}

/** How many characters and values of a request are fixed: of several declared requests that match, the most specific is meant. */
export function specificityOf({ request }: DeclaredRequest): number {
  const fixed = (template: TextTemplate | undefined) =>
    template?.parts.reduce((sum, part) => sum + (typeof part === "string" ? part.length : 0), 0) ?? 0;
  return fixed(request.path) + fixed(request.url) + constantsOf(request.query) + bodyConstants(request);
}

function bodyConstants({ body }: RequestSpec): number {
  if (body === undefined) return 0;
  return body.kind === "graphql" ? constantsOf(body.query) : constantsOf(body.value);
}

function constantsOf(template: ValueTemplate | undefined): number {
  switch (template?.kind) {
    case "constant":
      return 10;
    case "object":
      return template.members.reduce((sum, [, each]) => sum + 1 + constantsOf(each), 0);
    case "list":
      return template.elements.reduce((sum, each) => sum + constantsOf(each), 0);
    default:
      return 0;
  }
}

function pathPattern(provider: Provider, { request }: DeclaredRequest): RegExp {
  if (request.url !== undefined) return new RegExp(`^${pathSource(request.url)}$`);
  const bases = [provider.baseUrl, ...applySpecs(provider).flatMap(({ baseUrl }) => baseUrl ?? [])];
  const path = request.path === undefined ? "" : textSource(request.path);
  return new RegExp(`^(${bases.map((base) => pathSource(base).replace(/\/$/, "") + path).join("|")})/?$`);
}

/** The path of a URL template as a pattern. */
function pathSource(template: TextTemplate): string {
  const [first] = template.parts;
  if (typeof first !== "string") return `.*${textSource({ ...template, parts: template.parts.slice(1) })}`;
  let afterHost = false;
  let source = "";
  let scanned = "";
  for (const part of template.parts) {
    if (typeof part !== "string") {
      if (afterHost) source += partSource(part.filter);
      continue;
    }
    scanned += part;
    if (afterHost) {
      source += escapePattern(part);
      continue;
    }
    const start = scanned.indexOf("://") + 3;
    const slash = part.indexOf("/", scanned === part ? start : 0);
    if (slash < 0) continue;
    afterHost = true;
    source += escapePattern(part.slice(slash));
  }
  return source.split("\\?")[0]!;
}

function textSource({ parts }: TextTemplate): string {
  return parts.map((part) => (typeof part === "string" ? escapePattern(part) : partSource(part.filter))).join("");
}

function partSource(filter: string | undefined): string {
  return filter === "path" ? ".+" : "[^/]+";
}

function escapePattern(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&");
}

function applySpecs(provider: Provider): ApplySpec[] {
  return provider.authModes.flatMap((mode) => {
    const auth = provider.auth(mode)!;
    return "apply" in auth ? [auth.apply] : [];
  });
}

function differenceOfQuery(
  provider: Provider,
  { request, paginate, mutationKey }: DeclaredRequest,
  { query }: ReceivedRequest,
): string | undefined {
  if (request.query?.kind === "placeholder" || paginate?.kind === "link" || paginate?.kind === "url") return undefined;
  const declared = new Set(request.query?.kind === "object" ? request.query.members.map(([name]) => name) : []);
  for (const { query: own } of applySpecs(provider)) for (const [name] of own) declared.add(name);
  if (paginate?.in === "query") {
    if (paginate.param !== undefined) declared.add(paginate.param);
    if (paginate.size !== undefined) declared.add(paginate.size.param);
  }
  if (mutationKey?.in === "query") declared.add(mutationKey.name);
  const own = new URLSearchParams(request.url?.source.split("?")[1] ?? "");
  for (const [name] of query) {
    if (!declared.has(name) && !own.has(name) && !declared.has(name.split("[")[0]!)) return `query parameter ${name}`;
  }
  for (const [name, template] of request.query?.kind === "object" ? request.query.members : []) {
    if (template.kind !== "constant" || template.value === null) continue;
    if (!query.some(([each, value]) => each === name && value === String(template.value)))
      return `query parameter ${name}`;
  }
  return undefined;
}

function differenceOfHeaders(
  provider: Provider,
  request: RequestSpec,
  { headers }: ReceivedRequest,
): string | undefined {
  const expected = new Map<string, string>();
  for (const template of [provider.headers, request.headers]) {
    if (template?.kind !== "object") continue;
    for (const [name, value] of template.members) {
      if (value.kind === "constant" && value.value !== null) expected.set(name.toLowerCase(), String(value.value));
    }
  }
  for (const [name, value] of expected) if (headers[name] !== value) return `header ${name}`;
  return undefined;
}

function differenceOfBody(
  { request, mutationKey, paginate }: DeclaredRequest,
  received: ReceivedRequest,
): string | undefined {
  const { body } = request;
  const text = received.body.toString("utf8");
  const type = received.headers["content-type"] ?? "";
  const isPaged = paginate?.in === "body";
  if (body === undefined) return text === "" || mutationKey?.in === "body" || isPaged ? undefined : "a body";
  if (body.kind === "text" || body.kind === "base64") return undefined;
  if (body.kind === "form") {
    const names = new Set([...new URLSearchParams(text).keys()].map((name) => name.split("[")[0]!));
    if (body.value.kind !== "object") return undefined;
    const declared = new Set(body.value.members.map(([name]) => name.split("[")[0]!));
    if (mutationKey?.in === "body") declared.add(segmentsOf(mutationKey.pointer)[0]!);
    const prefixes = [...declared].flatMap((name) => (name.endsWith("*") ? [name.slice(0, -1)] : []));
    const isDeclared = (name: string) => declared.has(name) || prefixes.some((prefix) => name.startsWith(prefix));
    const unknown = [...names].find((name) => !isDeclared(name));
    return unknown === undefined ? undefined : `form member ${unknown}`;
  }
  if (text === "") return undefined;
  if (!type.includes("json")) return `content type ${type}`;
  let json: Json;
  try {
    json = JSON.parse(text) as Json;
  } catch {
    return "a body that is not JSON";
  }
  if (body.kind === "graphql") {
    if (!isJsonObject(json) || typeof json.query !== "string") return "a body without a query";
    return body.query.kind === "constant" && body.query.value !== json.query ? "another query" : undefined;
  }
  const extra = new Set<string>();
  if (mutationKey?.in === "body") extra.add(segmentsOf(mutationKey.pointer)[0]!);
  if (isPaged)
    for (const each of [paginate.param, paginate.size?.param])
      if (each !== undefined) extra.add(each.replace(/^\//, "").split("/")[0]!);
  return differenceOfValue(body.value, json, "body", extra);
}

function differenceOfValue(
  template: ValueTemplate,
  value: Json,
  place: string,
  extra: ReadonlySet<string> = new Set(),
): string | undefined {
  switch (template.kind) {
    case "constant":
      return template.value === value ? undefined : place;
    case "object": {
      if (!isJsonObject(value)) return place;
      const declared = new Map(template.members);
      for (const [name, member] of Object.entries(value)) {
        const own = declared.get(name);
        if (own === undefined) {
          if (!extra.has(name)) return `${place}.${name}`;
          continue;
        }
        const difference = differenceOfValue(own, member, `${place}.${name}`);
        if (difference !== undefined) return difference;
      }
      return undefined;
    }
    case "list":
      return Array.isArray(value) ? undefined : place;
    default:
      return undefined;
  }
}
