import assert from "node:assert/strict";
import { test } from "node:test";
import { createCaseContext } from "../../sandbox/index.ts";
import { leaseAll } from "./pool-steps.ts";

test("a busy instance that hands out items later than one wait still hands out all of them", async () => {
  const polls = [[], [{ queue_item_id: "1" }], [{ queue_item_id: "2" }], []];
  const { context } = createCaseContext({
    ...{ config: {} as never, signal: AbortSignal.timeout(60_000), caseId: "worker.any" },
    client: { data: async () => ({ items: polls.shift() }) } as never,
  });
  assert.deepEqual(
    (await leaseAll(context, "pool", 2)).map(({ queue_item_id }) => queue_item_id),
    ["1", "2"],
  );
  assert.deepEqual(polls, [], "items beyond the expected ones would have shown");
});
