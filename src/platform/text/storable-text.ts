/**
 * A text of another system in a form that every column can store. PostgreSQL stores no NUL characters and JSON no halves of
 * surrogate pairs, and other control characters help nobody.
 */
export function storableText(text: string): string {
  return text.replace(/[\x00-\x1f\x7f]+/g, " ").toWellFormed();
}
