import assert from "node:assert/strict";
import { test } from "node:test";
import { resolveRange } from "./byte-range.ts";

const all = "all";
const none = "none";
const cases: readonly (readonly [range: string, expected: readonly [number, number] | typeof all | typeof none])[] = [
  ["", all],
  ["bytes=0-0", [0, 1]],
  ["bytes=0-99", [0, 100]],
  ["bytes=0-1000", [0, 100]],
  ["bytes=10-", [10, 90]],
  ["bytes=99-", [99, 1]],
  ["bytes=-1", [99, 1]],
  ["bytes=-1000", [0, 100]],
  ["Bytes = 5 - 9", [5, 5]],
  ["bytes=100-", none],
  ["bytes=100-200", none],
  ["bytes=-0", none],
  // HTTP says to ignore what is not understood.
  ["bytes=9-5", all],
  ["bytes=0-1,5-6", all],
  ["bytes=-", all],
  ["bytes=a-b", all],
  ["items=0-1", all],
];

for (const [range, expected] of cases) {
  test(`"${range}" of 100 bytes selects ${expected}`, () => {
    const resolved = resolveRange(range, 100);
    if (expected === none) assert.equal(resolved, undefined);
    else if (expected === all) assert.deepEqual(resolved, { firstByte: 0, byteCount: 100, partial: false });
    else assert.deepEqual(resolved, { firstByte: expected[0], byteCount: expected[1], partial: true });
  });
}
