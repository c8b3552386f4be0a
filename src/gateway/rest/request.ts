import { clearField, create, type DescField, type DescMessage, type Message } from "@bufbuild/protobuf";
import { HttpBodySchema } from "../../../gen/google/api/httpbody_pb.ts";
import type { ChargeBytes } from "../../chain/call.ts";
import type { ReturnedFields } from "../../chain/returned-fields.ts";
import { type HttpBinding, type Operation, pagingNames, type UpdatedRecord } from "../../definitions/index.ts";
import { fail, headerCorrection, invalid, type RefusedInput, type Violation } from "../../errors/index.ts";
import { applyParams, createJsonDecoder, toViolationFailure } from "../../platform/protojson/index.ts";
import { decodeJson } from "../decode-json.ts";
import { bodyTooLarge, declaresOversizedBody, type Exchange, headerOf, readBody } from "../exchange.ts";
import { createBodyDivider } from "./returned-fields.ts";

type Params = readonly (readonly [string, string])[];

/** Receives the read-only fields of a record that a caller sends back. */
type KeepReturned = (returned: ReturnedFields) => void;

/** Reads a REST request into a message: first the body, then the path variables, then the query. */
export type RequestReader = (
  exchange: Exchange,
  segments: Params,
  charge?: ChargeBytes,
  keepReturned?: KeepReturned,
) => Message | Promise<Message>;

/** Headers that choose a part of a raw response, by the field that they set. */
const rangeHeaders = { range: "range", if_range: "if-range" } as const;

/** Creates the reader of one HTTP binding of an operation; `updated` is the record that an update changes. */
export function createRequestReader(
  { method, paging, streaming, streamsBytes, rawBodyBytesMax }: Operation,
  binding: HttpBinding,
  updated?: UpdatedRecord,
): RequestReader {
  const { input } = method;
  const rawField = rawBodyBytesMax === undefined ? undefined : input.fields.find(({ name }) => name === binding.body);
  const decodeBody = rawField === undefined ? bodyDecoder(input, binding.body, updated) : undefined;
  const takesQuery = binding.body !== "*";
  const conditional = binding.verb === "PATCH" || binding.verb === "PUT" ? input.field.recordVersion : undefined;
  const mayOnlyCreate = binding.verb === "PUT" ? input.field.recordVersion : undefined;
  const cursor = streaming ? input.field.cursor : undefined;
  const rangeFields = Object.entries(streamsBytes ? rangeHeaders : {}).flatMap(([name, header]) => {
    const field = input.fields.find((each) => each.name === name);
    return field === undefined ? [] : [[field, header] as const];
  });

  const finish = (message: Message, exchange: Exchange, segments: Params): Message => {
    const violations: Violation[] = [];
    let refused: RefusedInput | undefined;
    const pathParams = segments.map(([name, text]) => [name, decodeSegment(name, text)] as const);
    if (pathParams.length > 0) {
      if (decodeBody !== undefined) violations.push(...pathMismatches(input, message, pathParams));
      violations.push(...applyParams(input, message, pathParams, "path"));
    }
    if (exchange.query !== "") {
      const given = queryParams(exchange.query);
      const params = paging?.kind === "cursor" ? pageParams(given) : given;
      const wrong = takesQuery ? applyParams(input, message, params, "query") : unexpectedParams(params);
      violations.push(...wrong);
      if (takesQuery && wrong.length > 0) refused = refusedQuery(input, params);
    }
    if (violations.length > 0) throw toViolationFailure(violations, { refused });
    applyIfMatch(message, conditional, headerOf(exchange.request, "if-match"));
    if (binding.verb !== "GET") applyIfNoneMatch(message, mayOnlyCreate, headerOf(exchange.request, "if-none-match"));
    const lastEventId = cursor && headerOf(exchange.request, "last-event-id");
    if (lastEventId) applyLastEventId(input, message, cursor, lastEventId);
    for (const [field, name] of rangeFields) {
      const value = headerOf(exchange.request, name);
      if (value !== undefined) (message as unknown as Record<string, string>)[field.localName] = value;
    }
    return message;
  };

  if (rawField !== undefined) {
    return async (exchange, segments, charge) => {
      if (declaresOversizedBody(exchange)) throw bodyTooLarge(exchange.bodyBytesMax);
      refuseEncoded(exchange);
      // A body of unknown length costs as much as the largest one.
      if (headerOf(exchange.request, "content-length") === undefined) await charge?.(exchange.bodyBytesMax);
      const contentType = headerOf(exchange.request, "content-type") ?? "application/octet-stream";
      const message = create(input);
      // The handler reads the bytes from the call.
      (message as unknown as Record<string, Message>)[rawField.localName] = create(HttpBodySchema, { contentType });
      return finish(message, exchange, segments);
    };
  }
  if (decodeBody === undefined) {
    return (exchange, segments) => {
      if (declaresOversizedBody(exchange)) throw bodyTooLarge(exchange.bodyBytesMax);
      return finish(create(input), exchange, segments);
    };
  }
  return async (exchange, segments, charge, keepReturned) => {
    const body = await readBody(exchange);
    const charged = charge?.(body.length);
    if (charged !== undefined) await charged;
    if (body.length > 0) requireJson(exchange);
    const decoded = body.length === 0 ? create(input) : decodeBody(body, keepReturned);
    return finish(decoded instanceof Promise ? await decoded : decoded, exchange, segments);
  };
}

/** A reconnecting client repeats the query of its first request, so the header wins. */
function applyLastEventId(input: DescMessage, message: Message, cursor: DescField, lastEventId: string): void {
  clearField(message, cursor as never);
  const violations = applyParams(input, message, [[cursor.name, lastEventId]], "query");
  if (violations.length > 0) throw toViolationFailure(violations.map((each) => ({ ...each, field: "Last-Event-ID" })));
}

function decodeSegment(name: string, text: string): string {
  if (!text.includes("%")) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    throw invalid(name, "encoding", "must be percent-encoded UTF-8 (for example: caf%C3%A9)");
  }
}

type BodyDecoder = (bytes: Buffer, keepReturned?: KeepReturned) => Message | Promise<Message>;

function bodyDecoder(input: DescMessage, body: string, updated: UpdatedRecord | undefined): BodyDecoder | undefined {
  if (body === "") return undefined;
  const read = createJsonDecoder(input);
  const isWhole = body === "*";
  const decode = (json: unknown) => read(isWhole ? json : { [body]: json }, { strict: true });
  if (updated === undefined) return (bytes) => decodeJson(bytes, isWhole ? input : undefined, decode);
  const divide = createBodyDivider(updated);
  return (bytes, keepReturned) =>
    decodeJson(bytes, input, (json) => {
      const { request, returned } = divide(json);
      if (returned !== undefined) keepReturned?.(returned);
      return decode(request);
    });
}

function requireJson({ request }: Exchange): void {
  const type = headerOf(request, "content-type");
  if (type !== undefined && !/^application\/(?:[\w.-]+\+)?json(?:\s*;|$)/i.test(type)) {
    throw fail("UNSUPPORTED_MEDIA_TYPE", {
      public: "The body must be JSON. Send it with Content-Type: application/json.",
      corrections: [headerCorrection("Content-Type", "application/json", "likely")],
    });
  }
  refuseEncoded({ request });
}

function refuseEncoded({ request }: Pick<Exchange, "request">): void {
  const encoding = headerOf(request, "content-encoding");
  if (encoding !== undefined && encoding !== "identity") {
    throw fail("UNSUPPORTED_MEDIA_TYPE", {
      public: "The body must not be compressed. Send it without Content-Encoding.",
    });
  }
}

function queryParams(query: string): Params {
  if (/%(?![0-9A-Fa-f]{2})/.test(query))
    throw invalid("query", "encoding", "must be percent-encoded; write a literal percent sign as %25");
  const params = [...new URLSearchParams(query)];
  if (params.some(([name, value]) => name.includes("\ufffd") || value.includes("\ufffd"))) {
    throw invalid("query", "encoding", "must be percent-encoded UTF-8 (for example: caf%C3%A9)");
  }
  return params;
}

/** Maps paging parameters to their RPC names, and clamps limit and offset to 32 bits. */
function pageParams(params: Params): Params {
  const rpcNames = new Map([...pagingNames].map(([name, rpcName]) => [rpcName, name]));
  const wrong = params.flatMap(([field]) => {
    const name = rpcNames.get(field);
    return name === undefined
      ? []
      : [{ field, rule: "unknown_field", message: `is not a query parameter here; use ${name}` }];
  });
  if (wrong.length > 0) throw toViolationFailure(wrong);
  return params.map(([name, value]) =>
    name === "limit" || name === "offset"
      ? [pagingNames.get(name)!, clamped(value)]
      : [pagingNames.get(name) ?? name, value],
  );
}

/** The parameters of a query as JSON, for corrections. */
function refusedQuery(input: DescMessage, params: Params): RefusedInput {
  return {
    type: input.typeName,
    json: Object.fromEntries(params),
    checkQuery: (json) => {
      const texts = Object.entries(json).map(([name, value]) => [name, String(value)] as const);
      return applyParams(input, create(input), texts, "query");
    },
  };
}

const int32Max = 2 ** 31 - 1;

function clamped(text: string): string {
  if (!/^-?\d+$/.test(text)) return text;
  return String(Math.max(-int32Max, Math.min(Number(text), int32Max)));
}

function unexpectedParams(params: Params): Violation[] {
  return params.map(([field]) => ({
    field,
    rule: "unknown_field",
    message: "must be sent in the body, not in the query",
  }));
}

/** A field that is in both the path and the body must have the same value. */
function pathMismatches(input: DescMessage, message: Message, pathParams: Params): Violation[] {
  const fields = message as unknown as Record<string, unknown>;
  return pathParams.flatMap(([name, value]) => {
    const field = input.fields.find((each) => each.name === name);
    const given = field && fields[field.localName];
    if (given === undefined || given === "" || given === 0 || String(given) === value) return [];
    return [{ field: name, rule: "path_mismatch", message: "must equal the value in the path, or be omitted" }];
  });
}

/** If-Match is the expected record_version of an update: the number at the start of the ETag. */
function applyIfMatch(message: Message, field: DescField | undefined, ifMatch: string | undefined): void {
  if (ifMatch === undefined || ifMatch === "*") return;
  // Ignoring the condition would suggest that it was met.
  if (field === undefined) throw invalid("If-Match", "etag", "is not supported by this operation: omit the header");
  const version = /^(?:W\/)?"(\d{1,15})(?:-[\w-]+)?"$/.exec(ifMatch)?.[1];
  if (version === undefined) {
    throw invalid(
      "If-Match",
      "etag",
      'must be the ETag of the record, or its record_version in quotes (for example: "3"), or *',
      /^\d{1,15}$/.test(ifMatch)
        ? { corrections: [headerCorrection("If-Match", `"${ifMatch}"`, "certain")] }
        : undefined,
    );
  }
  expectVersion(message, field, BigInt(version), "If-Match");
}

/** `If-None-Match: *` makes a PUT create-only: it expects version 0, which no stored record has. */
function applyIfNoneMatch(message: Message, field: DescField | undefined, ifNoneMatch: string | undefined): void {
  if (ifNoneMatch === undefined) return;
  if (field === undefined)
    throw invalid("If-None-Match", "etag", "is not supported by this operation: omit the header");
  if (ifNoneMatch !== "*")
    throw invalid("If-None-Match", "etag", "must be *, which means: create the record only if it does not exist");
  expectVersion(message, field, 0n, "If-None-Match");
}

function expectVersion(message: Message, field: DescField, version: bigint, header: string): void {
  const fields = message as unknown as Record<string, bigint | undefined>;
  const given = fields[field.localName];
  if (given !== undefined && given !== version)
    throw invalid("record_version", "etag", `must equal the version in ${header}, or be omitted`);
  fields[field.localName] = version;
}
