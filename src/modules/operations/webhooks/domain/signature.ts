/** The bytes of a new secret. */
export const secretBytes = 32;

/** A secret as callers get it, in the form of Standard Webhooks. */
export function secretText(random: Uint8Array): string {
  return `whsec_${Buffer.from(random).toString("base64")}`;
}
