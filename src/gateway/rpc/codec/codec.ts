import { setImmediate as nextTurn } from "node:timers/promises";
import { type DescMessage, fromBinary, type Message } from "@bufbuild/protobuf";
import { Failure, invalid } from "../../../errors/index.ts";
import { createJsonDecoder, createTurnEncoder } from "../../../platform/protojson/index.ts";
import { decodeJson } from "../../decode-json.ts";
import { findInvalidValue } from "../invalid-value.ts";
import { createBinaryDecoder, createBinaryEncoder } from "./binary-in-turns.ts";
import { findNul } from "./nul.ts";
import { malformed, scanBinary } from "./scan-binary.ts";

/** Decodes the requests and encodes the responses of one method in one format. */
export interface Codec {
  decode(body: Buffer): Message | Promise<Message>;
  /** Long lists are encoded over several turns of the event loop, as a promise. */
  encode(message: Message): string | Uint8Array | Promise<string | Uint8Array>;
}

/** Creates the JSON codec, with the lowerCamelCase names of Connect and gRPC. */
export function jsonCodec(input: DescMessage, output: DescMessage): Codec {
  const read = createJsonDecoder(input);
  return { decode: (body) => decodeJson(body, input, read), encode: createTurnEncoder(output, "json") };
}

/** Bodies of this size and larger are decoded over several turns of the event loop. */
const largeBytes = 64 * 1024;

export function protoCodec(input: DescMessage, output: DescMessage): Codec {
  const parseInTurns = createBinaryDecoder(input);
  return {
    decode(body) {
      scanBinary(input, body);
      return body.length < largeBytes ? readBinary(input, body) : readLarge(input, body, parseInTurns);
    },
    encode: createBinaryEncoder(output),
  };
}

function readBinary(desc: DescMessage, body: Buffer): Message {
  try {
    return checked(desc, body, fromBinary(desc, body, { readUnknownFields: false }));
  } catch (cause) {
    throw cause instanceof Failure ? cause : malformed(cause);
  }
}

async function readLarge(desc: DescMessage, body: Buffer, parseInTurns: (body: Buffer) => Promise<Message>) {
  await nextTurn();
  const message = await parseInTurns(body).catch((cause) => Promise.reject(malformed(cause)));
  await nextTurn();
  return checked(desc, body, message);
}

function checked(desc: DescMessage, body: Buffer, message: Message): Message {
  const violation = findInvalidValue(desc, message);
  if (violation !== undefined) throw invalid(violation.field, violation.rule, violation.message);
  // A body without a zero byte has no string with U+0000. Otherwise the strings must be checked.
  const path = body.includes(0) ? findNul(desc, message) : undefined;
  if (path !== undefined) throw invalid(path, "string.well_formed", "must not contain U+0000");
  return message;
}
