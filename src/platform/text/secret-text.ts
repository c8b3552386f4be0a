/**
 * A shorter secret occurs in texts by chance; replacing it would destroy them and reveal it by its gaps. Secrets that callers
 * enter must be this long, because a shorter one could not be redacted.
 */
export const secretLengthMin = 4;

/** Why a secret is not accepted; undefined if it is. */
export function secretProblem(secret: string): string | undefined {
  if (secret.length >= secretLengthMin) return undefined;
  return `must have at least ${secretLengthMin} characters: a shorter secret cannot be removed from what providers answer`;
}
