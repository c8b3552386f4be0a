import { createHmac, createSecretKey, timingSafeEqual } from "node:crypto";
import { fail } from "../../errors/index.ts";

/** Signs data that leaves the service and must be returned unchanged. */
export interface Signer {
  /** The length of a signature in bytes. */
  readonly signatureBytes: number;
  sign(text: string | Uint8Array): Buffer;
  /** Compares in constant time. */
  verify(text: string | Uint8Array, signature: Uint8Array): boolean;
}

// Half of HMAC-SHA-256's output. 128 bits cannot be guessed and keep tokens short.
const signatureBytes = 16;

/** Creates an HMAC-SHA-256 signer, truncated to 128 bits. The secret must have at least 32 bytes and serve only one purpose. */
export function createSigner(secret: Buffer): Signer {
  if (secret.length < 32) {
    throw fail("FAILED_PRECONDITION", {
      public: `A signing secret of ${secret.length} bytes is too short; it must have at least 32 bytes.`,
    });
  }
  // A key object is created once. From raw bytes Node would create one on every call, at many times the cost of the HMAC.
  const key = createSecretKey(secret);
  const sign = (text: string | Uint8Array): Buffer =>
    createHmac("sha256", key).update(text).digest().subarray(0, signatureBytes);
  return {
    signatureBytes,
    sign,
    verify: (text, signature) => signature.length === signatureBytes && timingSafeEqual(sign(text), signature),
  };
}
