import type { IncomingMessage, ServerResponse } from "node:http";
import type { Http2ServerRequest, Http2ServerResponse } from "node:http2";
import type { TLSSocket } from "node:tls";
import type { Call, Plane } from "../chain/call.ts";
import type { Operation } from "../definitions/index.ts";
import { Failure, fail } from "../errors/index.ts";

/** One HTTP request and its response, over HTTP/1.1 or HTTP/2. */
export interface Exchange {
  readonly request: IncomingMessage | Http2ServerRequest;
  readonly response: ServerResponse | Http2ServerResponse;
  readonly plane: Plane;
  /** The address of the client, behind the proxies that are trusted to name it. */
  readonly clientAddress: string;
  /** The path as sent, without the query. */
  readonly path: string;
  /** The query without its question mark. */
  readonly query: string;
  /** Raised by the adapter for an operation that accepts larger bodies. */
  bodyBytesMax: number;
  /** How long the body may take to arrive. */
  readonly bodyTimeoutMs: number;
  /** Aborted when the instance stops. Streams then end; other calls finish. */
  readonly stopping: AbortSignal;
  /** Headers of every response, including those of other handlers. */
  readonly headers: Record<string, string>;
  /** Whether the caller sends its body only after a "100 Continue", which has not been sent yet. */
  awaitsContinue: boolean;
}

/** Creates the call of an exchange. `decode` is the protocol adapter's decoder. */
export function createCall(
  exchange: Exchange,
  operation: Operation,
  protocol: Call["protocol"],
  decode: Call["decode"],
  timeoutMs?: number,
): Call {
  return new ExchangeCall(exchange, operation, protocol, decode, timeoutMs);
}

// A class, because an object literal with a getter gets a new hidden class on every call. Each would outlive the young
// generation, and garbage collection would take longer than the call. For the same reason no property value is a function
// expression: V8 promotes such a function to the old generation immediately, with everything that it captures.
class ExchangeCall implements Call {
  readonly operation: Operation;
  readonly plane: Plane;
  readonly protocol: Call["protocol"];
  readonly httpMethod: string;
  readonly peerCertificate: Call["peerCertificate"];
  readonly remoteAddress: string;
  readonly decode: Call["decode"];
  readonly responseHeaders: Record<string, string> = {};
  readonly startedAtMs = performance.now();
  readonly body: Call["body"];
  waitedMs = 0;
  requestId = "";
  span: Call["span"] = undefined;
  apiVersion = "";
  principal: Call["principal"] = undefined;
  tenantId: Call["tenantId"] = undefined;
  tenantState: Call["tenantState"] = undefined;
  message: Call["message"] = undefined;
  returned: Call["returned"] = undefined;
  invalid: Call["invalid"] = undefined;
  readonly #exchange: Exchange;
  #signal: AbortSignal | undefined;

  constructor(
    exchange: Exchange,
    operation: Operation,
    protocol: Call["protocol"],
    decode: Call["decode"],
    timeoutMs: number | undefined,
  ) {
    const { request } = exchange;
    this.operation = operation;
    this.plane = exchange.plane;
    this.protocol = protocol;
    this.httpMethod = request.method ?? "";
    this.peerCertificate = peerCertificateOf(request);
    this.remoteAddress = exchange.clientAddress;
    this.decode = decode;
    this.body = operation.rawBodyBytesMax === undefined || protocol !== "rest" ? undefined : streamBody(exchange);
    this.#exchange = exchange;
    if (timeoutMs !== undefined) this.#signal = createCallSignal(exchange, operation, timeoutMs);
  }

  header(name: string): string | undefined {
    const { request } = this.#exchange;
    return name === "authorization" ? authorizationOf(request) : headerOf(request, name);
  }

  // Created on first use: most calls end without it.
  get signal(): AbortSignal {
    this.#signal ??= createCallSignal(this.#exchange, this.operation, undefined);
    return this.#signal;
  }
}

/** Writes the status and the headers. The cast is safe: HTTP/1.1 and HTTP/2 differ only in their types here. */
export function writeHead(exchange: Exchange, status: number, headers: Record<string, string> = {}): ServerResponse {
  const all: Record<string, string> = { ...exchange.headers, ...headers };
  // The connection is about to close, or the caller may skip the body that it announced. It must not be reused either way.
  const isLast = exchange.stopping.aborted || exchange.awaitsContinue;
  if (isLast && exchange.request.httpVersionMajor === 1) all.connection = "close";
  // One writeHead call: setting the headers one by one costs several times as much.
  return (exchange.response as ServerResponse).writeHead(status, all);
}

/** Writes a short text, without it for a HEAD request. */
export function writeText(exchange: Exchange, status: number, headers: Readonly<Record<string, string>>, text: string) {
  const body = Buffer.from(text);
  writeHead(exchange, status, { ...headers, "content-length": String(body.length) });
  exchange.response.end(exchange.request.method === "HEAD" ? "" : body);
}

/** Whether the caller has disconnected, so that nothing can be read or written. */
export function isDisconnected({ response }: Exchange): boolean {
  // HTTP/2's response does not expose this itself.
  if (!("stream" in response)) return response.destroyed;
  const { stream } = response;
  return stream.destroyed || stream.closed || stream.aborted;
}

/** The value of a header. Repeated headers are joined with commas, as HTTP defines. */
export function headerOf(request: Exchange["request"], name: string): string | undefined {
  const value = request.headers[name];
  return typeof value === "string" || value === undefined ? value : value.join(", ");
}

/** The Authorization header. Node keeps only the first of several; joined, they match no scheme and are refused. */
function authorizationOf(request: Exchange["request"]): string | undefined {
  const value = headerOf(request, "authorization");
  if (value === undefined) return undefined;
  const { rawHeaders } = request;
  const all = rawHeaders.filter((_, at) => at % 2 === 1 && rawHeaders[at - 1]!.toLowerCase() === "authorization");
  return all.length > 1 ? all.join(", ") : value;
}

/** Reads the whole body. A body that is too large or too slow is refused as early as possible. */
export async function readBody(exchange: Exchange): Promise<Buffer> {
  const { request, bodyBytesMax } = exchange;
  if (isDisconnected(exchange)) throw fail("CANCELED");
  if (declaresOversizedBody(exchange)) {
    request.resume();
    throw bodyTooLarge(bodyBytesMax);
  }
  requestBody(exchange);
  // Node reports the headers before it parses a body that arrived with them.
  await undefined;
  return arrivedBody(request) ?? collectBody(exchange);
}

/** The body, if all of it has arrived: without the listeners and the timer that reading a stream needs. */
function arrivedBody(request: Exchange["request"]): Buffer | undefined {
  const bytes = request.httpVersionMajor === 1 ? request.readableLength : 0;
  return bytes > 0 && bytes === Number(headerOf(request, "content-length")) ? request.read() : undefined;
}

function collectBody(exchange: Exchange): Promise<Buffer> {
  const { request, bodyBytesMax, bodyTimeoutMs } = exchange;
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const timer = setTimeout(() => reject(bodyTimeout()), bodyTimeoutMs);
    request.on("data", (chunk: Buffer) => {
      size += chunk.length;
      if (size > bodyBytesMax) {
        clearTimeout(timer);
        request.removeAllListeners("data");
        request.resume();
        reject(bodyTooLarge(bodyBytesMax));
      } else {
        chunks.push(chunk);
      }
    });
    request.on("end", () => {
      clearTimeout(timer);
      // HTTP/2 also emits "end" when the caller disconnects. Such a truncated body must not be treated as complete.
      if (isDisconnected(exchange)) reject(fail("CANCELED"));
      else resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks));
    });
    request.on("error", (cause) => reject(fail("CANCELED", { cause })));
    request.on("close", () => {
      clearTimeout(timer);
      if (!request.readableEnded) reject(fail("CANCELED"));
    });
  });
}

/** Tells a caller that waits for it to send its body. */
function requestBody(exchange: Exchange): void {
  if (!exchange.awaitsContinue) return;
  exchange.awaitsContinue = false;
  exchange.response.writeContinue();
}

/**
 * Yields the body while it arrives. The body timeout applies to each part. The request stays usable for the response if the
 * reader stops early.
 */
async function* streamBody(exchange: Exchange): AsyncGenerator<Uint8Array> {
  const { request, bodyBytesMax } = exchange;
  requestBody(exchange);
  const parts = request.iterator({ destroyOnReturn: false });
  try {
    for (let size = 0; ; ) {
      if (isDisconnected(exchange)) throw fail("CANCELED");
      const { done, value } = await withBodyTimeout(exchange, parts.next());
      if (done === true) break;
      size += (value as Buffer).length;
      if (size > bodyBytesMax) throw bodyTooLarge(bodyBytesMax);
      yield value as Buffer;
    }
  } catch (error) {
    throw error instanceof Failure ? error : fail("CANCELED", { cause: error });
  }
  // HTTP/2 also ends the body when the caller disconnects.
  if (isDisconnected(exchange)) throw fail("CANCELED");
}

/** Waits for the next part of a body, with the body timeout. */
export async function withBodyTimeout<T>({ bodyTimeoutMs }: Exchange, reading: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(bodyTimeout()), bodyTimeoutMs);
  });
  try {
    return await Promise.race([reading, late]);
  } finally {
    clearTimeout(timer);
  }
}

function bodyTimeout() {
  return fail("REQUEST_TIMEOUT", { public: "The request's body did not arrive in time." });
}

/** Whether the Content-Length exceeds the limit. */
export function declaresOversizedBody({ request, bodyBytesMax }: Exchange): boolean {
  return Number(headerOf(request, "content-length")) > bodyBytesMax;
}

/** Creates the failure of a body over the limit. */
export function bodyTooLarge(bodyBytesMax: number) {
  return fail("PAYLOAD_TOO_LARGE", { public: `The request's body is larger than ${bodyBytesMax} bytes.` });
}

function peerCertificateOf(request: Exchange["request"]): Call["peerCertificate"] {
  const socket = request.socket as Partial<TLSSocket>;
  if (!socket.encrypted || !socket.authorized || socket.getPeerCertificate === undefined) return undefined;
  const { subject } = socket.getPeerCertificate();
  if (subject === undefined) return undefined;
  return { commonName: first(subject.CN), organization: first(subject.O) };
}

function first(value: string | string[] | undefined): string {
  return (Array.isArray(value) ? value[0] : value) ?? "";
}

function createCallSignal(exchange: Exchange, { streaming }: Operation, timeoutMs: number | undefined): AbortSignal {
  const { response, stopping } = exchange;
  const controller = new AbortController();
  const cancel = () => controller.abort(fail("CANCELED"));
  if (isDisconnected(exchange)) cancel();
  // After the last byte there is nothing to cancel, and the error would cost a call 4 % of its CPU time.
  else response.once("close", () => response.writableEnded || cancel());
  if (timeoutMs !== undefined) {
    const timer = setTimeout(() => controller.abort(fail("TIMEOUT")), timeoutMs);
    response.once("close", () => clearTimeout(timer));
  }
  if (streaming) {
    const stop = () => controller.abort(fail("UNAVAILABLE", { public: "The instance is stopping." }));
    if (stopping.aborted) stop();
    stopping.addEventListener("abort", stop);
    response.once("close", () => stopping.removeEventListener("abort", stop));
  }
  return controller.signal;
}
