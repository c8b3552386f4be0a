import assert from "node:assert/strict";
import { test } from "node:test";
import { shareOf } from "./process-share.ts";

test("the shares of all processes are the limit, and differ by one at most", () => {
  for (const count of [1, 2, 3, 7]) {
    for (const total of [7, 16, 1000, 1001]) {
      const shares = Array.from({ length: count }, (_, i) => shareOf(total, { number: i + 1, count }));
      assert.equal(
        shares.reduce((sum, each) => sum + each),
        total,
      );
      assert.ok(Math.max(...shares) - Math.min(...shares) <= 1);
    }
  }
});

test("every process has the minimum of a limit that is too small to divide", () => {
  assert.equal(shareOf(2, { number: 3, count: 3 }), 1);
  assert.equal(shareOf(4, { number: 2, count: 2 }, 3), 3);
});
