import { type Position, TemplateError } from "./template-error.ts";

/**
 * What a template may ask for. Work is counted, since the process serves others meanwhile: a step is a value that is
 * looked up, compared or written, or some sixteen characters that are gone through.
 */
export const limits = {
  /** Characters of a template. */
  sourceMax: 256 * 1024,
  /** Characters of one tag. */
  tagLengthMax: 4096,
  /** Words, signs and gaps in tags altogether: a parser takes some microseconds for each. */
  tokensMax: 6000,
  /** Blocks within blocks, and expressions within expressions. */
  depthMax: 64,
  /** Steps of one rendering: some 1 to 8 ms, since it cannot be interrupted. */
  workMax: 50_000,
  /** Bytes of what is made, unless the caller says otherwise. */
  bytesMax: 1024 * 1024,
} as const;

const comment = /\{\{~?!/y;
const rawTag = /\{%-?\s*raw\s*-?%\}/y;

/** Refuses what would keep a parser busy, before it sees any of it. */
export function checkSource(source: string, engine: "handlebars" | "liquid"): void {
  if (source.length > limits.sourceMax) {
    throw new TemplateError("too_large", `The template has more than ${limits.sourceMax} characters.`);
  }
  const nesting = new Nesting();
  let tokens = 0;
  const nextTag = tagFinder(source, engine === "handlebars" ? ["{{"] : ["{{", "{%"]);
  for (let at = nextTag(0); at >= 0; ) {
    const end = tagEnd(source, at);
    if (skipped(source, at)) tokens += 4;
    else {
      if (end - at > limits.tagLengthMax) {
        throw over(`a tag of more than ${limits.tagLengthMax} characters, or one that is not closed`, source, at);
      }
      tokens += tokensIn(source, at, end);
      if (engine === "handlebars") nesting.pass(source, at);
    }
    if (tokens > limits.tokensMax) throw over("too much in its tags", source, at);
    if (nesting.depth > limits.depthMax) throw over(`blocks that are more than ${limits.depthMax} deep`, source, at);
    at = nextTag(end);
  }
}

const opens = /\{\{~?[#^]/y;
const closes = /\{\{~?\//y;
const chains = /\{\{~?\s*else\s+[^~}\s]/y;

/** How deep blocks lie in each other: Handlebars takes the square of that to tidy the space around them. */
class Nesting {
  depth = 0;
  /** How many `else if` each open block has: each is a block in the one before it. */
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

function tokensIn(source: string, from: number, end: number): number {
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

/** The position of an offset. */
function positionAt(source: string, offset: number): Position {
  const before = source.slice(0, offset);
  return { line: before.split("\n").length, column: offset - before.lastIndexOf("\n") };
}

/** Finds tags one after the other; what is not there is looked for once only. */
function tagFinder(source: string, openers: readonly string[]): (from: number) => number {
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

/** Comments and raw text are not looked into, so they may be long. */
function skipped(source: string, at: number): boolean {
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

function over(what: string, source: string, offset: number): TemplateError {
  return new TemplateError("limit_exceeded", `The template has ${what}.`, positionAt(source, offset));
}
