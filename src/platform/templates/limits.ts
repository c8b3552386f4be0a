import { type Position, TemplateError } from "./template-error.ts";

/**
 * The limits of a template. Work is counted in steps, because rendering blocks the event loop. A step is the lookup, comparison
 * or output of a value, or the processing of about sixteen characters.
 */
export const limits = {
  /** Characters of a template. */
  sourceMax: 256 * 1024,
  /** Characters of one tag. */
  tagLengthMax: 4096,
  /** Tokens in all tags; the parsers take a few microseconds for each. */
  tokensMax: 6000,
  /** Nesting depth of blocks and expressions. */
  depthMax: 64,
  /** Levels of partials that include each other. */
  partialDepthMax: 8,
  /** Steps of one rendering. This is about 1 to 8 ms, because a rendering cannot be interrupted. */
  workMax: 50_000,
  /** Default limit for the output in bytes. */
  bytesMax: 1024 * 1024,
} as const;

/** The size of each engine's cache of partials, in characters of source. */
export const partialCharactersMax = 4 * 1024 * 1024;
/** The memory of a compiled partial in addition to its source, in characters. */
export const partialWeight = 2000;

const comment = /\{\{~?!/y;
const rawTag = /\{%-?\s*raw\s*-?%\}/y;

/** Rejects a template that would take too long to parse, before it is parsed. */
export function checkSource(source: string, engine: "handlebars" | "liquid"): void {
  if (source.length > limits.sourceMax) {
    throw new TemplateError("too_large", `The template has more than ${limits.sourceMax} characters.`);
  }
  const nesting = new Nesting();
  let tokens = 0;
  const nextTag = createTagFinder(source, engine === "handlebars" ? ["{{"] : ["{{", "{%"]);
  for (let at = nextTag(0); at >= 0; ) {
    const end = tagEnd(source, at);
    if (isSkipped(source, at)) tokens += 4;
    else {
      if (end - at > limits.tagLengthMax) {
        throw limitExceeded(
          `a tag of more than ${limits.tagLengthMax} characters, or a tag that is not closed`,
          source,
          at,
        );
      }
      tokens += countTokens(source, at, end);
      if (engine === "handlebars") nesting.pass(source, at);
    }
    if (tokens > limits.tokensMax) throw limitExceeded(`more than ${limits.tokensMax} tokens in its tags`, source, at);
    if (nesting.depth > limits.depthMax)
      throw limitExceeded(`blocks that are nested more than ${limits.depthMax} levels deep`, source, at);
    at = nextTag(end);
  }
}

const opens = /\{\{~?[#^]/y;
const closes = /\{\{~?\//y;
const chains = /\{\{~?\s*else\s+[^~}\s]/y;

/** Tracks the nesting depth of blocks. Handlebars' whitespace handling takes time quadratic in it. */
class Nesting {
  depth = 0;
  /** The number of `else if` in each open block; each is a block nested in the previous one. */
  readonly #chained: number[] = [];

  pass(source: string, at: number): void {
    if (matches(opens, source, at)) {
      this.depth++;
      this.#chained.push(0);
    } else if (matches(closes, source, at)) {
      this.depth -= 1 + (this.#chained.pop() ?? -1);
    } else if (this.#chained.length > 0 && matches(chains, source, at)) {
      this.depth++;
      this.#chained[this.#chained.length - 1]!++;
    }
  }
}

function countTokens(source: string, from: number, end: number): number {
  let tokens = 0;
  let before: Kind | undefined;
  for (let at = from; at < end; at++) {
    const kind = kindOf(source.charCodeAt(at));
    if (kind === "sign" || kind !== before) tokens++;
    before = kind;
  }
  return tokens;
}

type Kind = "word" | "gap" | "sign";

function kindOf(code: number): Kind {
  if (code <= 32) return "gap";
  const isWord = (code >= 48 && code <= 57) || (code >= 65 && code <= 90) || (code >= 97 && code <= 122);
  return isWord || code === 95 || code > 127 ? "word" : "sign";
}

/** Converts an offset to a position. */
function positionAt(source: string, offset: number): Position {
  const before = source.slice(0, offset);
  return { line: before.split("\n").length, column: offset - before.lastIndexOf("\n") };
}

/** Creates a function that finds the next tag. A missing opener is searched for only once. */
function createTagFinder(source: string, openers: readonly string[]): (from: number) => number {
  const found = openers.map(() => 0);
  return (from) => {
    let nearest = -1;
    for (const [index, opener] of openers.entries()) {
      if (found[index]! >= 0 && found[index]! <= from) found[index] = source.indexOf(opener, from);
      const at = found[index]!;
      if (at >= 0 && (nearest < 0 || at < nearest)) nearest = at;
    }
    return nearest;
  };
}

/** Whether a tag is a comment or raw text, which is not parsed and may therefore be long. */
function isSkipped(source: string, at: number): boolean {
  return matches(comment, source, at) || matches(rawTag, source, at);
}

function tagEnd(source: string, at: number): number {
  const closer = closerOf(source, at);
  const end = source.indexOf(closer, at + 2);
  return end < 0 ? source.length : end + closer.length;
}

function closerOf(source: string, at: number): string {
  if (source.startsWith("{{!--", at) || source.startsWith("{{~!--", at)) return "--";
  if (matches(rawTag, source, at)) return "endraw";
  return source.startsWith("{{", at) ? "}}" : "%}";
}

function matches(pattern: RegExp, source: string, at: number): boolean {
  pattern.lastIndex = at;
  return pattern.test(source);
}

function limitExceeded(what: string, source: string, offset: number): TemplateError {
  return new TemplateError("limit_exceeded", `The template has ${what}.`, positionAt(source, offset));
}
