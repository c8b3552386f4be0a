import assert from "node:assert/strict";
import { test } from "node:test";
import { catalogue } from "./index.ts";

test("only an internal error has a code whose details are masked", () => {
  const masked = Object.entries(catalogue).filter(([, { connect }]) => ["internal", "unknown"].includes(connect));
  assert.deepEqual(
    masked.map(([code]) => code),
    ["INTERNAL"],
  );
});
