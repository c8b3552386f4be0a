import assert from "node:assert/strict";
import { test } from "node:test";
import type { Message } from "@bufbuild/protobuf";
import { decodeJson } from "./decode-json.ts";

/** Decodes a list of this many zeros; returns the number of turns of the event loop before and after the decoding. */
async function turnsFor(count: number): Promise<{ before: number; after: number }> {
  const body = Buffer.from(JSON.stringify(Array(count).fill(0)));
  let turns = 0;
  let before = 0;
  let isDone = false;
  const others = (async () => {
    while (!isDone) {
      await new Promise(setImmediate);
      turns++;
    }
  })();
  await decodeJson(body, undefined, (json) => {
    assert.equal((json as unknown[]).length, count);
    before = turns;
    return {} as Message;
  });
  const after = turns - before;
  isDone = true;
  await others;
  return { before, after };
}

test("a large body is checked, parsed, decoded and returned in different turns of the event loop", async () => {
  const { before, after } = await turnsFor(100_000);
  assert.ok(before >= 10, `${before} turns`);
  assert.ok(after >= 1);
});

test("a small body is parsed and decoded in one turn of the event loop", async () => {
  assert.deepEqual(await turnsFor(30_000), { before: 0, after: 0 });
});
