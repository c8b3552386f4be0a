import assert from "node:assert/strict";
import { test } from "node:test";
import { define, step, task } from "../../../../test/workflows/definition-builders.ts";
import type { TenantId } from "../../../platform/access/index.ts";
import { defaultRetry } from "../definitions/index.ts";
import { Advance } from "./domain/engine/advance.ts";
import { createPlan } from "./domain/engine/plan.ts";
import { createRunState, type RunEvent } from "./domain/engine/state.ts";
import { type RunIdentity, toRunWrite } from "./run-write-builder.ts";

test("a task that is retried and then cancelled in the same advance is only deleted", () => {
  const once = { maxAttempts: 1, initialMs: 1, factor: 1, maxMs: 1, on: undefined };
  const branches = [
    { name: "a", steps: [task("a")] },
    { name: "b", steps: [task("b", { retry: once })] },
  ];
  const definition = define([step("both", { kind: "parallel", branches, onError: "fail" })]);
  const plan = createPlan(definition, "definition", 1, defaultRetry);
  let ids = 0;
  const context = { nowMs: 1000, run: {}, mail: [], newId: () => `id${++ids}` };
  const { state } = advanced(createRunState(null), { kind: "start" });
  const failed = (key: string): RunEvent => ({
    ...{ kind: "attempt_failed", key, attempt: 1, code: "broken", message: "", details: null, retryable: true },
  });
  const advance = advanced(state, failed("a"), failed("b"));
  const write = toRunWrite(run, advance, { nowMs: 1000, reserve: () => undefined, newMail: [], unread: 0 });
  assert.deepEqual([write.retriedTasks, write.endedTasks.toSorted()], [[], ["id1", "id2"]]);

  function advanced(from: typeof state, ...events: readonly RunEvent[]): Advance {
    const result = new Advance(plan, from, context);
    for (const event of events) result.apply(event);
    return result;
  }
});

const run: RunIdentity = {
  ...{ tenantId: "tenant" as TenantId, id: "run", environmentId: "e", definitionId: "d", version: 1, runKey: "" },
  ...{ revision: 1, parentRunId: "" },
  origin: { environment: "production", definition: "test", by: "ann", via: "api" },
};
