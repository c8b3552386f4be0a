import type { RawBody } from "../json.ts";
import type { Operation } from "./operation.ts";

/** A call as HTTP. */
export interface HttpRequest {
  readonly method: Operation["verb"];
  /** The path with the query. */
  readonly target: string;
  readonly body: RawBody | undefined;
  readonly contentType: string | undefined;
}

/** A list whose items are JSON already. */
export class JsonList {
  readonly texts: readonly string[];

  constructor(texts: readonly string[]) {
    this.texts = texts;
  }
}

type Fields = Readonly<Record<string, unknown>>;

/** Converts the request of an operation to HTTP: fields go to the path, the body or the query. */
export function toHttpRequest(operation: Operation, request: object): HttpRequest {
  const fields = { ...(request as Fields) };
  const path = operation.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = fields[name];
    if (value === undefined || value === null || value === "") {
      throw new TypeError(`${name} is missing: it is part of the path ${operation.path}`);
    }
    delete fields[name];
    return encodeURIComponent(String(value));
  });
  const { verb: method, body } = operation;
  if (body === undefined) {
    return { method, target: path + queryOf(fields), body: undefined, contentType: undefined };
  }
  if (body === "*") {
    return { method, target: path, body: jsonOf(fields), contentType: "application/json" };
  }
  const { [body]: raw, ...others } = fields;
  return { method, target: path + queryOf(others), body: raw as RawBody, contentType: typeOf(raw) };
}

function jsonOf(fields: Fields): string {
  const [name, list] = Object.entries(fields).find(([, value]) => value instanceof JsonList) ?? [];
  if (name === undefined) return JSON.stringify(fields);
  const { [name]: _, ...others } = fields;
  const rest = JSON.stringify(others).slice(1);
  return `{${JSON.stringify(name)}:[${(list as JsonList).texts}]${rest === "}" ? "" : ","}${rest}`;
}

function typeOf(raw: unknown): string {
  return (raw instanceof Blob && raw.type) || "application/octet-stream";
}

function queryOf(fields: Fields): string {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(fields)) {
    for (const each of Array.isArray(value) ? value : [value]) {
      if (each === undefined || each === null) continue;
      params.append(name, each instanceof Date ? each.toISOString() : String(each));
    }
  }
  return params.size === 0 ? "" : `?${params}`;
}
