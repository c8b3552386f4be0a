import assert from "node:assert/strict";
import { test } from "node:test";
import { create } from "@bufbuild/protobuf";
import { AssignExperimentBatchResponseSchema } from "../../../gen/service/api/experiment_pb.ts";
import { SimulateWorkflowRunResponseSchema } from "../../../gen/service/api/workflow_run_pb.ts";
import { createJsonEncoder } from "./encode.ts";
import { createTurnEncoder } from "./encode-in-turns.ts";
import { jsonToValue } from "./formats/struct.ts";

/** A response with a list in a message of it. */
function simulation(steps: number, output = "text") {
  const path = Array.from({ length: steps }, (_, at) => ({ step: `s[${at}]`, output: jsonToValue({ output, at }) }));
  return create(SimulateWorkflowRunResponseSchema, { simulation: { status: "succeeded", path, notes: ["one"] } });
}

/** The number of turns of the event loop that others get while a promise is pending. */
async function turnsDuring(work: string | Promise<string>): Promise<number> {
  let turns = 0;
  let isDone = false;
  const others = (async () => {
    while (!isDone) {
      await new Promise(setImmediate);
      turns++;
    }
  })();
  await work;
  isDone = true;
  await others;
  return turns;
}

test("a long list is encoded over many turns of the event loop, and like in one", async () => {
  for (const names of ["proto", "json"] as const) {
    const encode = createTurnEncoder(SimulateWorkflowRunResponseSchema, names);
    const message = simulation(9000);
    const encoding = encode(message);
    assert.ok(encoding instanceof Promise);
    assert.ok((await turnsDuring(encoding)) >= 30);
    assert.equal(await encoding, createJsonEncoder(SimulateWorkflowRunResponseSchema, names)(message));
  }
});

test("a turn encodes few characters as well as few items", async () => {
  const encode = createTurnEncoder(SimulateWorkflowRunResponseSchema, "proto");
  const encoding = encode(simulation(300, "x".repeat(16 * 1024)));
  assert.ok((await turnsDuring(encoding)) >= 60);
});

test("a short list is encoded at once", () => {
  const encode = createTurnEncoder(SimulateWorkflowRunResponseSchema, "proto");
  assert.equal(typeof encode(simulation(250)), "string");
});

test("concurrent messages do not get each other's lists", async () => {
  const encode = createTurnEncoder(AssignExperimentBatchResponseSchema, "proto");
  const plain = createJsonEncoder(AssignExperimentBatchResponseSchema, "proto");
  const messages = ["a", "b"].map((prefix) =>
    create(AssignExperimentBatchResponseSchema, {
      assignments: Array.from({ length: 1000 }, (_, at) => ({ unit: `${prefix}${at}` })),
    }),
  );
  assert.deepEqual(await Promise.all(messages.map(encode)), messages.map(plain));
});
