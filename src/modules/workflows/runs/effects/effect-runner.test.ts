import assert from "node:assert/strict";
import { test } from "node:test";
import { freshTenant } from "../../../../../test/harness/context.ts";
import type { Effect } from "../domain/engine/advance-result.ts";
import type { LiveRun } from "../storage/run-loader.ts";
import type { ChildResult } from "./child-run.ts";
import { createEffectRunner } from "./effect-runner.ts";

test("an effect that the run checks while it is performed is not queued again", async () => {
  const started: number[] = [];
  const release = Promise.withResolvers<undefined>();
  const effects = createEffectRunner({
    log: { warn: assert.fail } as never,
    call: (() => assert.fail("nothing is called")) as never,
    findPoolId: (() => assert.fail("there is no pool")) as never,
    findExperimentId: (() => assert.fail("there is no experiment")) as never,
    startChild(_run, { attempt }): Promise<ChildResult | undefined> {
      started.push(attempt);
      return release.promise;
    },
    handOver: () => assert.fail("no region is pinned"),
    apply: async () => {},
  });
  const run = { id: "run", tenantId: freshTenant() } as LiveRun;
  const effect = (attempt: number) =>
    ({ kind: "subworkflow", key: "child", attempt, request: {} }) as unknown as Effect;
  for (let nth = 0; nth < 3; nth++) effects.perform(run, [effect(1)]);
  effects.perform(run, [effect(2)]);
  release.resolve(undefined);
  await effects.idle();
  assert.deepEqual(started, [1, 2]);
  effects.perform(run, [effect(2)]);
  await effects.idle();
  assert.deepEqual(started, [1, 2, 2], "an effect without a known outcome is performed again");
});
