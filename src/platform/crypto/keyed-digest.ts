import { hash, randomBytes } from "node:crypto";

/** Maps a text to a fingerprint of 64 hex digits. */
export type KeyedDigest = (text: string) => string;

/**
 * A digest under a key that only this process has, for caches that must not hold the secret itself.
 *
 * SHA-512/256 with the key in front is a sound MAC (its truncation rules out length extension, which plain SHA-256
 * would allow), and the one-shot call costs about a third of an HMAC object.
 */
export function createKeyedDigest(): KeyedDigest {
  const key = randomBytes(32).toString("hex");
  return (text) => hash("sha512-256", key + text, "hex");
}
