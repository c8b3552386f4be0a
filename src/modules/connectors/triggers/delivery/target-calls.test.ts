import assert from "node:assert/strict";
import { test } from "node:test";
import { freshTenant } from "../../../../../test/harness/context.ts";
import { compileTemplate } from "../../../../platform/cel/index.ts";
import { createTargetCaller, TargetRefusal } from "./target-calls.ts";

test("an item that a template makes invalid is refused with the path of each field", async () => {
  const callTarget = createTargetCaller({
    call: () => assert.fail("nothing is routed"),
    findPoolId: async () => "01JD0000000000000000000000",
    compileTemplate,
  });
  const target = { kind: "route", request: { pool: "p", priority: "=event.data.urgency", ttl_s: {} } } as const;
  const event = { id: "e1", type: "t", subject: "s1", time: new Date(0), data: { urgency: "high" } };
  const origin = { tenantId: freshTenant() } as never;
  const isRefusal = (error: unknown) =>
    error instanceof TargetRefusal && /^The item is invalid: priority: must be .*integer/.test(error.message);
  await assert.rejects(callTarget(target, "01JD0000000000000000000001", origin, event), isRefusal);
});
