import { buffer } from "node:stream/consumers";
import type { HttpBinding, Operation } from "../../src/definitions/index.ts";
import { type HttpRequest, type HttpResponse, sendHttp } from "./http-client.ts";
import type { Json } from "./operations.ts";

/** A protocol for calling an operation. */
export type Protocol = "REST" | "Connect";

/** The protocols that accept JSON for every operation. */
export const protocols: readonly Protocol[] = ["REST", "Connect"];

/** The caller's base URL and headers. */
export interface Caller {
  readonly baseUrl: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** The result of a call, in the same form for every protocol. */
export interface Outcome {
  /** The catalogue's error code, or "OK". */
  readonly code: string;
  readonly status: number;
  readonly retryable: boolean | undefined;
  readonly violations: readonly { field: string; rule: string; message: string }[];
  readonly requestId: string;
  readonly headers: Headers;
  /** The raw body; for a stream, its first part. */
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests read responses of every shape.
  readonly body: any;
}

/** Calls an operation with a message. */
export function callOperation(
  protocol: Protocol,
  operation: Operation,
  caller: Caller,
  message: Json,
  headers: Record<string, string> = {},
): Promise<Outcome> {
  const request = protocol === "REST" ? restRequest(operation, message) : connectRequest(operation, message);
  return send(protocol, caller.baseUrl + request.path, {
    method: request.method,
    headers: { ...caller.headers, ...request.headers, ...headers },
    ...(request.body !== undefined && { body: request.body }),
  });
}

/** A raw request. */
export interface RawRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array<ArrayBuffer>;
}

/** The REST names of a list request's paging fields. */
export const restPagingNames: Readonly<Record<string, string>> = {
  page_size: "limit",
  page_token: "cursor",
  skip: "offset",
};

/** The REST request of a message: variables in the path, the rest in the body or query. */
export function restRequest(
  operation: Operation,
  message: Json,
  binding: HttpBinding = operation.bindings[0]!,
): RawRequest {
  const rest = { ...message };
  const path = binding.path.replace(/\{([a-z_.]+)\}/g, (_, name: string) => {
    const value = rest[name];
    delete rest[name];
    return encodeURIComponent(String(value));
  });
  const isRaw = operation.rawBodyBytesMax !== undefined;
  const raw = isRaw
    ? { body: Buffer.from((rest[binding.body] as { data?: string } | undefined)?.data ?? "", "base64") }
    : {};
  if (isRaw) delete rest[binding.body];
  if (binding.body === "*") {
    return { method: binding.verb, path, headers: { "content-type": "application/json" }, body: JSON.stringify(rest) };
  }
  const query = new URLSearchParams();
  for (const [field, value] of Object.entries(rest)) {
    const name = operation.paging === undefined ? field : (restPagingNames[field] ?? field);
    for (const each of Array.isArray(value) ? value : [value]) {
      query.append(name, typeof each === "object" ? JSON.stringify(each) : String(each));
    }
  }
  return { method: binding.verb, path: query.size === 0 ? path : `${path}?${query}`, headers: {}, ...raw };
}

/** The Connect request of a message, as JSON; in an envelope for a stream. */
export function connectRequest({ id, streaming }: Operation, message: Json): RawRequest {
  const json = JSON.stringify(message);
  return {
    method: "POST",
    path: `/${id}`,
    headers: { "content-type": streaming ? "application/connect+json" : "application/json" },
    body: streaming ? enveloped(Buffer.from(json)) : json,
  };
}

/** Wraps data in the envelope of gRPC and of Connect streams. */
export function enveloped(data: Uint8Array, flags = 0): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(5 + data.length);
  bytes[0] = flags;
  new DataView(bytes.buffer).setUint32(1, data.length);
  bytes.set(data, 5);
  return bytes;
}

/** Sends a request and reads the response; for a stream, up to its first message. */
export async function send(protocol: Protocol, url: string, sent: HttpRequest): Promise<Outcome> {
  const leave = new AbortController();
  // A stream without messages would block a failing test forever.
  const timer = setTimeout(() => leave.abort(new Error("no answer within 15 seconds")), 15_000);
  try {
    const response = await sendHttp(url, { ...sent, signal: leave.signal });
    const streamed = /event-stream|connect\+json/.test(response.headers.get("content-type") ?? "");
    // Leaving the loop over a stream ends its request.
    const bytes = streamed ? await firstMessage(response) : await buffer(response.body);
    return protocol === "REST" ? restOutcome(response, bytes) : connectOutcome(response, bytes);
  } finally {
    clearTimeout(timer);
  }
}

/** Reads the first event or envelope of a stream. */
async function firstMessage(response: HttpResponse): Promise<Buffer> {
  let bytes = Buffer.alloc(0);
  const isSse = response.headers.get("content-type")!.includes("event-stream");
  for await (const chunk of response.body) {
    bytes = Buffer.concat([bytes, chunk]);
    if (isSse ? /^(data|event): .*\n\n/m.test(bytes.toString()) : bytes.length >= firstEnvelopeEnd(bytes)) break;
  }
  return bytes;
}

function firstEnvelopeEnd(bytes: Buffer): number {
  return bytes.length < 5 ? 5 : 5 + bytes.readUInt32BE(1);
}

function restOutcome(response: HttpResponse, bytes: Buffer): Outcome {
  const text = bytes.toString();
  const body = response.headers.get("content-type")?.includes("json") ? JSON.parse(text) : undefined;
  const failed = response.status >= 400;
  return {
    code: failed ? (body?.errorCode ?? `untyped ${response.status}`) : "OK",
    status: response.status,
    retryable: body?.retryable,
    violations: body?.violations ?? [],
    requestId: (failed ? body?.request_id : body?.metadata?.request_id) ?? "",
    headers: response.headers,
    text,
    body,
  };
}

function connectOutcome(response: HttpResponse, bytes: Buffer): Outcome {
  const framed = response.headers.get("content-type")?.includes("connect+json");
  const text = (framed ? bytes.subarray(5, firstEnvelopeEnd(bytes)) : bytes).toString();
  const body = response.headers.get("content-type")?.includes("json") ? JSON.parse(text) : undefined;
  const error = framed && bytes[0] === 2 ? body.error : response.status >= 400 ? body : undefined;
  // biome-ignore lint/suspicious/noExplicitAny: the debug form of details, by their types.
  const detail = (type: string): any =>
    error?.details?.find((each: { type: string }) => each.type === `google.rpc.${type}`)?.debug;
  const info = detail("ErrorInfo");
  return {
    code: error === undefined ? "OK" : (info?.reason ?? error.code ?? `untyped ${response.status}`),
    status: response.status,
    retryable: info === undefined ? undefined : info.metadata.retryable === "true",
    violations: (detail("BadRequest")?.fieldViolations ?? []).map(
      ({ field, reason, description }: Record<string, string>) => ({ field, rule: reason, message: description }),
    ),
    requestId: info?.metadata.request_id ?? "",
    headers: response.headers,
    text,
    body: error ?? body,
  };
}
