/**
 * Conversion of RE2 patterns to JavaScript regular expressions.
 *
 * Definitions use RE2, which every protovalidate implementation supports. Constructs with a different meaning in JavaScript are
 * translated. Constructs that RE2 lacks, or that could take exponential time in JavaScript, are rejected at compile time.
 */

const translations: Readonly<Record<string, { readonly inClass: string | undefined; readonly outside: string }>> = {
  s: { inClass: "\\t\\n\\f\\r ", outside: "[\\t\\n\\f\\r ]" },
  S: { inClass: undefined, outside: "[^\\t\\n\\f\\r ]" },
};
const escapesOfBoth = /[dDwWbBtnrfvxpP^$\\.*+?()[\]{}|/-]/;
const openQuantifier = /^(?:[*+]|\{\d+,\})/;

/** Compiles an RE2 pattern; throws if JavaScript cannot match it with the same result and in linear time. */
export function compileRe2(pattern: string): RegExp {
  return new RegExp(translate(pattern), "u");
}

function translate(pattern: string): string {
  let text = "";
  let inClass = false;
  // For each open group, and for the pattern itself: whether it contains an unbounded repetition.
  const repeats = [false];
  for (let i = 0; i < pattern.length; i++) {
    const character = pattern.charAt(i);
    if (character === "\\") {
      text += translateEscape(pattern, ++i, inClass);
    } else if (inClass) {
      inClass = character !== "]";
      text += character;
    } else {
      if (character === "[") inClass = true;
      if (character === "(") {
        if (pattern.startsWith("(?", i) && !pattern.startsWith("(?:", i))
          throw invalidPattern(pattern, pattern.slice(i, i + 4));
        repeats.push(false);
      }
      if (character === ")") closeGroup(pattern, i, repeats);
      if (openQuantifier.test(pattern.slice(i, i + 12))) repeats[repeats.length - 1] = true;
      text += character === "." ? "[^\\n]" : character;
    }
  }
  return text;
}

// A repetition of a repetition, such as (a+)+, makes a backtracking matcher take exponential time.
function closeGroup(pattern: string, at: number, repeats: boolean[]): void {
  const inner = repeats.pop();
  const outer = repeats.length - 1;
  if (inner && openQuantifier.test(pattern.slice(at + 1, at + 13))) {
    throw invalidPattern(pattern, "a repetition of a repetition");
  }
  if (inner && outer >= 0) repeats[outer] = true;
}

function translateEscape(pattern: string, at: number, inClass: boolean): string {
  const character = pattern.charAt(at);
  const translation = translations[character];
  if (translation !== undefined) {
    const text = inClass ? translation.inClass : translation.outside;
    if (text !== undefined) return text;
  } else if (escapesOfBoth.test(character)) {
    return `\\${character}`;
  }
  throw invalidPattern(pattern, `\\${character}`);
}

function invalidPattern(pattern: string, construct: string): Error {
  return new Error(`The pattern ${pattern} uses ${construct}, which is not allowed in definitions.`);
}
