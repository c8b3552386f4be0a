import { stringify } from "yaml";
import type { OpenApiDocument } from "./document.ts";

// Equal parts stay written out: anchors are legal YAML, but not every reader of OpenAPI follows them.
// What YAML 1.1 would take for a date or a boolean is quoted, for readers that still speak it.
const format = { aliasDuplicateObjects: false, compat: "yaml-1.1", lineWidth: 120 } as const;

/**
 * Writes a document as YAML, one path or component at a time. Writing all of it takes most of a second, so a server
 * lets other work run between the pieces.
 */
export function* yamlPieces(document: OpenApiDocument): Generator<string, void> {
  const { paths, components, ...head } = document;
  yield stringify(head, format);
  yield "paths:\n";
  for (const [path, item] of Object.entries(paths)) yield nested(["paths"], path, item);
  yield "components:\n";
  for (const [kind, parts] of Object.entries(components)) {
    yield `  ${kind}:\n`;
    for (const [name, part] of Object.entries(parts)) yield nested(["components", kind], name, part);
  }
}

/** A member at its place in the document, without the lines of what it stands in. */
function nested(parents: readonly string[], name: string, value: unknown): string {
  const whole = parents.reduceRight<object>((inner, parent) => ({ [parent]: inner }), { [name]: value });
  return stringify(whole, format).split("\n").slice(parents.length).join("\n");
}

/** Writes a document as YAML. */
export function toYaml(document: OpenApiDocument): string {
  return [...yamlPieces(document)].join("");
}
