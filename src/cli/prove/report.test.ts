import assert from "node:assert/strict";
import { test } from "node:test";
import { type PromiseResult, verdictOf } from "./report.ts";

const [held, broken, open] = (["held", "broken", "not tested"] as const).map(
  (status): PromiseResult => ({ id: "kept", text: "", document: "", tested: 1, detail: "", status, violations: [] }),
);
const faults = { kill: 1 };

test("promises have held only if all were tested, while something was broken", () => {
  assert.equal(verdictOf({ failure: "", faults, promises: [held!, held!] }), "held");
  assert.equal(verdictOf({ failure: "", faults: {}, promises: [held!, held!] }), "incomplete");
  assert.equal(verdictOf({ failure: "", faults, promises: [held!, open!] }), "incomplete");
  assert.equal(verdictOf({ failure: "No node", faults, promises: [held!] }), "failed");
  assert.equal(verdictOf({ failure: "No node", faults, promises: [held!, broken!] }), "broken");
});
