/** The length of a new secret, in bytes. */
export const secretBytes = 32;

/** Formats a secret as Standard Webhooks specifies. */
export function secretText(random: Uint8Array): string {
  return `whsec_${Buffer.from(random).toString("base64")}`;
}
