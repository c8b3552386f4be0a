import assert from "node:assert/strict";
import { test } from "node:test";
import { requireIdentifier } from "./identifiers.ts";

test("an id that looks like a card number or a cloud key is refused, and other numbers are not", () => {
  for (const id of [
    "4111111111111111",
    "4111-1111-1111-1111",
    "case.5500_0000_0000_0004.pays",
    "378282246310005",
    "AKIAIOSFODNN7EXAMPLE",
    "upload-ASIAIOSFODNN7EXAMPLE",
  ]) {
    assert.throws(() => requireIdentifier("cases[0].id", id), { code: "INVALID_ARGUMENT" }, id);
  }
  for (const id of ["4111111111111112", "2026-11-17", "1763400000000000", "AKIA-rotation", "order.4711.paid"]) {
    requireIdentifier("cases[0].id", id);
  }
});
