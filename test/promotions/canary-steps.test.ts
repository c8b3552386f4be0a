import assert from "node:assert/strict";
import { before, test } from "node:test";
import { until } from "../harness/until.ts";
import type { ResponseData, TenantFixture } from "../routing/tenant-fixture.ts";
import {
  base,
  createCandidate,
  fewKeys,
  keysOf,
  recipientsOf,
  routingArtifact,
  type StagedPool,
  stagedPool,
  startGovernedNode,
  step,
  work,
} from "./promotion-fixture.ts";

let tenant: TenantFixture;
before(async () => {
  tenant = (await startGovernedNode()).tenant;
});

/** A candidate that can start its canary. */
async function readyCandidate(): Promise<{ pool: StagedPool; id: string }> {
  const pool = await stagedPool(tenant);
  await work(tenant, pool.id, keysOf("past", 16));
  const id = await createCandidate(tenant, [routingArtifact(pool)]);
  await step(tenant, id, "preflight", "preflight_passed");
  await step(tenant, id, "guardrails/evaluate", "guardrails_passed");
  return { pool, id };
}

const start = (id: string, steps: readonly object[]) =>
  step(tenant, id, "canary/start", "canary_running", { ...fewKeys, steps });
const read = async (id: string): Promise<ResponseData> => (await tenant.ok("GET", `${base}/${id}`)).data;
const post = (id: string, path: string, body: object) => tenant.rest.call("POST", `${base}/${id}/${path}`, body);

test("a canary goes from step to step by itself, scores each anew, and ends as passed after the last one", async () => {
  const { pool, id } = await readyCandidate();
  const guardrails = [{ metric: "success", limit: 0.5 }];
  const started = await start(id, [{ percent: 25, guardrails }, { percent: 50 }]);
  assert.deepEqual([started.canary.step, started.canary.percent], [1, 25]);
  // A quarter of the keys are the canary's, by chance: fewer than 16 of 200 never happen.
  await work(tenant, pool.id, keysOf("first", 200));
  const second = await until(
    () => read(id),
    ({ canary }) => canary.step === 2,
  );
  assert.deepEqual([second.state, second.canary.percent], ["canary_running", 50]);
  assert.equal(second.canary.scores[0]?.keys ?? 0, 0, "what the first step has shown does not count");
  const keys = keysOf("key", 400);
  const share = (await recipientsOf(tenant, pool.id, keys)).filter((each) => each === pool.after).length / keys.length;
  assert.ok(share > 0.35, `${share}`);
  await work(tenant, pool.id, keysOf("second", 60));
  const ended = await until(
    () => read(id),
    ({ state }) => state !== "canary_running",
  );
  assert.deepEqual([ended.state, ended.canary.verdict], ["canary_stopped", "passed"]);
  const { data } = await tenant.ok("GET", `${base}/${id}/timeline`);
  const calls = data.map(({ call, actor }: ResponseData) => [call, actor]);
  assert.deepEqual(calls.slice(-2), [
    ["advance_canary", "service:promotions"],
    ["stop_canary", "service:promotions"],
  ]);
});

test("a guardrail of a step that the canary violates stops it for good, although the baseline is as bad", async () => {
  const { pool, id } = await readyCandidate();
  await start(id, [{ percent: 50, guardrails: [{ metric: "success", limit: 0.9 }] }]);
  await work(tenant, pool.id, keysOf("now", 60), () => "failure");
  const ended = await until(
    () => read(id),
    ({ state }) => state !== "canary_running",
  );
  assert.deepEqual([ended.state, ended.canary.verdict, ended.possible_calls], ["canary_failed", "failed", ["abort"]]);
  const failed = ended.canary.scores.filter(({ verdict }: ResponseData) => verdict === "failed");
  assert.deepEqual(
    failed.map(({ metric, limit }: ResponseData) => [metric, limit]),
    [["success", 0.9]],
  );
});

test("a step lasts as long as it must, and a canary that is stopped before the last one has not passed", async () => {
  const { pool, id } = await readyCandidate();
  const steps = [{ percent: 25, min_duration_s: 3600 }, { percent: 50 }];
  await start(id, steps);
  await work(tenant, pool.id, keysOf("now", 200));
  const running = await until(
    () => read(id),
    ({ canary }) => canary.verdict === "passed",
  );
  assert.equal(running.canary.step, 1);
  const early = await post(id, "canary/advance", {});
  assert.deepEqual([early.status, early.body.reason], [412, "step_not_passed"]);
  const stopped = await step(tenant, id, "canary/stop", "canary_stopped");
  assert.equal(stopped.canary.verdict, "inconclusive");
  const other = await post(id, "canary/start", { steps: [{ percent: 30 }] });
  assert.deepEqual([other.status, other.body.violations[0].field], [400, "steps"]);
  const again = await step(tenant, id, "canary/start", "canary_running");
  assert.deepEqual([again.canary.step, again.canary.percent, again.canary.steps.length], [1, 25, 2]);
});

test("steps must grow, have no share besides them and no simulated guardrails", async () => {
  const { id } = await readyCandidate();
  for (const [body, field] of [
    [{ percent: 5, steps: [{ percent: 5 }] }, "percent"],
    [{ steps: [{ percent: 20 }, { percent: 20 }] }, "steps[1].percent"],
    [
      { steps: [{ percent: 5, guardrails: [{ metric: "simulated_cost", limit: 1 }] }] },
      "steps[0].guardrails[0].metric",
    ],
  ] as const) {
    const { status, body: refused } = await post(id, "canary/start", body);
    assert.deepEqual([status, refused.violations?.[0].field], [400, field], JSON.stringify(refused));
  }
});
