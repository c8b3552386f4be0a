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

test("a member that the caller has given is never overwritten by one that is moved", () => {
  const run = { definition: "d", environment_id: "staging", signal: { event: "e", environment_id: "production" } };
  assert.deepEqual(correctionsOf("WorkflowRunService/StartWorkflowRun", run), []);
  const { environment_id: _id, ...other } = run;
  const [moved] = correctionsOf("WorkflowRunService/StartWorkflowRun", other);
  assert.deepEqual(moved?.patch, [{ op: "move", from: "/signal/environment_id", path: "/environment_id" }]);
});

test("a member of an item in a list moves to the object that has the list", () => {
  const completed = [{ queue_item_id: "i", lease_token: "t", pool_id: "p" }];
  const [moved] = correctionsOf("WorkService/LeaseItems", { completed });
  assert.deepEqual(moved?.patch, [{ op: "move", from: "/completed/0/pool_id", path: "/pool_id" }]);
});

test("a null is removed only from a request that reads", () => {
  const [dropped] = correctionsOf("BulkOperationService/PreviewQueueOperation", {
    ...{ pool_id: "p", action: "requeue", filter: null },
  });
  assert.deepEqual(dropped?.patch, [{ op: "remove", path: "/filter" }]);
  for (const name of ["environment_id", "version"]) {
    assert.deepEqual(correctionsOf("WorkflowRunService/StartWorkflowRun", { definition: "d", [name]: null }), []);
  }
});
