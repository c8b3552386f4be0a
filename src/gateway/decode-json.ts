import { setImmediate as nextTurn } from "node:timers/promises";
import type { Message } from "@bufbuild/protobuf";

/** A body from this size on takes several turns of the event loop. */
const largeBytes = 64 * 1024;

/**
 * Parses a body and decodes what it holds. Each takes some 10 ms per megabyte, so others have a turn after each step of a
 * large body.
 */
export function decodeJson(
  body: Buffer,
  parse: (body: Buffer) => unknown,
  decode: (json: unknown) => Message,
): Message | Promise<Message> {
  return body.length < largeBytes ? decode(parse(body)) : decodeLarge(body, parse, decode);
}

async function decodeLarge(
  body: Buffer,
  parse: (body: Buffer) => unknown,
  decode: (json: unknown) => Message,
): Promise<Message> {
  const json = parse(body);
  await nextTurn();
  const message = decode(json);
  await nextTurn();
  return message;
}
