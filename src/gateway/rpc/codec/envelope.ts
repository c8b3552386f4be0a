import { fail } from "../../../errors/index.ts";
import { bodyTooLarge } from "../../exchange.ts";

// An envelope is one byte of flags, four bytes of length, and the data. gRPC, gRPC-Web and Connect share the format.
const prefixBytes = 5;

/** Set on an envelope whose data is compressed. */
export const compressedFlag = 0x01;

/** One message with its flags, as sent on the wire. */
export interface Envelope {
  readonly flags: number;
  readonly data: Buffer;
}

/** Encodes data as an envelope. */
export function writeEnvelope(flags: number, data: Uint8Array | string): Buffer {
  const length = typeof data === "string" ? Buffer.byteLength(data) : data.length;
  const bytes = Buffer.allocUnsafe(prefixBytes + length);
  bytes[0] = flags;
  bytes.writeUInt32BE(length, 1);
  if (typeof data === "string") bytes.write(data, prefixBytes);
  else bytes.set(data, prefixBytes);
  return bytes;
}

/** Reads the only envelope of a complete body. */
export function readOnlyEnvelope(body: Buffer): Envelope {
  if (body.length >= prefixBytes && body.length === prefixBytes + body.readUInt32BE(1)) {
    return { flags: body[0]!, data: body.subarray(prefixBytes) };
  }
  throw fail("INVALID_ARGUMENT", { public: "The request's body must contain exactly one complete message." });
}

/** Reads envelopes from a body while it arrives. */
export async function* readEnvelopes(chunks: AsyncIterable<Buffer>, bytesMax: number): AsyncGenerator<Envelope> {
  // Chunks are joined only when they complete an envelope, so that a body sent byte by byte costs no more than another.
  let parts: Buffer[] = [];
  let size = 0;
  let needed = prefixBytes;
  for await (const chunk of chunks) {
    parts.push(chunk);
    size += chunk.length;
    if (size < needed) continue;
    let rest = Buffer.concat(parts);
    for (needed = prefixBytes; rest.length >= needed; ) {
      const length = rest.readUInt32BE(1);
      if (length > bytesMax) throw bodyTooLarge(bytesMax);
      needed = prefixBytes + length;
      if (rest.length < needed) break;
      yield { flags: rest[0]!, data: rest.subarray(prefixBytes, needed) };
      rest = rest.subarray(needed);
      needed = prefixBytes;
    }
    parts = [rest];
    size = rest.length;
  }
  if (size > 0) throw fail("INVALID_ARGUMENT", { public: "The request's body ends in the middle of a message." });
}
