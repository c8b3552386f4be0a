import assert from "node:assert/strict";
import { test } from "node:test";
import { Ajv2020 } from "@redocly/ajv/dist/2020.js";
import { loadBuiltinProviders } from "../../catalogue/builtin-providers.ts";
import { smallManifest } from "../../testing/manifest-documents.ts";
import { refusedManifests } from "../../testing/refused-manifests.ts";
import { manifestSchema } from "./manifest-schema.ts";

const ajv = new Ajv2020({ strict: false });
const validate = ajv.compile(manifestSchema());

test("the published schema accepts every valid manifest", () => {
  for (const document of [smallManifest, ...loadBuiltinProviders().map((each) => each.document)]) {
    assert.ok(validate(document), JSON.stringify(validate.errors));
  }
});

/** Rules about single members, which a schema can express. */
const structural = new Set(["unknown_field", "pattern", "range", "keyword"]);
/** Rules of these names that need more than the structure. */
const beyondSchema = [
  "a default matches its pattern",
  "a pattern is a regular expression",
  "a conversion is known",
  "a captured value has a pointer",
  "an output is a pointer",
  "a header has a name",
  "a message has no other inputs",
];

test("the published schema refuses what breaks the structure", () => {
  for (const [name, document, , rule] of refusedManifests) {
    if (!structural.has(rule) || beyondSchema.includes(name)) continue;
    assert.ok(!validate(document), name);
  }
});
