import { setImmediate as nextTurn } from "node:timers/promises";
import type { Message } from "@bufbuild/protobuf";

/** Bodies of this size and larger are decoded over several turns of the event loop. */
const largeBytes = 64 * 1024;

/**
 * Parses a body and decodes its JSON. Each step takes about 10 ms per megabyte, so a large body yields to the event loop
 * after each step.
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
