/** The casing of a text; empty for unchanged. */
export type Casing = "" | "upper" | "lower" | "title" | "sentence";

const words = /\p{L}[\p{L}\p{M}\p{N}'’]*/gu;
const sentenceStarts = /(^|[.!?…]\s+)(\P{L}?)(\p{L})/gu;

/** Converts a text to a casing, by the rules of a language. */
export function applyCasing(text: string, casing: Casing, locale?: string): string {
  switch (casing) {
    case "":
      return text;
    case "upper":
      return upperCase(text, locale);
    case "lower":
      return lowerCase(text, locale);
    case "title":
      return lowerCase(text, locale).replace(words, (word) => capitalize(word, locale));
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

/** Converts to upper case, by the rules of a known language. */
export function upperCase(text: string, locale?: string): string {
  return text.toLocaleUpperCase(knownLocale(locale));
}

/** Converts to lower case, by the rules of a known language. */
export function lowerCase(text: string, locale?: string): string {
  return text.toLocaleLowerCase(knownLocale(locale));
}

/** Only these languages have special casing rules. A lookup of other locales would only cost time. */
const ownRules = new Set(["az", "el", "lt", "tr"]);

function knownLocale(locale: string | undefined): string {
  const language = locale?.slice(0, 2).toLowerCase() ?? "";
  return ownRules.has(language) ? language : "en";
}

function capitalize(word: string, locale: string | undefined): string {
  const first = String.fromCodePoint(word.codePointAt(0)!);
  return upperCase(first, locale) + word.slice(first.length);
}
