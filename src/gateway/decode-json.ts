import { setImmediate as nextTurn } from "node:timers/promises";
import type { DescMessage, Message } from "@bufbuild/protobuf";
import { parseJson, parseJsonInTurns } from "../platform/protojson/index.ts";

/** Bodies of this size and larger are decoded over several turns of the event loop. */
const largeBytes = 64 * 1024;

/**
 * Parses a body and decodes its JSON; `desc` is the message type of the whole body, if it has one. A large body can take
 * tens of milliseconds, so it yields to the event loop while it is checked and after each further step.
 */
export function decodeJson(body: Buffer, desc: DescMessage | undefined, decode: (json: unknown) => Message) {
  return body.length < largeBytes ? decode(parseJson(body, desc)) : decodeLarge(body, desc, decode);
}

async function decodeLarge(body: Buffer, desc: DescMessage | undefined, decode: (json: unknown) => Message) {
  const json = await parseJsonInTurns(body, desc);
  await nextTurn();
  const message = decode(json);
  await nextTurn();
  return message;
}
