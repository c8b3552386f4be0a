import { stringify } from "yaml";
import type { OpenApiDocument } from "./document.ts";

// No anchors: they are valid YAML, but not every OpenAPI tool supports them.
// Strings that YAML 1.1 would parse as dates or booleans are quoted, because some tools still use YAML 1.1.
const format = { aliasDuplicateObjects: false, compat: "yaml-1.1", lineWidth: 120 } as const;

/**
 * Writes a document as YAML, one path or component per chunk. Writing the whole document takes most of a second, so a
 * server yields to other work between chunks.
 */
export function* yamlChunks(document: OpenApiDocument): Generator<string, void> {
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

/** The YAML of a nested member, without the lines of its parents. */
function nested(parents: readonly string[], name: string, value: unknown): string {
  const whole = parents.reduceRight<object>((inner, parent) => ({ [parent]: inner }), { [name]: value });
  return stringify(whole, format).split("\n").slice(parents.length).join("\n");
}

/** Writes a document as YAML. */
export function toYaml(document: OpenApiDocument): string {
  return [...yamlChunks(document)].join("");
}
