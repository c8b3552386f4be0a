import { type DescMessage, fromBinary, type Message, toBinary } from "@bufbuild/protobuf";
import { invalid } from "../../../errors/index.ts";
import { createJsonDecoder, createTurnEncoder } from "../../../platform/protojson/index.ts";
import { decodeJson } from "../../decode-json.ts";
import { findInvalidValue } from "../invalid-value.ts";
import { findNul } from "./nul.ts";
import { malformed, scanBinary } from "./scan-binary.ts";

/** Decodes the requests and encodes the responses of one method in one format. */
export interface Codec {
  decode(body: Buffer): Message | Promise<Message>;
  /** Long lists are encoded over several turns of the event loop, as a promise. */
  encode(message: Message): string | Uint8Array | Promise<string>;
}

/** Creates the JSON codec, with the lowerCamelCase names of Connect and gRPC. */
export function jsonCodec(input: DescMessage, output: DescMessage): Codec {
  const read = createJsonDecoder(input);
  return { decode: (body) => decodeJson(body, input, read), encode: createTurnEncoder(output, "json") };
}

/** Creates the binary codec. */
export function protoCodec(input: DescMessage, output: DescMessage): Codec {
  return { decode: (body) => readBinary(input, body), encode: (message) => toBinary(output, message) };
}

function readBinary(desc: DescMessage, body: Buffer): Message {
  scanBinary(desc, body);
  const message = parseBinary(desc, body);
  const violation = findInvalidValue(desc, message);
  if (violation !== undefined) throw invalid(violation.field, violation.rule, violation.message);
  // A body without a zero byte has no string with U+0000. Otherwise the strings must be checked.
  const path = body.includes(0) ? findNul(desc, message) : undefined;
  if (path !== undefined) throw invalid(path, "string.well_formed", "must not contain U+0000");
  return message;
}

function parseBinary(desc: DescMessage, body: Buffer): Message {
  try {
    return fromBinary(desc, body, { readUnknownFields: false });
  } catch (cause) {
    throw malformed(cause);
  }
}
