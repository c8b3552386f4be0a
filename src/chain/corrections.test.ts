import assert from "node:assert/strict";
import { test } from "node:test";
import { readOperations } from "../definitions/index.ts";
import { Failure } from "../errors/index.ts";
import { createRequestReader } from "../platform/validation/index.ts";
import { correctOperation } from "./corrections.ts";

/** The corrections of a request that the REST API refuses. */
function correctionsOf(id: string, json: unknown) {
  const operation = readOperations().find((each) => each.id === `service.api.${id}`)!;
  try {
    createRequestReader(operation.method.input)(json);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return correctOperation(operation, { json, violations: error.violations, isRest: true });
  }
  throw new Error("the request is accepted");
}

test("a member that looks like a quoted key but is none gets no correction", () => {
  for (const name of ['["\\x"]', '["a\nb"]']) {
    assert.deepEqual(correctionsOf("PoolService/CreatePool", { name: "a", [name]: 1 }), []);
  }
});

test("JSON in a text that nests deeper than a request may gets no correction", () => {
  for (const config of [
    "[".repeat(30_000) + "]".repeat(30_000),
    `{"queue":${'{"a":'.repeat(100)}1${"}".repeat(101)}`,
  ]) {
    assert.deepEqual(correctionsOf("PoolService/CreatePool", { name: "a", config }), []);
  }
});
