import { isAlias, isMap, isScalar, LineCounter, parseDocument, stringify, visit } from "yaml";
import { fail, invalid } from "../../../errors/index.ts";
import type { JsonObject } from "./domain/language/definition.ts";

/** The formats of texts. */
export type TextFormat = "yaml" | "json";

// YAML aliases can repeat large values many times.
const aliasesMax = 100;

/** Reads a YAML or JSON text. Throws INVALID_ARGUMENT with the position of a syntax error. */
export function parseText(text: string, format: TextFormat): unknown {
  return format === "json" ? parseJsonText(text) : parseYamlText(text);
}

function parseJsonText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw invalid("text", "json", `is not valid JSON: ${(error as Error).message}`);
  }
}

function parseYamlText(text: string): unknown {
  const lines = new LineCounter();
  try {
    // The library compares all pairs of keys to find duplicates, which is slow for large maps; see checkDuplicateKeys.
    const document = parseDocument(text, { lineCounter: lines, uniqueKeys: false, prettyErrors: false });
    const [error] = document.errors;
    if (error !== undefined) throw syntaxFailure(error.message, lines.linePos(error.pos[0]));
    checkDuplicateKeys(document, lines);
    return document.toJS({ maxAliasCount: aliasesMax });
  } catch (error) {
    if (error instanceof ReferenceError) {
      throw invalid("text", "yaml", `must not use more than ${aliasesMax} aliases: write the values out`);
    }
    // A stack overflow.
    if (error instanceof RangeError) throw invalid("text", "yaml", "is nested too deeply");
    throw error;
  }
}

function checkDuplicateKeys(document: ReturnType<typeof parseDocument>, lines: LineCounter): void {
  visit(document, {
    Map(_key, map) {
      if (!isMap(map)) return;
      const seen = new Set<string>();
      for (const { key } of map.items) {
        if (isAlias(key) || !isScalar(key)) {
          throw syntaxFailure("A key must be a text.", map.range && lines.linePos(map.range[0]));
        }
        const name = String(key.value);
        if (seen.has(name))
          throw syntaxFailure(`The key ${name} is used twice.`, key.range && lines.linePos(key.range[0]));
        seen.add(name);
      }
    },
  });
}

function syntaxFailure(message: string, position: { line: number; col: number } | null | undefined) {
  const place = position ? `line ${position.line}, column ${position.col}: ` : "";
  const text = `${place}${message.slice(0, 500)}`;
  return fail("INVALID_ARGUMENT", {
    public: `text: ${text}`,
    violations: [{ field: "text", rule: "yaml", message: text }],
    ...(position && { extra: { position: { line: position.line, column: position.col } } }),
  });
}

/** Writes a document as YAML or JSON, with its members in their order. */
export function formatText(document: JsonObject, format: TextFormat): string {
  if (format === "json") return `${JSON.stringify(document, null, 2)}\n`;
  return stringify(document, { lineWidth: 120, aliasDuplicateObjects: false });
}
