import { createHash } from "node:crypto";
import { type ExpectedBody, ObjectMismatch } from "./object-store.ts";

/** Reads a body to its end. Throws ObjectMismatch if it is not the expected one. */
export async function verifyBody(body: AsyncIterable<Uint8Array>, expected: ExpectedBody): Promise<void> {
  for await (const _ of verifiedBody(body, expected));
}

/**
 * Passes a body on while it checks its size and digest. The last part is passed on only if the whole body is the expected
 * one, so that a receiver which waits for all bytes never accepts a wrong body.
 */
export async function* verifiedBody(
  body: AsyncIterable<Uint8Array>,
  { sizeBytes, sha256 }: ExpectedBody,
): AsyncGenerator<Uint8Array> {
  const hash = createHash("sha256");
  let received = 0;
  let held: Uint8Array | undefined;
  for await (const part of body) {
    if (part.length === 0) continue;
    received += part.length;
    if (received > sizeBytes) throw new ObjectMismatch("too_long");
    hash.update(part);
    if (held !== undefined) yield held;
    held = part;
  }
  if (received < sizeBytes) throw new ObjectMismatch("too_short");
  if (hash.digest("hex") !== sha256) throw new ObjectMismatch("digest");
  if (held !== undefined) yield held;
}
