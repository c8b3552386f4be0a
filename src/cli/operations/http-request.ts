import type { DescField, DescMessage } from "@bufbuild/protobuf";
import { isWrapperDesc } from "@bufbuild/protobuf/wkt";
import type { Operation } from "../../definitions/index.ts";
import { parseTemplate } from "../../gateway/rest/template.ts";
import { usageError } from "../exit-codes.ts";
import type { RequestJson } from "./command-input.ts";

/** A REST request without its address and credentials. */
export interface HttpRequest {
  readonly verb: string;
  /** The path with its query. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array | undefined;
}

/** REST names of the paging fields. */
const pagingParams: Readonly<Record<string, string>> = { page_size: "limit", page_token: "cursor", skip: "offset" };

/** Converts a request to HTTP: path, query and body, by the operation's first binding. */
export function toHttpRequest(operation: Operation, json: RequestJson): HttpRequest {
  const { method, bindings, paging, streaming, streamsBytes, rawBodyBytesMax } = operation;
  const { verb, path, body } = bindings[0]!;
  const rest: RequestJson = { ...json };
  const target = fillTemplate(path, rest);

  let content: string | Uint8Array | undefined;
  if (rawBodyBytesMax !== undefined) {
    const { data = "" } = (rest[body] ?? {}) as { data?: string };
    content = Buffer.from(data, "base64");
    delete rest[body];
  } else if (body === "*") {
    content = JSON.stringify(rest);
  } else if (body !== "") {
    content = JSON.stringify(rest[body] ?? {});
    delete rest[body];
  }
  const query = new URLSearchParams();
  if (body !== "*") {
    for (const [name, text] of paramsOf(method.input, rest)) {
      query.append(paging === undefined ? name : (pagingParams[name] ?? name), text);
    }
  }
  return {
    verb,
    target: query.size === 0 ? target : `${target}?${query}`,
    headers: {
      accept: streaming && !streamsBytes ? "text/event-stream" : "application/json, */*;q=0.5",
      ...(content !== undefined && {
        "content-type": rawBodyBytesMax === undefined ? "application/json" : "application/octet-stream",
      }),
    },
    body: content,
  };
}

/** Fills path variables into a template and removes them from the request. */
function fillTemplate(path: string, rest: RequestJson): string {
  const { segments, verb } = parseTemplate(path);
  const parts = segments.map((segment) => {
    if ("literal" in segment) return segment.literal;
    const text = String(rest[segment.variable] ?? "");
    delete rest[segment.variable];
    // A URL cannot contain these segments: they would silently select another path.
    if (text === "" || text === "." || text === "..")
      throw usageError(`<${segment.variable}>: must not be empty, "." or ".."`);
    return encodeURIComponent(text);
  });
  return `/${parts.join("/")}${verb === "" ? "" : `:${verb}`}`;
}

function* paramsOf(desc: DescMessage, json: RequestJson, prefix = ""): Generator<readonly [string, string]> {
  for (const field of desc.fields) {
    const value = json[field.name] ?? json[field.jsonName];
    if (value === undefined || value === null) continue;
    const name = prefix + field.name;
    if (field.fieldKind === "map") throw usageError(`${name}: a map cannot be sent in a query`);
    if (field.fieldKind === "list") {
      for (const each of value as unknown[]) yield [name, paramText(field, each)];
    } else if (field.fieldKind === "message" && isNested(field.message)) {
      yield* paramsOf(field.message, value as RequestJson, `${name}.`);
    } else {
      yield [name, paramText(field, value)];
    }
  }
}

function isNested(desc: DescMessage): boolean {
  return !desc.typeName.startsWith("google.protobuf.") && !isWrapperDesc(desc);
}

function paramText({ message }: DescField, value: unknown): string {
  const isJson = message !== undefined && /^google\.protobuf\.(Struct|Value|ListValue)$/.test(message.typeName);
  return isJson ? JSON.stringify(value) : String(value);
}
