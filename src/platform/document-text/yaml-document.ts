import { isMap, isNode, isScalar, isSeq, LineCounter, parseDocument, visit } from "yaml";
import { memberPath, type TextPosition } from "../document/index.ts";

/** A YAML text as a value, or what is wrong with it. */
export type YamlResult =
  | { readonly value: unknown }
  | { readonly problem: string; readonly position?: TextPosition | undefined };

// YAML aliases can repeat large values many times.
const aliasesMax = 100;
const tooDeep = "is nested too deeply";

/** Reads a YAML text. It may take seconds for a large text. */
export function readYaml(text: string): YamlResult {
  const lines = new LineCounter();
  const problemAt = (problem: string, offset: number | undefined): YamlResult => {
    const at = offset === undefined ? undefined : lines.linePos(offset);
    return { problem: problem.slice(0, 500), position: at && { line: at.line, column: at.col } };
  };
  try {
    // The library compares all pairs of keys to find duplicates, which is slow for large maps; see findInvalidKey.
    const document = parseDocument(text, { lineCounter: lines, uniqueKeys: false, prettyErrors: false });
    const [error] = document.errors;
    if (error?.code === "RESOURCE_EXHAUSTION") return problemAt(tooDeep, error.pos[0]);
    if (error !== undefined) return problemAt(error.message, error.pos[0]);
    const invalidKey = findInvalidKey(document);
    if (invalidKey !== undefined) return problemAt(invalidKey.problem, invalidKey.offset);
    return { value: document.toJS({ maxAliasCount: aliasesMax }) };
  } catch (error) {
    if (error instanceof ReferenceError) return { problem: aliasProblem(error) };
    // A stack overflow.
    if (error instanceof RangeError) return { problem: tooDeep };
    throw error;
  }
}

/** Finds members of a YAML or JSON text by their paths. A path that names none is at the innermost member around it. */
export function locateYaml(text: string, paths: readonly string[]): readonly TextPosition[] {
  const lines = new LineCounter();
  const { contents } = parseDocument(text, { lineCounter: lines, uniqueKeys: false, prettyErrors: false });
  const found = new Map<string, number>();
  const search = (node: unknown, path: string, wanted: readonly string[]) => {
    for (const [memberOf, at, value] of membersOf(node)) {
      const member = memberOf(path);
      const inside = wanted.filter((each) => isWithin(each, member));
      if (inside.length === 0) continue;
      for (const each of inside) found.set(each, at);
      search(value, member, inside);
    }
  };
  search(contents, "", paths);
  return paths.map((path) => {
    const { line, col } = lines.linePos(found.get(path) ?? contents?.range[0] ?? 0);
    return { line, column: col };
  });
}

type Member = readonly [pathIn: (path: string) => string, offset: number, value: unknown];

function membersOf(node: unknown): readonly Member[] {
  const offsetOf = (each: unknown) => (isNode(each) ? each.range?.[0] : undefined) ?? 0;
  if (isSeq(node)) return node.items.map((item, at) => [(path) => `${path}[${at}]`, offsetOf(item), item]);
  if (!isMap(node)) return [];
  return node.items.map(({ key, value }) => {
    const name = String(isScalar(key) ? key.value : key);
    return [(path) => memberPath(path, name), offsetOf(key), value];
  });
}

function isWithin(path: string, outer: string): boolean {
  return path.startsWith(outer) && (path.length === outer.length || /[.[]/.test(path[outer.length]!));
}

function aliasProblem({ message }: ReferenceError): string {
  return message.startsWith("Unresolved alias")
    ? "must name an anchor that is set before with each alias"
    : `must not use more than ${aliasesMax} aliases`;
}

/** A key that is used twice or is not a text. */
function findInvalidKey(document: ReturnType<typeof parseDocument>) {
  let found: { readonly problem: string; readonly offset: number | undefined } | undefined;
  visit(document, {
    Map(_key, map) {
      const seen = new Set<string>();
      for (const { key } of map.items) {
        if (!isScalar(key)) found = { problem: "A key must be a text.", offset: map.range?.[0] };
        else if (seen.has(String(key.value))) {
          found = { problem: `The key ${String(key.value)} is used twice.`, offset: key.range?.[0] };
        } else {
          seen.add(String(key.value));
          continue;
        }
        return visit.BREAK;
      }
      return undefined;
    },
  });
  return found;
}
