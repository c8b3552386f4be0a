import type { IncomingMessage, ServerResponse } from "node:http";
import type { Http2ServerRequest, Http2ServerResponse } from "node:http2";
import type { TLSSocket } from "node:tls";
import type { Call, Plane } from "../chain/call.ts";
import type { Operation } from "../definitions/index.ts";
import { fail } from "../errors/index.ts";

/** One HTTP request and its response, HTTP/1.1 or HTTP/2 alike. */
export interface Exchange {
  readonly request: IncomingMessage | Http2ServerRequest;
  readonly response: ServerResponse | Http2ServerResponse;
  readonly plane: Plane;
  /** The path without the query, as it was sent. */
  readonly path: string;
  /** The query without its question mark. */
  readonly query: string;
  readonly bodyBytesMax: number;
  /** How long the body may take to arrive. */
  readonly bodyTimeoutMs: number;
  /** Aborted when the instance stops: streams end then, other calls are finished. */
  readonly stopping: AbortSignal;
  /** What every answer carries, whoever writes it. */
  readonly headers: Record<string, string>;
}

/** Starts a call for an exchange; the protocol adapter says how its message is decoded. */
export function newCall(
  exchange: Exchange,
  operation: Operation,
  protocol: Call["protocol"],
  decode: Call["decode"],
  timeoutMs?: number,
): Call {
  return new ExchangeCall(exchange, operation, protocol, decode, timeoutMs);
}

// A class, because an object literal with a getter gets a hidden class of its own at every call: each would outlive the
// young generation, and the collector would take longer than the call. For the same reason no function is written down as
// the value of a property here: V8 puts such a function among the old at once, and with it all that it can see.
class ExchangeCall implements Call {
  readonly operation: Operation;
  readonly plane: Plane;
  readonly protocol: Call["protocol"];
  readonly peerCertificate: Call["peerCertificate"];
  readonly remoteAddress: string;
  readonly decode: Call["decode"];
  readonly responseHeaders: Record<string, string> = {};
  readonly startedAtMs = performance.now();
  waitedMs = 0;
  requestId = "";
  span: Call["span"] = undefined;
  apiVersion = "";
  principal: Call["principal"] = undefined;
  tenantId: Call["tenantId"] = undefined;
  standing: Call["standing"] = undefined;
  message: Call["message"] = undefined;
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
    this.peerCertificate = peerCertificateOf(request);
    this.remoteAddress = request.socket.remoteAddress ?? "";
    this.decode = decode;
    this.#exchange = exchange;
    if (timeoutMs !== undefined) this.#signal = endOfCall(exchange, operation, timeoutMs);
  }

  header(name: string): string | undefined {
    const { request } = this.#exchange;
    return name === "authorization" ? authorizationOf(request) : headerOf(request, name);
  }

  // Most calls end before anybody asks for the signal.
  get signal(): AbortSignal {
    this.#signal ??= endOfCall(this.#exchange, this.operation, undefined);
    return this.#signal;
  }
}

/** Writes status and headers; HTTP/1.1's and HTTP/2's responses agree on it, their types do not. */
export function writeHead(exchange: Exchange, status: number, headers: Record<string, string> = {}): ServerResponse {
  const all: Record<string, string> = { ...exchange.headers, ...headers };
  // A caller that kept its connection would find it closed.
  if (exchange.stopping.aborted && exchange.request.httpVersionMajor === 1) all.connection = "close";
  // In one go: headers that are set one by one cost several times as much.
  return (exchange.response as ServerResponse).writeHead(status, all);
}

/** Whether the caller went away: nothing more can be read from it or written to it. */
export function isGone({ response }: Exchange): boolean {
  // HTTP/2's response does not say so itself.
  if (!("stream" in response)) return response.destroyed;
  const { stream } = response;
  return stream.destroyed || stream.closed || stream.aborted;
}

/** The value of a header; a repeated one is joined as HTTP says. */
export function headerOf(request: Exchange["request"], name: string): string | undefined {
  const value = request.headers[name];
  return typeof value === "string" || value === undefined ? value : value.join(", ");
}

/** The credentials of a request. Node drops all but the first of several; joined, they match no scheme and are refused. */
function authorizationOf(request: Exchange["request"]): string | undefined {
  const value = headerOf(request, "authorization");
  if (value === undefined) return undefined;
  const { rawHeaders } = request;
  const all = rawHeaders.filter((_, at) => at % 2 === 1 && rawHeaders[at - 1]!.toLowerCase() === "authorization");
  return all.length > 1 ? all.join(", ") : value;
}

/** Reads the whole body; refuses one that is larger or slower than allowed as soon as that is known. */
export function readBody(exchange: Exchange): Promise<Buffer> {
  const { request, bodyBytesMax, bodyTimeoutMs } = exchange;
  if (isGone(exchange)) return Promise.reject(fail("CANCELED"));
  if (announcesTooMuch(exchange)) {
    request.resume();
    return Promise.reject(tooLarge(bodyBytesMax));
  }
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const timer = setTimeout(() => reject(tooLate()), bodyTimeoutMs);
    request.on("data", (chunk: Buffer) => {
      size += chunk.length;
      if (size > bodyBytesMax) {
        clearTimeout(timer);
        request.removeAllListeners("data");
        request.resume();
        reject(tooLarge(bodyBytesMax));
      } else {
        chunks.push(chunk);
      }
    });
    request.on("end", () => {
      clearTimeout(timer);
      // HTTP/2 also ends the body of a caller that went away: it is cut off, and must not be taken for a whole one.
      if (isGone(exchange)) reject(fail("CANCELED"));
      else resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks));
    });
    request.on("error", (cause) => reject(fail("CANCELED", { cause })));
    request.on("close", () => {
      clearTimeout(timer);
      if (!request.readableEnded) reject(fail("CANCELED"));
    });
  });
}

/** Waits for the next part of a body, no longer than a body may take. */
export async function withinBodyTime<T>({ bodyTimeoutMs }: Exchange, reading: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(tooLate()), bodyTimeoutMs);
  });
  try {
    return await Promise.race([reading, late]);
  } finally {
    clearTimeout(timer);
  }
}

function tooLate() {
  return fail("REQUEST_TIMEOUT", { public: "The request's body did not arrive in time." });
}

/** Whether a request says by itself that its body is larger than allowed. */
export function announcesTooMuch({ request, bodyBytesMax }: Exchange): boolean {
  return Number(headerOf(request, "content-length")) > bodyBytesMax;
}

/** The refusal of a body that is larger than allowed. */
export function tooLarge(bodyBytesMax: number) {
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

function endOfCall(exchange: Exchange, { streaming }: Operation, timeoutMs: number | undefined): AbortSignal {
  const { response, stopping } = exchange;
  const controller = new AbortController();
  const leave = () => controller.abort(fail("CANCELED"));
  if (isGone(exchange)) leave();
  else response.once("close", leave);
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
