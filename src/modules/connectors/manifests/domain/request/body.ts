import { isJsonObject, type Json } from "../../../../../platform/document/index.ts";
import { encodePart } from "../../../../../platform/text/index.ts";
import type { BodySpec } from "../request-spec.ts";
import { RenderError, RepeatedValue, type RequestValues, renderValue } from "./values.ts";

/** The content of a body before it is serialised, so that keys and cursors can be added to it. */
export type BodyContent =
  | { readonly kind: "json" | "form"; readonly value: Json | undefined }
  | { readonly kind: "bytes"; readonly bytes: Buffer; readonly type: string };

/** Fills in a body. */
export function renderBody(body: BodySpec, values: RequestValues): BodyContent {
  switch (body.kind) {
    case "json":
    case "form":
      return { kind: body.kind, value: renderValue(body.value, values) as Json | undefined };
    case "graphql": {
      const query = renderValue(body.query, values) as Json;
      const variables = body.variables && (renderValue(body.variables, values) as Json | undefined);
      const { operationName } = body;
      return {
        kind: "json",
        value: {
          query,
          ...(variables !== undefined && { variables }),
          ...(operationName !== undefined && { operationName }),
        },
      };
    }
    case "text":
      return { kind: "bytes", bytes: Buffer.from(textOf(body, values)), type: "text/plain; charset=utf-8" };
    case "base64": {
      const text = textOf(body, values);
      if (!/^[A-Za-z0-9+/_-]*={0,2}$/.test(text)) throw new RenderError("invalid_value", "base64", "must be base64");
      return { kind: "bytes", bytes: Buffer.from(text, "base64"), type: "application/octet-stream" };
    }
  }
}

function textOf(body: Extract<BodySpec, { kind: "text" | "base64" | "json" | "form" }>, values: RequestValues): string {
  const value = renderValue(body.value, values);
  if (value === undefined || value === null) return "";
  if (typeof value === "string") return value;
  if (value instanceof RepeatedValue || typeof value === "object") {
    throw new RenderError("invalid_value", body.kind, "must be a text");
  }
  return String(value);
}

/** Serialises a body, with its default content type; undefined if there is none. */
export function serialise(content: BodyContent): { readonly body: string | Buffer; readonly type: string } | undefined {
  switch (content.kind) {
    case "bytes":
      return { body: content.bytes, type: content.type };
    case "json":
      return content.value === undefined
        ? undefined
        : { body: JSON.stringify(content.value), type: "application/json" };
    case "form":
      return { body: encodePairs(pairsOf(content.value)), type: "application/x-www-form-urlencoded" };
  }
}

/** The names and values of a form or query. Nested names are written as `a[b]`, elements of lists as `a[0]`. */
function pairsOf(value: Json | undefined): [name: string, value: string][] {
  const pairs: [string, string][] = [];
  if (value === undefined || value === null) return pairs;
  if (!isJsonObject(value)) throw new RenderError("invalid_value", "form", "must be an object");
  for (const [name, member] of Object.entries(value)) addPairs(pairs, name, member, indexed);
  return pairs;
}

/** The names and values of a query. Elements of lists repeat the name. */
export function queryPairsOf(value: Json | undefined): [name: string, value: string][] {
  const pairs: [string, string][] = [];
  if (value === undefined || value === null) return pairs;
  if (!isJsonObject(value)) throw new RenderError("invalid_value", "query", "must be an object");
  for (const [name, member] of Object.entries(value)) addPairs(pairs, name, member, (list) => list);
  return pairs;
}

const indexed = (name: string, at: number) => (name.endsWith("[]") ? name : `${name}[${at}]`);

function addPairs(
  pairs: [string, string][],
  name: string,
  value: Json | RepeatedValue,
  elementName: (name: string, at: number) => string,
): void {
  if (value === null || value === undefined) return;
  if (value instanceof RepeatedValue) {
    for (const each of value.elements) addPairs(pairs, name, each, elementName);
  } else if (Array.isArray(value)) {
    for (const [at, each] of (value as readonly Json[]).entries())
      addPairs(pairs, elementName(name, at), each, elementName);
  } else if (isJsonObject(value)) {
    const memberName = (member: string) => (name.endsWith("*") ? name.slice(0, -1) + member : `${name}[${member}]`);
    for (const [member, each] of Object.entries(value)) addPairs(pairs, memberName(member), each, elementName);
  } else {
    pairs.push([name, String(value)]);
  }
}

/** Encodes names and values for a form or query. */
export function encodePairs(pairs: readonly (readonly [name: string, value: string])[]): string {
  return pairs.map(([name, value]) => `${encodePart(name)}=${encodePart(value)}`).join("&");
}
