import assert from "node:assert/strict";
import { test } from "node:test";
import { Ajv2020 } from "@redocly/ajv/dist/2020.js";
import { documentOf, noteStep, validDocuments } from "../testing/documents.ts";
import { invalidDocuments } from "../testing/invalid-documents.ts";
import { refusedDefinitions } from "../testing/refused-definitions.ts";
import { definitionSchema } from "./json-schema.ts";
import { catchFields, compensationFields, definitionFields, stepFields } from "./parse-definition.ts";
import { retryFields, timeoutFields } from "./parse-policy.ts";
import { workFields } from "./parse-work.ts";

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

test("the schema has exactly the fields that the parser reads", () => {
  const { properties, $defs: defs } = definitionSchema() as Record<string, Record<string, Part>>;
  const names = (part: Part) => Object.keys(part.properties!).sort();
  const step = defs!.step!.properties as unknown as Record<string, Part>;
  assert.deepEqual(Object.keys(properties!).sort(), [...definitionFields].sort());
  assert.deepEqual(names(defs!.step!), [...stepFields].sort());
  assert.deepEqual(names(step.catch!.items!), [...catchFields].sort());
  assert.deepEqual(names(defs!.compensate!), [...compensationFields].sort());
  assert.deepEqual(names(defs!.retry!), [...retryFields].sort());
  assert.deepEqual(names(defs!.timeout!), [...timeoutFields].sort());
  const { arm, event, wait_event, wait_timer, ...kinds } = workFields;
  for (const [kind, fields] of Object.entries(kinds)) assert.deepEqual(names(defs![kind]!), [...fields].sort(), kind);
  assert.deepEqual(names(defs!.branch!.prefixItems![0]!), [...arm].sort());
  const [short, any] = defs!.wait_event!.oneOf!;
  assert.deepEqual([...new Set([...names(short!), ...names(any!)])].sort(), [...wait_event].sort());
  const list = any!.properties as unknown as Record<string, Part>;
  assert.deepEqual(names(list.any!.items!), [...event].sort());
  assert.deepEqual(defs!.wait_timer!.oneOf!.flatMap(names), [...wait_timer]);
});

/** A part of a schema. */
interface Part {
  readonly properties?: Readonly<Record<string, unknown>>;
  readonly items?: Part;
  readonly prefixItems?: readonly Part[];
  readonly oneOf?: readonly Part[];
}
