import assert from "node:assert/strict";
import { test } from "node:test";
import { Ajv2020 } from "@redocly/ajv/dist/2020.js";
import type { Json } from "../definition.ts";
import { documentOf, noteStep, stepOf, validDocuments } from "../testing/documents.ts";
import { invalidDocuments } from "../testing/invalid-documents.ts";
import { refusedDefinitions } from "../testing/refused-definitions.ts";
import { definitionSchema } from "./json-schema.ts";
import { parseDefinition } from "./parse-definition.ts";

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
  const unknown = { zzzzzzzz: 1 };
  /** The fields that the parser lists beside an unknown one. */
  const known = (document: Json) => {
    const { violations } = parseDefinition(document);
    const { message } = violations.find(({ rule }) => rule === "unknown_field")!;
    return message.split("known are ")[1]!.split(", ").sort();
  };
  const step = defs!.step!.properties as unknown as Record<string, Part>;
  assert.deepEqual(Object.keys(properties!).sort(), known(unknown));
  assert.deepEqual(names(defs!.step!), known(stepOf(unknown)));
  for (const part of ["compensate", "retry", "timeout"]) {
    assert.deepEqual(names(defs![part]!), known(stepOf({ [part]: unknown })), part);
  }
  assert.deepEqual(names(step.catch!.items!), known(stepOf({ catch: [unknown] })));
  const kinds = Object.entries(defs!).filter(([name, { properties }]) => properties !== undefined && name in step);
  assert.ok(kinds.length >= 12);
  for (const [kind, part] of kinds) assert.deepEqual(names(part), known(stepOf({ [kind]: unknown })), kind);
  assert.deepEqual(names(defs!.branch!.prefixItems![0]!), known(stepOf({ branch: [unknown] })));
  const [short, any] = defs!.wait_event!.oneOf!;
  const waitNames = [...new Set([...names(short!), ...names(any!)])].sort();
  assert.deepEqual(waitNames, known(stepOf({ wait_event: unknown })));
  const list = any!.properties as unknown as Record<string, Part>;
  assert.deepEqual(names(list.any!.items!), known(stepOf({ wait_event: { any: [unknown] } })));
  assert.deepEqual(defs!.wait_timer!.oneOf!.flatMap(names), known(stepOf({ wait_timer: unknown })));
});

/** A part of a schema. */
interface Part {
  readonly properties?: Readonly<Record<string, unknown>>;
  readonly items?: Part;
  readonly prefixItems?: readonly Part[];
  readonly oneOf?: readonly Part[];
}
