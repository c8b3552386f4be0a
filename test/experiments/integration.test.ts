import assert from "node:assert/strict";
import { before, test } from "node:test";
import { startNodeProcess } from "../harness/node-process.ts";
import { freshDatabase } from "../harness/postgres.ts";
import { startService } from "../harness/service.ts";
import { until } from "../harness/until.ts";
import { freshName, newTenant, type ResponseData, type TenantFixture } from "../routing/tenant-fixture.ts";
import { assign, createDraft, results, startExperiment } from "./experiment-fixture.ts";

let tenant: TenantFixture;
before(async () => {
  tenant = await newTenant(await startService());
});

/** Creates and publishes a definition; returns its key. */
async function publish(steps: readonly object[]): Promise<string> {
  const key = `w${freshName()}`;
  await tenant.ok("POST", "/api/workflow-definitions", { document: { dsl: "1", key, timeout: "1h", steps } });
  await tenant.ok("POST", `/api/workflow-definitions/${key}/publish`, {});
  return key;
}

async function run(key: string, input: object): Promise<ResponseData> {
  const { data } = await tenant.ok("POST", "/api/workflow-runs", { definition: key, input });
  return until(
    async () => (await tenant.ok("GET", `/api/workflow-runs/${data.run.id}`)).data,
    ({ status }) => ["succeeded", "failed"].includes(status),
  );
}

test("a workflow step gets the same variant as any other caller, with its value and receipt", async () => {
  const variants = [
    { key: "off", weight: 1, value: { limit: 1 } },
    { key: "on", weight: 1, value: { limit: 9 } },
  ];
  const { id, key } = await startExperiment(tenant, { variants });
  const steps = [
    { id: "pick", experiment: { key, unit: "=input.user" } },
    { id: "end", transform: { variant: "=steps.pick.variant", limit: "=steps.pick.value.limit" } },
  ];
  const workflow = await publish(steps);
  for (const user of ["ada", "grace", "edsger"]) {
    const { status, output } = await run(workflow, { user });
    assert.equal(status, "succeeded");
    const { variant, value } = await assign(tenant, id, user);
    assert.deepEqual(output, { variant, limit: value.limit });
  }
});

test("a workflow with a step of an unknown experiment is not published", async () => {
  const steps = [{ id: "pick", experiment: { key: "unknown", unit: "ada" } }];
  const document = { dsl: "1", key: `w${freshName()}`, timeout: "1h", steps };
  const { data } = await tenant.ok("POST", "/api/workflow-definitions", { document });
  const { body } = await tenant.refused(
    "FAILED_PRECONDITION",
    "POST",
    `/api/workflow-definitions/${data.id}/publish`,
    {},
  );
  const { field, rule } = body.violations[0];
  assert.deepEqual([field, rule], ["draft.steps[0].experiment.key", "missing_experiment"]);
});

test("a workflow step of an experiment that was deleted fails with a code that can be caught", async () => {
  const { id, key } = await createDraft(tenant);
  const step = { id: "pick", experiment: { key, unit: "ada" }, retry: { max_attempts: 1 } };
  const failing = await publish([step]);
  const catching = await publish([{ ...step, catch: [{ on: ["experiment_not_found"], steps: [] }] }]);
  await tenant.ok("DELETE", `/api/experiments/${id}`);
  const { status, error } = await run(failing, {});
  assert.deepEqual([status, error.code], ["failed", "experiment_not_found"]);
  assert.equal((await run(catching, {})).status, "succeeded");
});

test("a rule assigns items by their key, and a variant can choose the pool", async () => {
  const fast = await tenant.pool({ name: freshName(), strategy: "lowest_latency" });
  const usual = await tenant.pool({ strategy: "round_robin" });
  for (const pool of [fast, usual]) await tenant.recipient(pool);
  const variants = [
    { key: "usual", weight: 1 },
    { key: "fast", weight: 1, value: { pool: fast } },
  ];
  const metrics = [
    { key: "success", type: "proportion" },
    { key: "latency_ms", type: "mean", direction: "decrease" },
  ];
  const { id, key } = await startExperiment(tenant, { variants, metrics, score_window_s: 0 });
  await tenant.rule(usual, { type: "assign_experiment", experiment_key: key });
  const decisions: ResponseData[] = [];
  // Half of the keys get each variant, by chance: 40 keys with one variant never happen.
  for (let at = 0; at < 40; at++) decisions.push(await tenant.route(usual, { key: `lead-${at}` }));
  for (const { decision_id, pool_id, key: unit, experiments, trace } of decisions) {
    const { variant } = await assign(tenant, id, unit);
    assert.deepEqual(experiments, { [key]: variant });
    assert.equal(pool_id, variant === "fast" ? fast : usual);
    assert.ok(trace.some((each: ResponseData) => each.step === "experiment" && each.result === variant));
    const { data } = await tenant.ok("GET", `/api/decisions/${decision_id}`);
    assert.deepEqual(data.experiments, experiments);
    const replayed = await tenant.ok("POST", `/api/decisions/${decision_id}:replay`, {});
    assert.deepEqual(replayed.data.differences ?? [], []);
  }
  assert.equal(new Set(decisions.map(({ pool_id }) => pool_id)).size, 2);
});

test("outcomes of routed items are scores of their experiments, once each", async () => {
  const pool = await tenant.pool();
  await tenant.recipient(pool);
  const metrics = [
    { key: "success", type: "proportion" },
    { key: "latency_ms", type: "mean", direction: "decrease" },
  ];
  const { id, key } = await startExperiment(tenant, { metrics, score_window_s: 0 });
  await tenant.rule(pool, { type: "assign_experiment", experiment_key: key });
  for (let at = 0; at < 4; at++) {
    const { decision_id } = await tenant.route(pool, { key: `item-${at}` });
    const outcome = { decision_id, status: "success", latency_ms: 40 };
    if (at < 2) for (let times = 0; times < 3; times++) await tenant.ok("POST", "/api/outcomes", outcome);
  }
  for (let at = 0; at < 4; at++) await tenant.complete(await tenant.leaseOne(pool));
  const meanOf = (found: ResponseData, metric: string) => {
    const all = found.variants.map(({ metrics: each }: ResponseData) =>
      each.find((one: ResponseData) => one.metric === metric),
    );
    const n = all.reduce((sum: number, each: ResponseData) => sum + each.n, 0);
    return all.reduce((sum: number, each: ResponseData) => sum + (each.n === 0 ? 0 : each.mean * each.n), 0) / n;
  };
  const found = await until(
    () => results(tenant, id),
    (each) => each.mature_units === 4 && meanOf(each, "success") === 1,
  );
  assert.equal(meanOf(found, "latency_ms") > 0, true);
});

test("no outcome of a routed item is without its scores after a node was killed", async (t) => {
  const database = await freshDatabase();
  t.after(() => database.drop());
  const settings = { "auth.bootstrap_api_key": "sk_test_expscores_0123456789abcdef", "database.url": database.url };
  const node = await startNodeProcess(settings);
  t.after(() => node.kill());
  const own = await newTenant(node);
  const pool = await own.pool();
  await own.recipient(pool);
  const { id, key } = await startExperiment(own, { metrics: [{ key: "success", type: "proportion" }] });
  await own.rule(pool, { type: "assign_experiment", experiment_key: key });
  const items = Array.from({ length: 80 }, (_, at) => ({ pool_id: pool, type: "task", key: `item-${at}` }));
  const decisions: ResponseData[] = await Promise.all(
    items.map(async (item) => (await own.ok("POST", "/api/route", item)).data),
  );
  const leased = await own.lease(pool, { max_items: 40 });
  const inProgress = new Set(leased.map((each) => each.queue_item_id));
  const reported = decisions.filter(({ decision_id }) => !inProgress.has(decision_id));
  const calls = [
    ...leased.map((each) => () => own.complete(each)),
    ...reported.map(({ decision_id }) => async () => {
      await own.ok("POST", "/api/outcomes", { decision_id, status: "success" });
    }),
  ];
  let ended = 0;
  // The node dies while outcomes are being committed, and before it has got all calls.
  await Promise.all(
    Array.from({ length: 8 }, async (_, caller) => {
      // Half of the callers complete items, and half report outcomes.
      const take = () => (caller % 2 === 0 ? calls.shift() : calls.pop());
      for (let call = take(); call !== undefined; call = take()) {
        await call().catch(() => {});
        if (++ended === 10) await node.kill();
      }
    }),
  );
  const [{ outcomes, unscored } = { outcomes: 0, unscored: -1 }] = await database.sql<
    { outcomes: number; unscored: number }[]
  >`
    select count(*)::int as outcomes, count(*) filter (where not exists (
      select from experiment_scores s
      where s.experiment_id = ${id} and s.score_id = o.decision_id || ':success'))::int as unscored
    from all_outcomes o`;
  assert.ok(outcomes >= 1 && outcomes < items.length, `${outcomes} outcomes were stored`);
  assert.equal(unscored, 0);
});

test("an experiment that cannot assign never stops the routing", async () => {
  const pool = await tenant.pool();
  await tenant.recipient(pool);
  await tenant.rule(pool, { type: "assign_experiment", experiment_key: "unknown" });
  const decision = await tenant.route(pool, { key: "a" });
  assert.deepEqual([decision.outcome, decision.experiments], ["routed", {}]);
  assert.ok(decision.trace.some((each: ResponseData) => each.step === "experiment" && each.result === "not_found"));
});
