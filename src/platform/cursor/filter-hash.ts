import { hash } from "node:crypto";
import { canonicalJson } from "../crypto/index.ts";

/** A short hash of a list's filter and order: equal values, in whatever member order, give equal hashes. */
export function filterHash(values: Readonly<Record<string, unknown>> | readonly unknown[]): string {
  // 16 bytes are enough: it is signed together with the rest, and only told apart, never trusted.
  return hash("sha256", canonicalJson(values), "base64url").slice(0, 22);
}
