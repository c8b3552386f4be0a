import { hash, randomBytes } from "node:crypto";

/** Maps a text to a fingerprint of 64 hex digits. */
export type KeyedDigest = (text: string) => string;

/**
 * Creates a digest with a random key of this process, for caches that must not store the secret itself.
 *
 * SHA-512/256 with a key prefix is a sound MAC, because its truncation prevents length extension. The one-shot call costs
 * about a third of an HMAC object.
 */
export function createKeyedDigest(): KeyedDigest {
  const key = randomBytes(32).toString("hex");
  return (text) => hash("sha512-256", key + text, "hex");
}
