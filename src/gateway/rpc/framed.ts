import { once } from "node:events";
import type { Message } from "@bufbuild/protobuf";
import type { Answer, Call, ChargeBytes } from "../../chain/call.ts";
import { isStream, letGo } from "../../chain/stream.ts";
import { Failure, fail } from "../../errors/index.ts";
import { type Exchange, headerOf, isGone, newCall, readBody, withinBodyTime, writeHead } from "../exchange.ts";
import { type Interruptible, interruptible } from "../interrupt.ts";
import type { Codec } from "./codec/codec.ts";
import { compress, decompress, type Encoding, requestEncoding, responseEncoding } from "./codec/compression.ts";
import { compressedFlag, type Envelope, readEnvelopes, readOnlyEnvelope, writeEnvelope } from "./codec/envelope.ts";
import type { WireType } from "./codec/wire-type.ts";
import { failureOf } from "./error-details.ts";
import type { Procedure } from "./procedure.ts";
import { responseOf } from "./reply.ts";

/** What sets the protocols apart that put messages into envelopes: gRPC, gRPC-Web and Connect's streams. */
export interface Framing {
  readonly protocol: Call["protocol"];
  readonly encodings: readonly Encoding[];
  readonly encodingHeader: string;
  readonly acceptEncodingHeader: string;
  timeoutMs(exchange: Exchange): number | Failure | undefined;
  /** Undoes what the protocol does to a whole body besides envelopes. */
  unwrap?(body: Buffer, wire: WireType): Buffer;
  /** Does the same to what is sent. */
  wrap?(bytes: Buffer, wire: WireType): Buffer | string;
  /** Ends the answer; writes the head too where nothing was sent yet. */
  end(ending: Ending): void;
}

/** What is known when an answer ends. */
export interface Ending {
  readonly exchange: Exchange;
  readonly wire: WireType;
  readonly failure: Failure | undefined;
  readonly requestId: string;
  /** The head of the answer, of use only while it was not sent. */
  readonly headers: Record<string, string>;
}

/** Answers a call whose messages travel in envelopes. */
export async function handleFramed(
  framing: Framing,
  exchange: Exchange,
  procedure: Procedure,
  wire: WireType,
): Promise<void> {
  const response = responseOf(exchange);
  const codec = procedure.codecs[wire.format];
  const timeout = framing.timeoutMs(exchange);
  const timeoutMs = typeof timeout === "number" ? timeout : undefined;
  const accepted = responseEncoding(headerOf(exchange.request, framing.acceptEncodingHeader), framing.encodings);
  const decode = async (charge?: ChargeBytes) => {
    // Faults of the protocol are told here, after authentication, like faults of the body.
    if (timeout instanceof Failure) throw timeout;
    return readOnlyMessage(framing, exchange, wire, codec, charge);
  };
  const call = newCall(exchange, procedure.operation, framing.protocol, decode, timeoutMs);
  const whileOpen = interruptible(call.signal);

  const headers = (): Record<string, string> => ({
    "content-type": wire.contentType,
    [framing.acceptEncodingHeader]: framing.encodings.join(","),
    ...(accepted === undefined ? {} : { [framing.encodingHeader]: accepted }),
    ...call.responseHeaders,
  });
  const write = async (message: Message) => {
    const data = codec.encode(message);
    const envelope =
      accepted !== undefined && Buffer.byteLength(data) >= procedure.compressBytesMin
        ? writeEnvelope(compressedFlag, await compress(accepted, data))
        : writeEnvelope(0, data);
    if (isGone(exchange)) throw fail("CANCELED");
    if (!response.headersSent) writeHead(exchange, 200, headers());
    const flowing = response.write(framing.wrap?.(envelope, wire) ?? envelope);
    if (!flowing) await whileOpen(once(response, "drain"));
  };

  let failure: Failure | undefined;
  try {
    const running = answerOf(procedure, call, () => readMessages(framing, exchange, codec));
    const answer = await whileOpen(running).catch((error: unknown) => {
      // The call may still end in a stream, after its caller is gone.
      running.then((late) => isStream(late) && letGo(late)).catch(() => {});
      throw error;
    });
    if (Symbol.asyncIterator in answer) {
      // The caller learns that the stream is open before its first message, which may take long.
      if (!isGone(exchange)) writeHead(exchange, 200, headers()).flushHeaders();
      await pump(answer, whileOpen, write);
    } else {
      await write(answer);
    }
  } catch (error) {
    failure = failureOf(error);
  }
  if (isGone(exchange)) return;
  framing.end({ exchange, wire, failure, requestId: call.requestId, headers: headers() });
}

function answerOf(procedure: Procedure, call: Call, requests: () => AsyncIterable<Message>): Promise<Answer> {
  return procedure.converse === undefined ? procedure.invoke(call) : Promise.resolve(procedure.converse(requests()));
}

async function pump(
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
    // Not awaited: a generator that still waits for its next message ends only after that wait.
    if (!ended) iterator.return?.().catch(() => {});
  }
}

async function readOnlyMessage(
  framing: Framing,
  exchange: Exchange,
  wire: WireType,
  codec: Codec,
  charge: ChargeBytes | undefined,
): Promise<Message> {
  const encoding = encodingOf(framing, exchange);
  const body = await readBody(exchange);
  const envelope = readOnlyEnvelope(framing.unwrap?.(body, wire) ?? body);
  const data = await dataOf(envelope, encoding, exchange.bodyBytesMax);
  await charge?.(data.length);
  return codec.decode(data);
}

async function* readMessages(framing: Framing, exchange: Exchange, codec: Codec): AsyncGenerator<Message> {
  const encoding = encodingOf(framing, exchange);
  const envelopes = readEnvelopes(exchange.request, exchange.bodyBytesMax);
  for (;;) {
    const { done, value } = await withinBodyTime(exchange, envelopes.next());
    if (done === true) return;
    yield codec.decode(await dataOf(value, encoding, exchange.bodyBytesMax));
  }
}

function encodingOf(framing: Framing, exchange: Exchange): Encoding | undefined {
  const name = headerOf(exchange.request, framing.encodingHeader);
  const encoding = requestEncoding(name, framing.encodings, framing.acceptEncodingHeader);
  if (encoding instanceof Failure) throw encoding;
  return encoding;
}

async function dataOf(envelope: Envelope, encoding: Encoding | undefined, bytesMax: number): Promise<Buffer> {
  if (envelope.flags === 0) return envelope.data;
  if (envelope.flags !== compressedFlag || encoding === undefined) {
    throw fail("INVALID_ARGUMENT", {
      public: "The request has a message with flags that its headers do not announce.",
    });
  }
  return envelope.data.length === 0 ? envelope.data : decompress(encoding, envelope.data, bytesMax);
}
