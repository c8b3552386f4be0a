import assert from "node:assert/strict";
import { test } from "node:test";
import { Ajv2020 } from "@redocly/ajv/dist/2020.js";
import { definitionSchema } from "./json-schema.ts";
import { documentOf, noteStep, validDocuments } from "./testing/documents.ts";
import { invalidDocuments } from "./testing/invalid-documents.ts";
import { refusedDefinitions } from "./testing/refused-definitions.ts";

const ajv = new Ajv2020({ strictTypes: false, strictRequired: false, strictTuples: false });
const validate = ajv.compile(definitionSchema());

test("the schema is a valid schema of draft 2020-12", () => {
  assert.equal(ajv.validateSchema(definitionSchema()), true);
});

for (const [name, document] of Object.entries(validDocuments)) {
  test(`the schema accepts ${name}`, () => {
    assert.equal(validate(document), true, JSON.stringify(validate.errors));
  });
}

for (const [name, { document, schema }] of Object.entries(invalidDocuments)) {
  test(`the schema ${schema === false ? "cannot express" : "refuses"}: ${name}`, () => {
    assert.equal(validate(document), schema === false);
  });
}

test("the schema accepts documents that have a valid structure", () => {
  for (const [name, { document }] of Object.entries(refusedDefinitions)) assert.equal(validate(document), true, name);
});

test("a duration of 0 is accepted only where it is allowed", () => {
  assert.equal(validate(documentOf([{ id: "a", wait_timer: { for: "0s" } }])), true);
  assert.equal(validate(documentOf([noteStep("a")], { timeout: "00h" })), false);
});
