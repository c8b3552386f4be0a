import {
  isJsonObject,
  type Json,
  type JsonObject,
  memberPath,
  type ObjectReader,
} from "../../../../../platform/document/index.ts";
import {
  type Member,
  optional,
  prose,
  type ValueOf,
  type ValuesOf,
} from "../../../../../platform/json-schema/index.ts";
import type { Placeholder, TextTemplate, ValueTemplate } from "../template.ts";
import type { CompileContext } from "./compile-context.ts";
import { forbiddenHeaders, formats, limits } from "./limits.ts";
import { define, raw, template, url, valueTemplate } from "./members.ts";
import { isAlwaysPresent, parseText, parseValue, toText } from "./parse-template.ts";

export const httpMethods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"] as const;
export type HttpMethod = (typeof httpMethods)[number];

const methods = `must be one of ${httpMethods.join(", ")}, or an input with such an enum`;

const method: Member<HttpMethod | Placeholder, CompileContext> = {
  name: "method",
  schema: { oneOf: [{ enum: httpMethods }, { type: "string", pattern: "^\\{input\\." }] },
  isRequired: true,
  // POST stands for a method that is reported as invalid: no rule about methods refuses it.
  read: (reader, context) => readMethod(reader, context) ?? "POST",
};

function readMethod(reader: ObjectReader, { scope, violations }: CompileContext): HttpMethod | Placeholder | undefined {
  const method = reader.get("method");
  if (httpMethods.includes(method as HttpMethod)) return method as HttpMethod;
  if (typeof method !== "string" || !method.startsWith("{input.")) return reader.refuse("method", "choice", methods);
  const template = parseText(method, reader.pathOf("method"), scope, violations);
  const [placeholder, ...others] = template?.parts ?? [];
  if (placeholder === undefined || typeof placeholder === "string" || others.length > 0) {
    return template && reader.refuse("method", "choice", methods);
  }
  const properties = scope.input?.properties;
  const schema = isJsonObject(properties) ? properties[placeholder.path[0] ?? ""] : undefined;
  const choices = isJsonObject(schema) && Array.isArray(schema.enum) ? (schema.enum as readonly Json[]) : [];
  const isValid = choices.length > 0 && choices.every((each) => httpMethods.includes(each as HttpMethod));
  if (!isValid || !isAlwaysPresent(placeholder, scope.input)) {
    return reader.refuse("method", "choice", `${methods} that is required or has a default`);
  }
  return placeholder;
}

const path: Member<TextTemplate, CompileContext> = {
  ...{ name: "path", schema: { type: "string", pattern: "^/" }, isRequired: true },
  read(reader, context) {
    const read = template("path").read(reader, context);
    const { parts, source } = read;
    if (parts.length === 0) return read;
    const optional = parts.find((part) => typeof part !== "string" && !isAlwaysPresent(part, context.scope.input));
    if (!source.startsWith("/")) {
      reader.refuse("path", "path", 'must start with a slash, for example "/items"');
    } else if (/[?#\s\\]/.test(parts.filter((part) => typeof part === "string").join(""))) {
      reader.refuse("path", "path", "must not contain spaces, ?, # and backslashes: use query for parameters");
    } else if (optional !== undefined) {
      const name = ["input", ...(optional as Placeholder).path].join(".");
      reader.refuse("path", "required", `uses {${name}}, which must be a required property of the input`);
    }
    return read;
  },
};

/** An object, or exactly one placeholder for an object; undefined if it is missing. */
function objectTemplate(
  name: string,
  schema: JsonObject = { type: ["object", "string"] },
): Member<ValueTemplate | undefined, CompileContext> {
  const { read, ...member } = valueTemplate(name, schema);
  return {
    ...member,
    read(reader, context) {
      const value = read(reader, context);
      if (value === undefined || value.kind === "object" || value.kind === "placeholder") return value;
      const message = 'must be an object, for example {"limit": 10}, or one placeholder for an object';
      return reader.refuse(name, "type", message);
    },
  };
}

/** Headers: an object of texts, or exactly one placeholder for such an object. */
export function headers(schema?: JsonObject): Member<ValueTemplate | undefined, CompileContext> {
  const { read, ...member } = objectTemplate("headers", schema);
  return {
    ...member,
    read(reader, context) {
      const headers = read(reader, context);
      for (const [name, value] of headers?.kind === "object" ? headers.members : []) {
        const problem = headerProblem(name, value);
        if (problem !== undefined) context.violations.add(memberPath(reader.pathOf("headers"), name), ...problem);
      }
      return headers;
    },
  };
}

function headerProblem(name: string, { kind }: ValueTemplate): readonly [rule: string, message: string] | undefined {
  if (!formats.header.pattern.test(name) || name.length > formats.header.lengthMax)
    return ["pattern", formats.header.description];
  if (forbiddenHeaders.test(name)) return ["header", "is set by the service: remove it"];
  if (kind === "list" || kind === "object") return ["type", 'must be a text, for example "application/json"'];
  return undefined;
}

/** Literal, or exactly one placeholder. Braces in it have no meaning. */
const query: Member<ValueTemplate, CompileContext> = {
  name: "query",
  schema: { type: "string", minLength: 1, maxLength: limits.graphqlLength },
  isRequired: true,
  read(reader, context) {
    const query = reader.required("query", '"query { viewer { id } }"');
    if (query !== undefined && (typeof query !== "string" || query === "" || query.length > limits.graphqlLength)) {
      reader.refuse("query", "text", `must be a text of 1 to ${limits.graphqlLength} characters`);
    }
    const literal: ValueTemplate = { kind: "constant", value: toText(query) };
    // Braces belong to GraphQL, so that only a query that is one placeholder is a template.
    if (typeof query !== "string" || !/^\{input\.[A-Za-z0-9_.-]+\}$/.test(query)) return literal;
    return parseValue(query, reader.pathOf("query"), context.scope, context.violations) ?? literal;
  },
};

const graphql = define(
  "a GraphQL request",
  '{"query": "query { viewer { id } }"}',
  { query, variables: valueTemplate("variables", {}), operationName: optional(prose("operation_name", 200)) },
  (body) => ({ kind: "graphql" as const, ...body }),
);

const bodyKinds = ["json", "form", "text", "base64", "graphql"] as const;

export type BodySpec =
  | { readonly kind: "json" | "form" | "text" | "base64"; readonly value: ValueTemplate }
  | ValueOf<typeof graphql>;

/** The members of a request, for objects that have others too. */
export const requestMembers = {
  /** A placeholder for an input that is one of some methods. */
  method,
  /** Appended to the base URL; or an absolute URL that replaces it. */
  path: optional(path),
  url: optional(url("url")),
  query: objectTemplate("query"),
  headers: headers(),
  json: raw("json", {}),
  form: raw("form", { type: ["object", "string"] }),
  text: raw("text", template("text").schema),
  base64: raw("base64", template("base64").schema),
  graphql: raw("graphql", graphql.schema),
};

/** Reads the body of a request, and checks its members together. */
export function completeRequest(
  { method, path, url, query, headers }: ValuesOf<typeof requestMembers>,
  reader: ObjectReader,
  context: CompileContext,
) {
  if (url !== undefined && path !== undefined) reader.refuse("url", "exclusive", "cannot be combined with path");
  const body = readBody(reader, context);
  if (body !== undefined && (method === "GET" || method === "HEAD")) {
    reader.refuse(body.kind, "body", `cannot be sent with ${method}: use query`);
  }
  return { method, path, url, query, headers, body };
}

export const request = define(
  "a request",
  '{"method": "GET", "path": "/items/{input.id}"}',
  requestMembers,
  completeRequest,
);

/** An HTTP request as a manifest describes it. */
export type RequestSpec = ValueOf<typeof request>;

function readBody(reader: ObjectReader, context: CompileContext): BodySpec | undefined {
  const { scope, violations } = context;
  const [kind, ...others] = bodyKinds.filter((each) => reader.has(each));
  for (const other of others) reader.refuse(other, "exclusive", `cannot be combined with ${kind}`);
  if (kind === undefined) return undefined;
  const path = reader.pathOf(kind);
  if (kind === "graphql") return graphql.read(reader.get(kind), path, context);
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
