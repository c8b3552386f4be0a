import assert from "node:assert/strict";
import { test } from "node:test";
import { runInBatches } from "./batches.ts";

test("batches run until one is not full, and none runs after the signal is aborted", async () => {
  const left = [3, 3, 1, 3];
  const limits: number[] = [];
  await runInBatches(new AbortController().signal, 3, async (limit) => {
    limits.push(limit);
    return left.shift()!;
  });
  assert.deepEqual([limits, left], [[3, 3, 3], [3]]);

  const stopping = new AbortController();
  let taken = 0;
  const endless = runInBatches(stopping.signal, 3, async () => {
    if (++taken === 2) stopping.abort(new Error("The node stops."));
    return 3;
  });
  await assert.rejects(endless, /stops/);
  assert.equal(taken, 2);
});
