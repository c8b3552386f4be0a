/**
 * RE2 patterns as JavaScript regular expressions.
 *
 * Definitions are written for RE2, which every protovalidate speaks. What JavaScript reads differently is translated;
 * what RE2 does not have, or what could make JavaScript take exponential time, is refused when the pattern is compiled.
 */

const translations: Readonly<Record<string, { readonly inClass: string | undefined; readonly outside: string }>> = {
  s: { inClass: "\\t\\n\\f\\r ", outside: "[\\t\\n\\f\\r ]" },
  S: { inClass: undefined, outside: "[^\\t\\n\\f\\r ]" },
};
const escapesOfBoth = /[dDwWbBtnrfvxpP^$\\.*+?()[\]{}|/-]/;
const openQuantifier = /^(?:[*+]|\{\d+,\})/;

/** Compiles an RE2 pattern; throws on one that JavaScript cannot run just as RE2 would, in linear time. */
export function re2Pattern(pattern: string): RegExp {
  return new RegExp(translated(pattern), "u");
}

function translated(pattern: string): string {
  let text = "";
  let inClass = false;
  // For each open group, and for the pattern itself: whether something in it repeats without a bound.
  const repeats = [false];
  for (let i = 0; i < pattern.length; i++) {
    const character = pattern.charAt(i);
    if (character === "\\") {
      text += escaped(pattern, ++i, inClass);
    } else if (inClass) {
      inClass = character !== "]";
      text += character;
    } else {
      if (character === "[") inClass = true;
      if (character === "(") {
        if (pattern.startsWith("(?", i) && !pattern.startsWith("(?:", i))
          throw refused(pattern, pattern.slice(i, i + 4));
        repeats.push(false);
      }
      if (character === ")") closeGroup(pattern, i, repeats);
      if (openQuantifier.test(pattern.slice(i, i + 12))) repeats[repeats.length - 1] = true;
      text += character === "." ? "[^\\n]" : character;
    }
  }
  return text;
}

// A repetition of a repetition, such as (a+)+, is what makes a backtracking matcher take exponential time.
function closeGroup(pattern: string, at: number, repeats: boolean[]): void {
  const inner = repeats.pop();
  const outer = repeats.length - 1;
  if (inner && openQuantifier.test(pattern.slice(at + 1, at + 13))) {
    throw refused(pattern, "a repetition of a repetition");
  }
  if (inner && outer >= 0) repeats[outer] = true;
}

function escaped(pattern: string, at: number, inClass: boolean): string {
  const character = pattern.charAt(at);
  const translation = translations[character];
  if (translation !== undefined) {
    const text = inClass ? translation.inClass : translation.outside;
    if (text !== undefined) return text;
  } else if (escapesOfBoth.test(character)) {
    return `\\${character}`;
  }
  throw refused(pattern, `\\${character}`);
}

function refused(pattern: string, construct: string): Error {
  return new Error(`the pattern ${pattern} uses ${construct}, which is not allowed in definitions`);
}
