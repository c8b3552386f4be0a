import { createHmac, createSecretKey, timingSafeEqual } from "node:crypto";
import { fail } from "../../errors/index.ts";

/** Signs texts that leave the service and must come back unchanged. */
export interface Signer {
  /** Bytes of a signature. */
  readonly signatureBytes: number;
  sign(text: string | Uint8Array): Buffer;
  /** Compares in constant time. */
  verify(text: string | Uint8Array, signature: Uint8Array): boolean;
}

// Half of HMAC-SHA-256's output: 128 bits cannot be guessed, and keeps tokens short.
const signatureBytes = 16;

/** A signer over HMAC-SHA-256, cut to 128 bits. The secret must be 32 bytes or more, and used for one purpose only. */
export function createSigner(secret: Buffer): Signer {
  if (secret.length < 32) {
    throw fail("FAILED_PRECONDITION", {
      public: `A signing secret of ${secret.length} bytes is too short; give 32 or more.`,
    });
  }
  // A key object, because bare bytes are turned into one on every call, at many times the cost of the HMAC.
  const key = createSecretKey(secret);
  const sign = (text: string | Uint8Array): Buffer =>
    createHmac("sha256", key).update(text).digest().subarray(0, signatureBytes);
  return {
    signatureBytes,
    sign,
    verify: (text, signature) => signature.length === signatureBytes && timingSafeEqual(sign(text), signature),
  };
}
