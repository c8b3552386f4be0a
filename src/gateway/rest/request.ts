import { create, type DescField, type DescMessage, type Message } from "@bufbuild/protobuf";
import type { ChargeBytes } from "../../chain/call.ts";
import type { HttpBinding, Operation } from "../../definitions/index.ts";
import { fail, invalid, type Violation } from "../../errors/index.ts";
import { applyParams, createJsonDecoder, parseJson, toViolationFailure } from "../../platform/protojson/index.ts";
import { decodeJson } from "../decode-json.ts";
import { announcesTooMuch, type Exchange, headerOf, readBody, tooLarge } from "../exchange.ts";

type Params = readonly (readonly [string, string])[];

/** How a REST request becomes a message: body first, then the segments of the path, then the query. */
export type RequestReader = (exchange: Exchange, segments: Params, charge?: ChargeBytes) => Message | Promise<Message>;

/** In REST, lists are asked for with limit, cursor and offset. */
export const pagingNames: ReadonlyMap<string, string> = new Map([
  ["limit", "page_size"],
  ["cursor", "page_token"],
  ["offset", "skip"],
]);

/** Prepares the reader of one binding of an operation. */
export function requestReader({ method, paging, streaming }: Operation, binding: HttpBinding): RequestReader {
  const { input } = method;
  const decodeBody = bodyDecoder(input, binding.body);
  const takesQuery = binding.body !== "*";
  const conditional = binding.verb === "PATCH" || binding.verb === "PUT" ? input.field.recordVersion : undefined;
  const mayOnlyCreate = binding.verb === "PUT" ? input.field.recordVersion : undefined;
  const cursor = streaming ? input.field.cursor : undefined;

  const finish = (message: Message, exchange: Exchange, segments: Params): Message => {
    const violations: Violation[] = [];
    const pathParams = segments.map(([name, text]) => [name, decodeSegment(name, text)] as const);
    if (pathParams.length > 0) {
      violations.push(...contradictions(input, message, pathParams));
      violations.push(...applyParams(input, message, pathParams, "path"));
    }
    if (exchange.query !== "") {
      const params = paging === undefined ? queryParams(exchange.query) : pageParams(queryParams(exchange.query));
      violations.push(...(takesQuery ? applyParams(input, message, params, "query") : notTaken(params)));
    }
    if (violations.length > 0) throw toViolationFailure(violations);
    applyIfMatch(message, conditional, headerOf(exchange.request, "if-match"));
    if (binding.verb !== "GET") applyIfNoneMatch(message, mayOnlyCreate, headerOf(exchange.request, "if-none-match"));
    const lastEventId = cursor && headerOf(exchange.request, "last-event-id");
    if (lastEventId) (message as unknown as Record<string, string>)[cursor.localName] = lastEventId;
    return message;
  };

  if (decodeBody === undefined) {
    return (exchange, segments) => {
      if (announcesTooMuch(exchange)) throw tooLarge(exchange.bodyBytesMax);
      return finish(create(input), exchange, segments);
    };
  }
  return async (exchange, segments, charge) => {
    const body = await readBody(exchange);
    const charged = charge?.(body.length);
    if (charged !== undefined) await charged;
    if (body.length > 0) requireJson(exchange);
    const decoded = body.length === 0 ? create(input) : decodeBody(body);
    return finish(decoded instanceof Promise ? await decoded : decoded, exchange, segments);
  };
}

function decodeSegment(name: string, text: string): string {
  if (!text.includes("%")) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    throw invalid(name, "encoding", "is not valid percent-encoded UTF-8");
  }
}

function bodyDecoder(input: DescMessage, body: string): ((bytes: Buffer) => Message | Promise<Message>) | undefined {
  if (body === "") return undefined;
  const read = createJsonDecoder(input);
  const decode = (json: unknown) => read(json, { strict: true });
  const parse =
    body === "*" ? (bytes: Buffer) => parseJson(bytes, input) : (bytes: Buffer) => ({ [body]: parseJson(bytes) });
  return (bytes) => decodeJson(bytes, parse, decode);
}

function requireJson({ request }: Exchange): void {
  const type = headerOf(request, "content-type");
  if (type !== undefined && !/^application\/(?:[\w.-]+\+)?json(?:\s*;|$)/i.test(type)) {
    throw fail("UNSUPPORTED_MEDIA_TYPE", { public: "The body must be JSON: send Content-Type: application/json." });
  }
  const encoding = headerOf(request, "content-encoding");
  if (encoding !== undefined && encoding !== "identity") {
    throw fail("UNSUPPORTED_MEDIA_TYPE", { public: "The body must not be compressed." });
  }
}

function queryParams(query: string): Params {
  if (/%(?![0-9A-Fa-f]{2})/.test(query)) throw invalid("query", "encoding", "is not valid percent-encoding");
  const params = [...new URLSearchParams(query)];
  if (params.some(([name, value]) => name.includes("\ufffd") || value.includes("\ufffd"))) {
    throw invalid("query", "encoding", "is not valid UTF-8");
  }
  return params;
}

/** The parameters of a list under the names of its request; a limit or an offset of any size is one that fits. */
function pageParams(params: Params): Params {
  const rpcNames = new Map([...pagingNames].map(([name, rpcName]) => [rpcName, name]));
  const wrong = params.flatMap(([field]) => {
    const name = rpcNames.get(field);
    return name === undefined ? [] : [{ field, rule: "unknown_field", message: `is called ${name} here` }];
  });
  if (wrong.length > 0) throw toViolationFailure(wrong);
  return params.map(([name, value]) =>
    name === "limit" || name === "offset"
      ? [pagingNames.get(name)!, clamped(value)]
      : [pagingNames.get(name) ?? name, value],
  );
}

const int32Max = 2 ** 31 - 1;

function clamped(text: string): string {
  if (!/^-?\d+$/.test(text)) return text;
  return String(Math.max(-int32Max, Math.min(Number(text), int32Max)));
}

function notTaken(params: Params): Violation[] {
  return params.map(([field]) => ({ field, rule: "unknown_field", message: "belongs in the body" }));
}

/** A field that both the path and the body set must have one value. */
function contradictions(input: DescMessage, message: Message, pathParams: Params): Violation[] {
  const fields = message as unknown as Record<string, unknown>;
  return pathParams.flatMap(([name, value]) => {
    const field = input.fields.find((each) => each.name === name);
    const given = field && fields[field.localName];
    if (given === undefined || given === "" || given === value) return [];
    return [{ field: name, rule: "path_mismatch", message: "differs from the path" }];
  });
}

/** If-Match carries the record_version that an update expects: the number at the start of the ETag. */
function applyIfMatch(message: Message, field: DescField | undefined, ifMatch: string | undefined): void {
  if (ifMatch === undefined || ifMatch === "*") return;
  // A condition that nobody looks at would be taken for one that held.
  if (field === undefined) throw invalid("If-Match", "etag", "is not taken by this operation");
  const version = /^(?:W\/)?"(\d{1,15})(?:-[\w-]+)?"$/.exec(ifMatch)?.[1];
  if (version === undefined) {
    throw invalid("If-Match", "etag", 'must be * or an ETag of this record, such as "3-mB2xV0c9T1uKq7Zr5sWd4g"');
  }
  expectVersion(message, field, BigInt(version), "If-Match");
}

/** `If-None-Match: *` has a PUT create and never replace: it expects version 0, which no stored record has. */
function applyIfNoneMatch(message: Message, field: DescField | undefined, ifNoneMatch: string | undefined): void {
  if (ifNoneMatch === undefined) return;
  if (field === undefined) throw invalid("If-None-Match", "etag", "is not taken by this operation");
  if (ifNoneMatch !== "*") throw invalid("If-None-Match", "etag", "must be * here: replace nothing that exists");
  expectVersion(message, field, 0n, "If-None-Match");
}

function expectVersion(message: Message, field: DescField, version: bigint, header: string): void {
  const fields = message as unknown as Record<string, bigint | undefined>;
  const given = fields[field.localName];
  if (given !== undefined && given !== version) throw invalid("record_version", "etag", `differs from ${header}`);
  fields[field.localName] = version;
}
