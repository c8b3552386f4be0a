import { hash } from "node:crypto";

/**
 * The digest under which a unit is stored, 128 bits in hexadecimal. The salt differs per experiment, so that digests of two
 * experiments cannot be joined, and has a fixed length, so that the text is unambiguous.
 */
export function unitHashOf(salt: string, unit: string): string {
  return hash("sha256", salt + unit, "hex").slice(0, 32);
}
