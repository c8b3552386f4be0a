import assert from "node:assert/strict";
import { test } from "node:test";
import type { Message } from "@bufbuild/protobuf";
import { decodeJson } from "./decode-json.ts";

/** Decodes a body and returns the steps in order, with "another" where other work ran in between. */
async function stepsOf(bytes: number): Promise<string[]> {
  const steps: string[] = [];
  let isDone = false;
  const others = (async () => {
    while (!isDone) {
      await new Promise(setImmediate);
      if (steps.at(-1) !== "another") steps.push("another");
    }
  })();
  const decoded = decodeJson(
    Buffer.alloc(bytes),
    () => void steps.push("parse"),
    () => {
      steps.push("decode");
      return {} as Message;
    },
  );
  await decoded;
  steps.push("done");
  isDone = true;
  await others;
  return steps.slice(0, steps.indexOf("done") + 1);
}

test("a large body is parsed, decoded and returned in different turns of the event loop", async () => {
  assert.deepEqual(await stepsOf(64 * 1024), ["parse", "another", "decode", "another", "done"]);
});

test("a small body is parsed and decoded in one turn of the event loop", async () => {
  assert.deepEqual(await stepsOf(64 * 1024 - 1), ["parse", "decode", "done"]);
});
