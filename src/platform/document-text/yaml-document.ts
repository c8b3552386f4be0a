import { isScalar, LineCounter, parseDocument, visit } from "yaml";

/** A YAML text as a value, or what is wrong with it. */
export type YamlResult =
  | { readonly value: unknown }
  | { readonly problem: string; readonly position?: { readonly line: number; readonly column: number } | undefined };

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
