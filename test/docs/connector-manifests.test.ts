import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { compileManifest } from "../../src/modules/connectors/manifests/domain/language/compile-manifest.ts";
import { manifestSchema } from "../../src/modules/connectors/manifests/domain/language/manifest-schema.ts";
import { isJsonObject, type Json } from "../../src/platform/document/index.ts";
import { readYaml } from "../../src/platform/document-text/index.ts";

const reference = readFileSync(new URL("../../docs/connector-manifests.md", import.meta.url), "utf8");

test("the example of the reference is a valid manifest", () => {
  const [, text] = /^```yaml\n([\s\S]*?)^```$/m.exec(reference)!;
  const yaml = readYaml(text!);
  assert.deepEqual(compileManifest("value" in yaml ? yaml.value : undefined).violations, []);
});

test("the reference names every member and every choice of the language", () => {
  for (const name of namesOf(manifestSchema())) assert.ok(reference.includes(name), `${name} is not in the reference`);
});

/** All names of members and all choices in a schema. */
function* namesOf(schema: Json): Generator<string> {
  if (Array.isArray(schema)) for (const each of schema as readonly Json[]) yield* namesOf(each);
  if (!isJsonObject(schema)) return;
  for (const [keyword, value] of Object.entries(schema)) {
    if (keyword === "properties" || keyword === "$defs") {
      for (const [name, member] of Object.entries(value as Record<string, Json>)) {
        if (keyword === "properties") yield name;
        yield* namesOf(member);
      }
    } else if (keyword === "enum") {
      for (const choice of value as readonly Json[]) if (typeof choice === "string" && choice.length > 1) yield choice;
    } else {
      yield* namesOf(value);
    }
  }
}
