import assert from "node:assert/strict";
import { test } from "node:test";
import { until } from "./until.ts";

test("a wait returns the first value that satisfies its condition", async () => {
  let count = 0;
  const counted = await until(
    () => ++count,
    (value) => value > 2,
  );
  assert.equal(counted, 3);
});

test("a wait ends at its limit, and says what it waited for and what it read last", async () => {
  const read = async () => ({ state: "pending" });
  await assert.rejects(
    until(read, ({ state }) => state === "ready", 20),
    /Waited 0.02 s for async \(\) => \(\{ state: "pending" \}\) to satisfy .* === "ready"\. The last value was \{ state: 'pending' \}\./,
  );
});

test("a wait whose read fails ends at once with its error", async () => {
  await assert.rejects(
    until(() => assert.fail("broken")),
    /broken/,
  );
});
