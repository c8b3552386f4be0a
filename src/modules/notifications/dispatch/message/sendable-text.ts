/**
 * A rendered text as it is stored and sent. A template filter may have split a surrogate pair or decoded U+0000, which the
 * database or providers reject.
 */
export function toSendableText(text: string): string {
  return text.replaceAll("\0", "").toWellFormed();
}
