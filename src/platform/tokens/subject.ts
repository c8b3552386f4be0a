const charsMax = 255;
// Control characters cannot be stored, and ill-formed Unicode would not be stored unchanged.
const controlCharacter = /\p{Cc}/u;

/** Whether a claim is a valid subject: not empty, storable, and no longer than OpenID Connect allows. */
export function isSubject(claim: unknown): claim is string {
  return typeof claim === "string" && claim !== "" && claim.length <= charsMax && isStorable(claim);
}

/** Whether text can be stored and read back unchanged. */
export function isStorable(text: string): boolean {
  return text.isWellFormed() && !controlCharacter.test(text);
}
