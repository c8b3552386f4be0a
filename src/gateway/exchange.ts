import type { IncomingMessage, ServerResponse } from "node:http";
import type { Http2ServerRequest, Http2ServerResponse } from "node:http2";
import type { TLSSocket } from "node:tls";
import type { Message } from "@bufbuild/protobuf";
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
}

/** Starts a call for an exchange; the protocol adapter says how its message is decoded. */
export function newCall(
  exchange: Exchange,
  operation: Operation,
  protocol: Call["protocol"],
  decode: () => Message | Promise<Message>,
  timeoutMs?: number,
): Call {
  const { request } = exchange;
  return {
    operation,
    protocol,
    decode,
    plane: exchange.plane,
    header: (name) => headerOf(request, name),
    peerCertificate: peerCertificateOf(request),
    remoteAddress: request.socket.remoteAddress ?? "",
    signal: endOfCall(exchange, timeoutMs),
    responseHeaders: {},
    startedAtMs: performance.now(),
    requestId: "",
    apiVersion: "",
    principal: undefined,
    tenantId: undefined,
    message: undefined,
  };
}

/** The value of a header; a repeated one is joined as HTTP says. */
export function headerOf(request: Exchange["request"], name: string): string | undefined {
  const value = request.headers[name];
  return typeof value === "string" || value === undefined ? value : value.join(", ");
}

/** Reads the whole body; refuses one that is larger than allowed as soon as that is known. */
export function readBody(exchange: Exchange): Promise<Buffer> {
  const { request, bodyBytesMax } = exchange;
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    request.on("data", (chunk: Buffer) => {
      size += chunk.length;
      if (size > bodyBytesMax) {
        request.removeAllListeners("data");
        request.resume();
        reject(tooLarge(bodyBytesMax));
      } else {
        chunks.push(chunk);
      }
    });
    request.on("end", () => resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)));
    request.on("error", (cause) => reject(fail("CANCELED", { cause })));
    request.on("close", () => reject(fail("CANCELED")));
  });
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

function endOfCall(exchange: Exchange, timeoutMs: number | undefined): AbortSignal {
  const controller = new AbortController();
  exchange.response.once("close", () => controller.abort(fail("CANCELED")));
  if (timeoutMs !== undefined) {
    const timer = setTimeout(() => controller.abort(fail("TIMEOUT")), timeoutMs);
    exchange.response.once("close", () => clearTimeout(timer));
  }
  return controller.signal;
}
