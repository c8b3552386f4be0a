/** A way to repair a text: it returns the text with the repair, or the same text if it does not apply. */
export type TextRepair = (text: string, problem: string) => string;

const textCharactersMax = 4000;
const repairsMax = 6;

/**
 * Repairs a text that a language refuses, one problem after another, until it is accepted. `problemOf` returns what is wrong, or
 * undefined for an accepted text. It returns undefined if the repairs do not suffice.
 */
export function repairText(
  text: string,
  problemOf: (text: string) => string | undefined,
  repairs: readonly TextRepair[],
): string | undefined {
  if (text.length > textCharactersMax) return undefined;
  let current = text;
  for (let count = 0; count <= repairsMax; count++) {
    const problem = problemOf(current);
    if (problem === undefined) return current === text ? undefined : current;
    let next = current;
    for (const repair of repairs) {
      next = repair(current, problem);
      if (next !== current) break;
    }
    if (next === current || next.length > text.length + 200) return undefined;
    current = next;
  }
  return undefined;
}

const quotedOrCode = /"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[^"']+|["']/g;

/** Changes the parts of a text that are not within quotes. */
export function changeOutsideQuotes(text: string, change: (code: string) => string): string {
  return text.replaceAll(quotedOrCode, (part) => (/^["']./.test(part) ? part : change(part)));
}

const closers: Readonly<Record<string, string>> = { "(": ")", "[": "]", "{": "}" };

/** Closes the last quote and the brackets that are open, and leaves out closing brackets that nothing opens. */
export function balanceBrackets(text: string): string {
  const open: string[] = [];
  let balanced = "";
  for (const part of text.match(quotedOrCode) ?? []) {
    if (part === '"' || part === "'") return closeQuote(balanced, text.slice(balanced.length), open);
    for (const character of part) {
      if (/^["'].+/.test(part)) break;
      if (character in closers) open.push(closers[character]!);
      else if (/[)\]}]/.test(character) && open.pop() !== character) return balanced + text.slice(balanced.length + 1);
      balanced += character;
    }
    if (/^["'].+/.test(part)) balanced += part;
  }
  return balanced + open.reverse().join("");
}

/** Ends a text in quotes before the brackets at its end that close what is open. */
function closeQuote(before: string, rest: string, open: readonly string[]): string {
  const ending = /[\s)\]}]*$/.exec(rest)![0];
  const isClosing = ending.trim() !== "" && open.length > 0;
  const body = isClosing ? rest.slice(0, rest.length - ending.length) : rest.trimEnd();
  // The quote may have been meant to end anywhere.
  if (/[=<>!&|()[\]{}]/.test(body)) return before + rest;
  return before + body + rest[0]! + (isClosing ? ending : "");
}

/** Typographic quotes as plain ones. */
export function plainQuotes(text: string): string {
  return text.replaceAll(/[“”„«»]/g, '"').replaceAll(/[‘’‚]/g, "'");
}

/** Replaces a word outside of quotes. */
export function replaceWord(text: string, word: string, by: string): string {
  const escaped = word.replaceAll(/[^\w]/g, "\\$&");
  return changeOutsideQuotes(text, (code) => code.replaceAll(new RegExp(`(?<![\\w])${escaped}(?!\\w)`, "g"), () => by));
}
