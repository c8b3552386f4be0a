import type { Message } from "@bufbuild/protobuf";
import { Failure } from "../../../errors/index.ts";
import { createCall, type Exchange, headerOf, readBody } from "../../exchange.ts";
import { interruptible } from "../../interrupt.ts";
import { compress, connectEncodings, decompress, requestEncoding, responseEncoding } from "../codec/compression.ts";
import type { Format } from "../codec/wire-type.ts";
import { headersOf, toFailure } from "../error-details.ts";
import type { Procedure } from "../procedure.ts";
import { sendResponse } from "../response.ts";
import { connectTimeoutMs } from "../timeout.ts";
import { connectStatusOf, toConnectError } from "./connect-error.ts";

/** The request of a unary call, from a POST body or a GET query. */
export interface UnaryRequest {
  readonly format: Format;
  readonly encoding: string | undefined;
  readonly version: string | undefined;
  readonly read: () => Buffer | Promise<Buffer>;
}

/** Handles a unary Connect call with POST. */
export function handleConnectUnary(exchange: Exchange, procedure: Procedure, format: Format): Promise<void> {
  const { headers } = exchange.request;
  const request: UnaryRequest = {
    format,
    encoding: headers["content-encoding"],
    version: headers["connect-protocol-version"] as string | undefined,
    read: () => readBody(exchange),
  };
  return runConnectUnary(exchange, procedure, request);
}

/** Runs a unary Connect call and sends its response. */
export async function runConnectUnary(exchange: Exchange, procedure: Procedure, request: UnaryRequest): Promise<void> {
  const codec = procedure.codecs[request.format];
  const timeout = connectTimeoutMs(headerOf(exchange.request, "connect-timeout-ms"));
  const timeoutMs = typeof timeout === "number" ? timeout : undefined;
  const call = createCall(
    exchange,
    procedure.operation,
    "connect",
    async (charge) => {
      // Protocol errors are thrown here, after authentication, like errors in the body.
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
    const response = procedure.invoke(call);
    // Without a deadline the signal aborts only when the caller has disconnected.
    const message = await (timeoutMs === undefined ? response : interruptible(call.signal)(response));
    const encoded = codec.encode(message as Message);
    body = encoded instanceof Promise ? await encoded : encoded;
    headers = { "content-type": `application/${request.format}`, ...call.responseHeaders };
  } catch (error) {
    const failure = toFailure(error);
    status = connectStatusOf(failure);
    body = JSON.stringify(toConnectError(failure, call.requestId));
    headers = { "content-type": "application/json", ...call.responseHeaders, ...headersOf(failure) };
  }
  // A character takes at most three bytes, so a short body needs no exact count.
  if (body.length * 3 >= procedure.compressBytesMin && Buffer.byteLength(body) >= procedure.compressBytesMin) {
    const encoding = responseEncoding(headerOf(exchange.request, "accept-encoding"), connectEncodings);
    if (encoding !== undefined) {
      body = await compress(encoding, body);
      headers["content-encoding"] = encoding;
    }
  }
  sendResponse(exchange, status, headers, body);
}

async function bytesOf(exchange: Exchange, request: UnaryRequest): Promise<Buffer> {
  if (request.version !== undefined && request.version !== "1") throw unknownVersion();
  const encoding = requestEncoding(request.encoding, connectEncodings, "accept-encoding");
  if (encoding instanceof Failure) throw encoding;
  const bytes = await request.read();
  return encoding === undefined || bytes.length === 0 ? bytes : decompress(encoding, bytes, exchange.bodyBytesMax);
}

function unknownVersion(): Failure {
  return new Failure("INVALID_ARGUMENT", {
    public: 'The version of the Connect protocol must be "1" (for example: Connect-Protocol-Version: 1).',
  });
}
