/** The first sentence of a comment, on one line and without its period. */
export function firstSentence(text: string): string {
  return (/^.*?[.](?=\s|$)/s.exec(text)?.[0] ?? text).replaceAll(/\s+/g, " ").replace(/\.$/, "");
}
