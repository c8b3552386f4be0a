/** How a text's letters are to stand; empty for as they are. */
export type Casing = "" | "upper" | "lower" | "title" | "sentence";

const words = /\p{L}[\p{L}\p{M}\p{N}'’]*/gu;
const sentenceStarts = /(^|[.!?…]\s+)(\P{L}?)(\p{L})/gu;

/** A text in another casing, by the rules of a language. */
export function applyCasing(text: string, casing: Casing, locale?: string): string {
  switch (casing) {
    case "":
      return text;
    case "upper":
      return upperCase(text, locale);
    case "lower":
      return lowerCase(text, locale);
    case "title":
      return lowerCase(text, locale).replace(words, (word) => capitalized(word, locale));
    case "sentence":
      return lowerCase(text, locale).replace(
        sentenceStarts,
        (_, before: string, quote: string, letter: string) => before + quote + upperCase(letter, locale),
      );
    default:
      casing satisfies never;
      return text;
  }
}

/** Capital letters, by the rules of a language where it is known. */
export function upperCase(text: string, locale?: string): string {
  return text.toLocaleUpperCase(knownLocale(locale));
}

/** Small letters, by the rules of a language where it is known. */
export function lowerCase(text: string, locale?: string): string {
  return text.toLocaleLowerCase(knownLocale(locale));
}

/** Only these have rules of their own, and asking for others costs. */
const ownRules = new Set(["az", "el", "lt", "tr"]);

function knownLocale(locale: string | undefined): string {
  const language = locale?.slice(0, 2).toLowerCase() ?? "";
  return ownRules.has(language) ? language : "en";
}

function capitalized(word: string, locale: string | undefined): string {
  const first = String.fromCodePoint(word.codePointAt(0)!);
  return upperCase(first, locale) + word.slice(first.length);
}
