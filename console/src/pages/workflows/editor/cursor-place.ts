/** What a value of a YAML or JSON text is about. */
export interface CursorPlace {
  /** The members around the cursor; `[]` stands for the entries of a list. */
  readonly path: readonly string[];
  /** Whether the name of a member is written, or its value. */
  readonly kind: "key" | "value";
  /** Where the word before the cursor starts. */
  readonly from: number;
  /** Whether the text is that of a list or an object in brackets, where names have quotes and a comma follows. */
  readonly isFlow: boolean;
}

/** An entry or a member that starts in a line. */
interface Start {
  readonly indent: number;
  /** Undefined for an entry of a list. */
  readonly key: string | undefined;
}

interface Bracket {
  readonly kind: "{" | "[";
  readonly at: number;
  key: string | undefined;
}

const member = /^("(?:[^"\\]|\\.)*"|'[^']*'|[^\s"'{}[\],#:][^{}[\],#:]*?)\s*:(?=\s|$)/;

/** Finds out what somebody writes at an offset. The text is unfinished, so only what comes before is read. */
export function placeAt(text: string, offset: number): CursorPlace {
  const before = text.slice(0, offset);
  const brackets = openBrackets(before);
  const from = offset - /[\w."'-]*$/.exec(before)![0].length;
  const outer = brackets[0];
  if (outer === undefined) {
    const { path, kind } = blockPlace(before);
    return { path, kind, from, isFlow: false };
  }
  const block = before.slice(0, outer.at).trim() === "" ? [] : blockPlace(before.slice(0, outer.at)).path;
  const inner = brackets.flatMap(({ kind, key }, depth) => {
    if (kind === "[") return ["[]"];
    return key === undefined || (depth === brackets.length - 1 && key === "") ? [] : [key];
  });
  const last = brackets.at(-1)!;
  return {
    path: [...block, ...inner],
    kind: last.kind === "{" && last.key === undefined ? "key" : "value",
    from,
    isFlow: true,
  };
}

/** The brackets that are open at the end of a text, each with the member whose value is being written. */
function openBrackets(text: string): readonly Bracket[] {
  const open: Bracket[] = [];
  const token = /"(?:[^"\\\n]|\\.)*"?|'[^'\n]*'?|(?:^|(?<=\s))#[^\n]*|[{}[\],]|:(?=\s|$)|[^\s"'{}[\],:#]+|./g;
  let word = "";
  for (const { 0: part, index } of text.matchAll(token)) {
    const top = open.at(-1);
    if (part.startsWith("#")) continue;
    if (part === "{" || part === "[") {
      // In a block, a bracket starts a value. In the middle of a text it is a part of it, such as in `=input["a"]`.
      if (top === undefined && word !== "") continue;
      open.push({ kind: part, at: index, key: undefined });
      word = "";
    } else if (part === "}" || part === "]") {
      open.pop();
      word = "";
    } else if (part === ":" && top?.kind === "{" && top.key === undefined) {
      top.key = unquoted(word);
      word = "";
    } else if (part === ",") {
      if (top !== undefined) top.key = undefined;
      word = "";
    } else if (part === ":" || part === "-" || part === "\n") word = "";
    else if (part.trim() !== "") word = top === undefined && /^[-:]$/.test(part) ? "" : part;
  }
  return open;
}

function blockPlace(before: string): Pick<CursorPlace, "path" | "kind"> {
  const lines = before.split("\n");
  const line = lines.at(-1)!;
  const starts = startsOf(line);
  const own = starts.at(-1);
  const isValue = own?.key !== undefined;
  const path: string[] = [];
  let limit = isValue ? Number.POSITIVE_INFINITY : contentIndent(line);
  for (let at = lines.length - 1; at >= 0; at--) {
    const found = at === lines.length - 1 ? starts : startsOf(lines[at]!);
    for (const { indent, key } of found.toReversed()) {
      // A list may start at the same column as the member that it is the value of.
      if (indent > limit || (indent === limit && !(path[0] === "[]" && key !== undefined))) continue;
      path.unshift(key ?? "[]");
      limit = indent;
    }
  }
  return { path, kind: isValue ? "value" : "key" };
}

/** The entries and the member that start in a line, from left to right. */
function startsOf(line: string): readonly Start[] {
  const starts: Start[] = [];
  let at = line.length - line.trimStart().length;
  if (line[at] === "#") return [];
  for (let dash = /^-(\s+|$)/.exec(line.slice(at)); dash !== null; dash = /^-(\s+|$)/.exec(line.slice(at))) {
    starts.push({ indent: at, key: undefined });
    at += dash[0].length;
  }
  const key = member.exec(line.slice(at))?.[1];
  if (key !== undefined) starts.push({ indent: at, key: unquoted(key) });
  return starts;
}

/** The column at which the words of a line start, behind the signs of entries. */
function contentIndent(line: string): number {
  return /^\s*(?:-\s+)*/.exec(line)![0].length;
}

function unquoted(key: string): string {
  return /^(["']).*\1$/s.test(key) ? key.slice(1, -1) : key.trim();
}
