import { once } from "node:events";
import type { Message } from "@bufbuild/protobuf";
import type { Call, CallResponse, ChargeBytes } from "../../chain/call.ts";
import { cancelStream, isStream, markWritten } from "../../chain/stream.ts";
import { Failure, fail } from "../../errors/index.ts";
import {
  createCall,
  type Exchange,
  headerOf,
  isDisconnected,
  readBody,
  withBodyTimeout,
  writeHead,
} from "../exchange.ts";
import { type Interruptible, interruptible } from "../interrupt.ts";
import type { Codec } from "./codec/codec.ts";
import { compress, decompress, type Encoding, requestEncoding, responseEncoding } from "./codec/compression.ts";
import { compressedFlag, type Envelope, readEnvelopes, readOnlyEnvelope, writeEnvelope } from "./codec/envelope.ts";
import type { WireType } from "./codec/wire-type.ts";
import { toFailure } from "./error-details.ts";
import type { Procedure } from "./procedure.ts";
import { responseOf } from "./response.ts";

/** The differences between the protocols that send messages in envelopes: gRPC, gRPC-Web and Connect's streams. */
export interface EnvelopeProtocol {
  readonly protocol: Call["protocol"];
  readonly encodings: readonly Encoding[];
  readonly encodingHeader: string;
  readonly acceptEncodingHeader: string;
  timeoutMs(exchange: Exchange): number | Failure | undefined;
  /** Decodes the body before its envelopes are read, such as base64. */
  unwrap?(body: Buffer, wire: WireType): Buffer;
  /** Encodes the bytes of an envelope before they are sent. */
  wrap?(bytes: Buffer, wire: WireType): Buffer | string;
  /** Ends the response. Writes the headers too if nothing was sent yet. */
  end(ending: ResponseEnd): void;
}

export interface ResponseEnd {
  readonly exchange: Exchange;
  readonly wire: WireType;
  readonly failure: Failure | undefined;
  readonly requestId: string;
  /** The headers of the response, used only if they were not sent yet. */
  readonly headers: Record<string, string>;
}

/** Handles a call of a protocol that sends messages in envelopes. */
export async function handleEnvelopedCall(
  protocol: EnvelopeProtocol,
  exchange: Exchange,
  procedure: Procedure,
  wire: WireType,
): Promise<void> {
  const response = responseOf(exchange);
  const codec = procedure.codecs[wire.format];
  const timeout = protocol.timeoutMs(exchange);
  const timeoutMs = typeof timeout === "number" ? timeout : undefined;
  const accepted = responseEncoding(headerOf(exchange.request, protocol.acceptEncodingHeader), protocol.encodings);
  const decode = async (charge?: ChargeBytes) => {
    // Protocol errors are thrown here, after authentication, like errors in the body.
    if (timeout instanceof Failure) throw timeout;
    return readOnlyMessage(protocol, exchange, wire, codec, charge);
  };
  const call = createCall(exchange, procedure.operation, protocol.protocol, decode, timeoutMs);
  const whileOpen = interruptible(call.signal);

  const headers = (): Record<string, string> => ({
    "content-type": wire.contentType,
    [protocol.acceptEncodingHeader]: protocol.encodings.join(","),
    ...(accepted === undefined ? {} : { [protocol.encodingHeader]: accepted }),
    ...call.responseHeaders,
  });
  const write = async (message: Message) => {
    const data = await codec.encode(message);
    const envelope =
      accepted !== undefined && Buffer.byteLength(data) >= procedure.compressBytesMin
        ? writeEnvelope(compressedFlag, await compress(accepted, data))
        : writeEnvelope(0, data);
    if (isDisconnected(exchange)) throw fail("CANCELED");
    if (!response.headersSent) writeHead(exchange, 200, headers());
    const flowing = response.write(protocol.wrap?.(envelope, wire) ?? envelope);
    markWritten(message);
    if (!flowing) await whileOpen(once(response, "drain"));
  };

  let failure: Failure | undefined;
  try {
    const running = invoke(procedure, call, () => readMessages(protocol, exchange, codec));
    const result = await whileOpen(running).catch((error: unknown) => {
      // The call may still return a stream after the caller has disconnected.
      running.then((late) => isStream(late) && cancelStream(late)).catch(() => {});
      throw error;
    });
    if (Symbol.asyncIterator in result) {
      // The headers are sent now, because the first message may take long.
      if (!isDisconnected(exchange)) writeHead(exchange, 200, headers()).flushHeaders();
      await writeStream(result, whileOpen, write);
    } else {
      await write(result);
    }
  } catch (error) {
    failure = toFailure(error);
  }
  if (isDisconnected(exchange)) return;
  protocol.end({ exchange, wire, failure, requestId: call.requestId, headers: headers() });
}

function invoke(procedure: Procedure, call: Call, requests: () => AsyncIterable<Message>): Promise<CallResponse> {
  return procedure.handleStream === undefined
    ? procedure.invoke(call)
    : Promise.resolve(procedure.handleStream(requests()));
}

async function writeStream(
  messages: AsyncIterable<Message>,
  whileOpen: Interruptible,
  write: (message: Message) => Promise<void>,
): Promise<void> {
  const iterator = messages[Symbol.asyncIterator]();
  let ended = false;
  try {
    for (;;) {
      const step = await whileOpen(iterator.next());
      if (step.done === true) {
        ended = true;
        return;
      }
      await write(step.value);
    }
  } finally {
    // Not awaited: a generator ends only after its pending wait.
    if (!ended) iterator.return?.().catch(() => {});
  }
}

async function readOnlyMessage(
  protocol: EnvelopeProtocol,
  exchange: Exchange,
  wire: WireType,
  codec: Codec,
  charge: ChargeBytes | undefined,
): Promise<Message> {
  const encoding = encodingOf(protocol, exchange);
  const body = await readBody(exchange);
  const envelope = readOnlyEnvelope(protocol.unwrap?.(body, wire) ?? body);
  const data = await dataOf(envelope, encoding, exchange.bodyBytesMax);
  await charge?.(data.length);
  return codec.decode(data);
}

async function* readMessages(protocol: EnvelopeProtocol, exchange: Exchange, codec: Codec): AsyncGenerator<Message> {
  const encoding = encodingOf(protocol, exchange);
  const envelopes = readEnvelopes(exchange.request, exchange.bodyBytesMax);
  for (;;) {
    const { done, value } = await withBodyTimeout(exchange, envelopes.next());
    if (done === true) return;
    yield codec.decode(await dataOf(value, encoding, exchange.bodyBytesMax));
  }
}

function encodingOf(protocol: EnvelopeProtocol, exchange: Exchange): Encoding | undefined {
  const name = headerOf(exchange.request, protocol.encodingHeader);
  const encoding = requestEncoding(name, protocol.encodings, protocol.acceptEncodingHeader);
  if (encoding instanceof Failure) throw encoding;
  return encoding;
}

async function dataOf(envelope: Envelope, encoding: Encoding | undefined, bytesMax: number): Promise<Buffer> {
  if (envelope.flags === 0) return envelope.data;
  if (envelope.flags !== compressedFlag || encoding === undefined) {
    throw fail("INVALID_ARGUMENT", {
      public: "The request has a message with unknown flags, or a compressed message without an encoding header.",
    });
  }
  return envelope.data.length === 0 ? envelope.data : decompress(encoding, envelope.data, bytesMax);
}
