import { hash } from "node:crypto";
import { canonicalJson } from "../crypto/index.ts";

/** Computes a short hash of a list's filter and order. The order of object members does not matter. */
export function filterHash(values: Readonly<Record<string, unknown>> | readonly unknown[]): string {
  // 16 bytes are enough, because the hash is signed with the rest of the cursor and only distinguishes filters.
  return hash("sha256", canonicalJson(values), "base64url").slice(0, 22);
}
