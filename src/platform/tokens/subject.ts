const charsMax = 255;
// Control characters cannot be stored, and ill-formed text would be stored as something else.
const controlCharacter = /\p{Cc}/u;

/** Whether a claim is text that can name somebody: not empty, storable, and as long as OpenID Connect allows. */
export function isSubject(claim: unknown): claim is string {
  return typeof claim === "string" && claim !== "" && claim.length <= charsMax && isStorable(claim);
}

/** Whether text can be stored and read back unchanged. */
export function isStorable(text: string): boolean {
  return text.isWellFormed() && !controlCharacter.test(text);
}
