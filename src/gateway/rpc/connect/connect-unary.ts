import type { Message } from "@bufbuild/protobuf";
import { Failure } from "../../../errors/index.ts";
import { type Exchange, headerOf, newCall, readBody } from "../../exchange.ts";
import { interruptible } from "../../interrupt.ts";
import { compress, connectEncodings, decompress, requestEncoding, responseEncoding } from "../codec/compression.ts";
import type { Format } from "../codec/wire-type.ts";
import { failureOf, headersOf } from "../error-details.ts";
import type { Procedure } from "../procedure.ts";
import { replyWhole } from "../reply.ts";
import { connectTimeoutMs } from "../timeout.ts";
import { connectErrorOf, connectStatusOf } from "./connect-error.ts";

/** The request of a unary call: where its bytes come from and how they are to be read. */
export interface UnaryRequest {
  readonly format: Format;
  readonly encoding: string | undefined;
  readonly version: string | undefined;
  readonly read: () => Buffer | Promise<Buffer>;
}

/** Answers a unary call of Connect with POST. */
export function handleConnectUnary(exchange: Exchange, procedure: Procedure, format: Format): Promise<void> {
  const { headers } = exchange.request;
  const request: UnaryRequest = {
    format,
    encoding: headers["content-encoding"],
    version: headers["connect-protocol-version"] as string | undefined,
    read: () => readBody(exchange),
  };
  return answerConnectUnary(exchange, procedure, request);
}

/** Answers a unary call of Connect, however its request came. */
export async function answerConnectUnary(
  exchange: Exchange,
  procedure: Procedure,
  request: UnaryRequest,
): Promise<void> {
  const codec = procedure.codecs[request.format];
  const timeout = connectTimeoutMs(headerOf(exchange.request, "connect-timeout-ms"));
  const timeoutMs = typeof timeout === "number" ? timeout : undefined;
  const call = newCall(
    exchange,
    procedure.operation,
    "connect",
    async (charge) => {
      // Faults of the protocol are told here, after authentication, like faults of the body.
      if (timeout instanceof Failure) throw timeout;
      const bytes = await bytesOf(exchange, request);
      const charged = charge?.(bytes.length);
      if (charged !== undefined) await charged;
      return codec.decode(bytes);
    },
    timeoutMs,
  );
  let status = 200;
  let headers: Record<string, string>;
  let body: string | Uint8Array;
  try {
    const answer = procedure.invoke(call);
    // Without a deadline there is nobody left to answer when the signal aborts.
    const message = await (timeoutMs === undefined ? answer : interruptible(call.signal)(answer));
    body = codec.encode(message as Message);
    headers = { "content-type": `application/${request.format}`, ...call.responseHeaders };
  } catch (error) {
    const failure = failureOf(error);
    status = connectStatusOf(failure);
    body = JSON.stringify(connectErrorOf(failure, call.requestId));
    headers = { "content-type": "application/json", ...call.responseHeaders, ...headersOf(failure) };
  }
  // A character takes at most three bytes; most answers are small and need no closer look.
  if (body.length * 3 >= procedure.compressBytesMin && Buffer.byteLength(body) >= procedure.compressBytesMin) {
    const encoding = responseEncoding(headerOf(exchange.request, "accept-encoding"), connectEncodings);
    if (encoding !== undefined) {
      body = await compress(encoding, body);
      headers["content-encoding"] = encoding;
    }
  }
  replyWhole(exchange, status, headers, body);
}

async function bytesOf(exchange: Exchange, request: UnaryRequest): Promise<Buffer> {
  if (request.version !== undefined && request.version !== "1") throw unknownVersion();
  const encoding = requestEncoding(request.encoding, connectEncodings, "accept-encoding");
  if (encoding instanceof Failure) throw encoding;
  const bytes = await request.read();
  return encoding === undefined || bytes.length === 0 ? bytes : decompress(encoding, bytes, exchange.bodyBytesMax);
}

function unknownVersion(): Failure {
  return new Failure("INVALID_ARGUMENT", { public: 'The version of the Connect protocol must be "1".' });
}
