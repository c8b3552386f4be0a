import assert from "node:assert/strict";
import { test } from "node:test";
import { runAfterCommit } from "./after-commit.ts";

test("an after-commit action that throws neither fails the committed call nor keeps the others from running", async () => {
  const done: string[] = [];
  const failing = () => {
    throw new Error("as told");
  };
  await runAfterCommit([failing, () => void done.push("one"), async () => failing(), async () => done.push("other")]);
  assert.deepEqual(done, ["one", "other"]);
});
