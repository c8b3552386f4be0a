import { badRequest } from "./scim-error.ts";

/** A comparison operator of RFC 7644. */
export type CompareOperator = "eq" | "ne" | "co" | "sw" | "ew" | "gt" | "ge" | "lt" | "le";

/** A value that attributes are compared with. */
export type CompareValue = string | number | boolean | null;

/** A parsed filter. */
export type Filter =
  | { readonly op: "and" | "or"; readonly filters: readonly Filter[] }
  | { readonly op: "not"; readonly filter: Filter }
  | { readonly op: "pr"; readonly path: string }
  | { readonly op: CompareOperator; readonly path: string; readonly value: CompareValue }
  /** The elements of a multi-valued attribute that match, and optionally a condition on one of their sub-attributes. */
  | { readonly op: "[]"; readonly path: string; readonly filter: Filter; readonly elementFilter: Filter | undefined };

/** The path of a PATCH operation: an attribute, optionally elements of it, and a sub-attribute of those. */
export interface PatchPath {
  readonly path: string;
  readonly filter: Filter | undefined;
  /** The sub-attribute behind a filter; one without a filter is part of the path. */
  readonly sub: string | undefined;
}

const operators = new Set(["eq", "ne", "co", "sw", "ew", "gt", "ge", "lt", "le"]);
const charsMax = 4096;
const depthMax = 32;
const tokenPattern =
  /\s*(?:([()[\]])|("(?:[^"\\]|\\.)*")|((?:urn:[A-Za-z0-9:._-]+|[A-Za-z$][A-Za-z0-9$_-]*)(?:\.[A-Za-z$][A-Za-z0-9$_-]*)?)|(-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)|(\.))/y;

type Token =
  | { readonly kind: "mark"; readonly text: string; readonly isAttached: boolean }
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "word"; readonly text: string }
  | { readonly kind: "number"; readonly text: string };

/** Parses a filter; throws invalidFilter if it does not follow RFC 7644. */
export function parseFilter(text: string): Filter {
  const parser = createParser(text, "invalidFilter");
  const filter = parser.or(0);
  parser.end();
  return filter;
}

/** Parses the path of a PATCH operation; throws invalidPath if it does not follow RFC 7644. */
export function parsePatchPath(text: string): PatchPath {
  const parser = createParser(text, "invalidPath");
  return parser.patchPath();
}

function createParser(text: string, fault: "invalidFilter" | "invalidPath") {
  if (text.length > charsMax) throw badRequest(fault, `A filter must have at most ${charsMax} characters.`);
  const tokens = tokensOf(text, fault);
  let at = 0;
  const peek = () => tokens[at];
  const isWord = (word: string) => {
    const token = peek();
    return token?.kind === "word" && token.text.toLowerCase() === word;
  };
  const isMark = (mark: string) => {
    const token = peek();
    return token?.kind === "mark" && token.text === mark;
  };
  function expect(mark: string): void {
    if (!isMark(mark)) throw wrong(`"${mark}" is missing`);
    at++;
  }
  function wrong(what: string) {
    return badRequest(fault, `${fault === "invalidFilter" ? "The filter" : "The path"} cannot be read: ${what}.`);
  }

  function or(depth: number): Filter {
    return joined("or", depth, and);
  }

  function and(depth: number): Filter {
    return joined("and", depth, term);
  }

  function joined(op: "and" | "or", depth: number, next: (depth: number) => Filter): Filter {
    const filters = [next(depth)];
    while (isWord(op)) {
      at++;
      filters.push(next(depth));
    }
    return filters.length === 1 ? filters[0]! : { op, filters };
  }

  function term(depth: number): Filter {
    if (depth > depthMax) throw wrong("it is nested too deeply");
    if (isWord("not") && tokens[at + 1]?.text === "(") {
      at += 2;
      const filter = or(depth + 1);
      expect(")");
      return { op: "not", filter };
    }
    if (isMark("(")) {
      at++;
      const filter = or(depth + 1);
      expect(")");
      return filter;
    }
    return condition(depth);
  }

  function condition(depth: number): Filter {
    const path = attributePath();
    if (isMark("[")) {
      at++;
      const filter = or(depth + 1);
      expect("]");
      const sub = subAttribute();
      return { op: "[]", path, filter, elementFilter: sub === undefined ? undefined : comparison(sub) };
    }
    return comparison(path);
  }

  function comparison(path: string): Filter {
    const token = peek();
    const op = token?.kind === "word" ? token.text.toLowerCase() : "";
    if (op === "pr") {
      at++;
      return { op, path };
    }
    if (!operators.has(op)) throw wrong(`${path} must be followed by an operator such as eq or pr`);
    at++;
    return { op: op as CompareOperator, path, value: value() };
  }

  function attributePath(): string {
    const token = peek();
    if (token?.kind !== "word") throw wrong("the name of an attribute is missing");
    at++;
    return token.text;
  }

  /** A sub-attribute behind the filter of elements: `.value`. */
  function subAttribute(): string | undefined {
    const token = peek();
    if (token?.kind !== "mark" || token.text !== "." || !token.isAttached) return undefined;
    at++;
    return attributePath();
  }

  function value(): CompareValue {
    const token = peek();
    at++;
    if (token?.kind === "text") return textOf(token.text);
    if (token?.kind === "number") return Number(token.text);
    const word = token?.kind === "word" ? token.text.toLowerCase() : "";
    if (word === "true" || word === "false") return word === "true";
    if (word === "null") return null;
    throw wrong("a value is missing");
  }

  function textOf(quoted: string): string {
    let text: string;
    try {
      text = JSON.parse(quoted) as string;
    } catch {
      throw wrong("a text must be written as in JSON");
    }
    // No attribute has such a text, and the database refuses it.
    if (text.includes("\0") || !text.isWellFormed()) {
      throw wrong("a text must not contain U+0000 or unpaired surrogates");
    }
    return text;
  }

  function end(): void {
    if (at < tokens.length) throw wrong(`${tokens[at]!.text} was not expected`);
  }

  return {
    or,
    end,
    patchPath(): PatchPath {
      const path = attributePath();
      if (!isMark("[")) {
        end();
        return { path, filter: undefined, sub: undefined };
      }
      at++;
      const filter = or(0);
      expect("]");
      const sub = subAttribute();
      end();
      return { path, filter, sub };
    },
  };
}

function tokensOf(text: string, fault: "invalidFilter" | "invalidPath"): Token[] {
  const tokens: Token[] = [];
  tokenPattern.lastIndex = 0;
  const trimmed = text.trimEnd();
  while (tokenPattern.lastIndex < trimmed.length) {
    const start = tokenPattern.lastIndex;
    const match = tokenPattern.exec(trimmed);
    if (match === null) {
      throw badRequest(fault, `The filter cannot be read at character ${start + 1}.`);
    }
    const [whole, mark, quoted, word, number, dot] = match;
    if (mark !== undefined) tokens.push({ kind: "mark", text: mark, isAttached: false });
    else if (quoted !== undefined) tokens.push({ kind: "text", text: quoted });
    else if (word !== undefined) tokens.push({ kind: "word", text: word });
    else if (number !== undefined) tokens.push({ kind: "number", text: number });
    else tokens.push({ kind: "mark", text: dot!, isAttached: !/^\s/.test(whole) });
  }
  return tokens;
}
