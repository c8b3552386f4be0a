import { isJsonObject, type Json, memberPath, ObjectReader } from "../../../../../platform/document/index.ts";
import { type BodySpec, type HttpMethod, httpMethods, type RequestSpec } from "../request-spec.ts";
import type { Placeholder, TextTemplate, ValueTemplate } from "../template.ts";
import type { CompileContext, TemplateScope } from "./compile-context.ts";
import { forbiddenHeaders, formats, limits } from "./limits.ts";
import { requestMembers } from "./manifest-schema.ts";
import { isAlwaysPresent, parseText, parseValue } from "./parse-template.ts";
import { parseUrl } from "./parse-url.ts";

const bodyKinds = ["json", "form", "text", "base64", "graphql"] as const;

const example = '{"method": "GET", "path": "/items/{input.id}"}';

export function parseRequest(
  value: Json | undefined,
  path: string,
  scope: TemplateScope,
  context: CompileContext,
): RequestSpec | undefined {
  const reader = ObjectReader.open(value, path, context.violations, {
    known: requestMembers,
    example,
    what: "a request",
  });
  return reader && readRequest(reader, scope, context);
}

/** Reads the members of a request from an object that can have others. */
export function readRequest(
  reader: ObjectReader,
  scope: TemplateScope,
  context: CompileContext,
): RequestSpec | undefined {
  const method = readMethod(reader, scope, context);
  const url = reader.has("url") ? parseUrl(reader.get("url"), reader.pathOf("url"), scope, context) : undefined;
  if (url !== undefined && reader.has("path")) reader.refuse("url", "exclusive", "cannot be combined with path");
  const query = reader.get("query");
  const headers = reader.get("headers");
  const body = readBody(reader, scope, context);
  if (method === undefined) return undefined;
  if (body !== undefined && (method === "GET" || method === "HEAD")) {
    reader.refuse(body.kind, "body", `cannot be sent with ${method}: use query`);
  }
  return {
    method,
    path: readPath(reader, scope, context),
    url,
    query: query === undefined ? undefined : readMembers(query, reader.pathOf("query"), scope, context),
    headers: headers === undefined ? undefined : readHeaders(headers, reader.pathOf("headers"), scope, context),
    body,
  };
}

function readMethod(
  reader: ObjectReader,
  scope: TemplateScope,
  { violations }: CompileContext,
): HttpMethod | Placeholder | undefined {
  const method = reader.get("method");
  if (httpMethods.includes(method as HttpMethod)) return method as HttpMethod;
  const known = `must be one of ${httpMethods.join(", ")}, or an input with such an enum`;
  if (typeof method !== "string" || !method.startsWith("{input.")) return reader.refuse("method", "choice", known);
  const template = parseText(method, reader.pathOf("method"), scope, violations);
  const [placeholder, ...others] = template?.parts ?? [];
  if (placeholder === undefined || typeof placeholder === "string" || others.length > 0) {
    return template && reader.refuse("method", "choice", known);
  }
  const properties = scope.input?.properties;
  const schema = isJsonObject(properties) ? properties[placeholder.path[0] ?? ""] : undefined;
  const choices = isJsonObject(schema) && Array.isArray(schema.enum) ? (schema.enum as readonly Json[]) : [];
  const isValid = choices.length > 0 && choices.every((each) => httpMethods.includes(each as HttpMethod));
  if (!isValid || !isAlwaysPresent(placeholder, scope.input)) {
    return reader.refuse("method", "choice", `${known} that is required or has a default`);
  }
  return placeholder;
}

function readPath(
  reader: ObjectReader,
  scope: TemplateScope,
  { violations }: CompileContext,
): TextTemplate | undefined {
  if (!reader.has("path")) return undefined;
  const path = reader.pathOf("path");
  const template = parseText(reader.get("path"), path, scope, violations);
  if (template === undefined) return undefined;
  if (!template.source.startsWith("/"))
    return reader.refuse("path", "path", 'must start with a slash, for example "/items"');
  if (/[?#\s\\]/.test(template.parts.filter((part) => typeof part === "string").join(""))) {
    return reader.refuse("path", "path", "must not contain spaces, ?, # and backslashes: use query for parameters");
  }
  const optional = template.parts.find((part) => typeof part !== "string" && !isAlwaysPresent(part, scope.input));
  if (optional !== undefined) {
    const name = ["input", ...(optional as Placeholder).path].join(".");
    return reader.refuse("path", "required", `uses {${name}}, which must be a required property of the input`);
  }
  return template;
}

/** Reads query parameters or other members: an object, or exactly one placeholder for an object. */
function readMembers(
  value: Json,
  path: string,
  scope: TemplateScope,
  { violations }: CompileContext,
): ValueTemplate | undefined {
  const template = parseValue(value, path, scope, violations);
  if (template === undefined || template.kind === "object" || template.kind === "placeholder") return template;
  return violations.add(path, "type", 'must be an object, for example {"limit": 10}, or one placeholder for an object');
}

/** Reads headers: an object of texts, or exactly one placeholder for such an object. */
export function readHeaders(
  value: Json,
  path: string,
  scope: TemplateScope,
  context: Pick<CompileContext, "violations">,
): ValueTemplate | undefined {
  const { violations } = context;
  const template = readMembers(value, path, scope, context as CompileContext);
  if (template?.kind !== "object") return template;
  for (const [name, member] of template.members) {
    const place = memberPath(path, name);
    if (!formats.header.pattern.test(name) || name.length > formats.header.lengthMax) {
      violations.add(place, "pattern", formats.header.description);
    } else if (forbiddenHeaders.test(name)) {
      violations.add(place, "header", "is set by the service: remove it");
    } else if (member.kind === "list" || member.kind === "object") {
      violations.add(place, "type", 'must be a text, for example "application/json"');
    }
  }
  return template;
}

function readBody(reader: ObjectReader, scope: TemplateScope, { violations }: CompileContext): BodySpec | undefined {
  const [kind, ...others] = bodyKinds.filter((each) => reader.has(each));
  for (const other of others) reader.refuse(other, "exclusive", `cannot be combined with ${kind}`);
  if (kind === undefined) return undefined;
  const path = reader.pathOf(kind);
  if (kind === "graphql") return readGraphql(reader.get(kind), path, scope, violations);
  const value = parseValue(reader.get(kind)!, path, scope, violations);
  if (value === undefined) return undefined;
  if (kind === "form" && value.kind !== "object" && value.kind !== "placeholder") {
    return violations.add(path, "type", 'must be an object, for example {"amount": "{input.amount}"}');
  }
  if ((kind === "text" || kind === "base64") && (value.kind === "object" || value.kind === "list")) {
    return violations.add(path, "type", 'must be a text, for example "{input.content}"');
  }
  return { kind, value };
}

function readGraphql(
  value: Json | undefined,
  path: string,
  scope: TemplateScope,
  violations: CompileContext["violations"],
): BodySpec | undefined {
  const reader = ObjectReader.open(value, path, violations, {
    known: ["query", "variables", "operation_name"],
    example: '{"query": "query { viewer { id } }"}',
    what: "a GraphQL request",
  });
  if (reader === undefined) return undefined;
  const query = reader.required("query", '"query { viewer { id } }"');
  if (query === undefined) return undefined;
  if (typeof query !== "string" || query === "" || query.length > limits.graphqlLength) {
    return reader.refuse("query", "text", `must be a text of 1 to ${limits.graphqlLength} characters`);
  }
  // Braces belong to GraphQL, so that only a query that is one placeholder is a template.
  const isPlaceholder = /^\{input\.[A-Za-z0-9_.-]+\}$/.test(query);
  const compiled: ValueTemplate | undefined = isPlaceholder
    ? parseValue(query, reader.pathOf("query"), scope, violations)
    : { kind: "constant", value: query };
  const variables = reader.get("variables");
  return (
    compiled && {
      kind: "graphql",
      query: compiled,
      variables:
        variables === undefined ? undefined : parseValue(variables, reader.pathOf("variables"), scope, violations),
      operationName: reader.has("operation_name") ? reader.prose("operation_name", 200) : undefined,
    }
  );
}
