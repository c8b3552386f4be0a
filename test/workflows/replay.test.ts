import assert from "node:assert/strict";
import { test } from "node:test";
import { createReplayFixture, type Decide, task } from "./replay-fixture.ts";

const fixture = await createReplayFixture();
const { sql } = fixture;

const failing =
  (...steps: string[]): Decide =>
  (step) =>
    steps.includes(step) ? { code: "broken" } : { output: { from: step } };

test("a replay on a newer version executes no completed step again, and the failed one with its fix", async () => {
  const tenant = await fixture.newTenant();
  await tenant.publish("order", { steps: [task("reserve"), task("charge"), task("ship", { was: "=steps.charge" })] });
  const runId = await tenant.start("order", { n: 1 }, { run_key: "order-1" });
  assert.deepEqual(
    await tenant.work([runId], failing("ship")),
    ["reserve", "charge", "ship"].map((step) => `${runId}:${step}`),
  );

  const fixed = [task("reserve"), task("charge"), task("ship", { was: "=steps.charge", n: "=input.n" }), task("thank")];
  await tenant.publish("order", { steps: fixed });
  const dry = await tenant.must("POST", `/api/workflow-runs/${runId}/replay`, { version: -1, dry_run: true });
  assert.equal(dry.run, undefined);
  assert.deepEqual(
    [dry.plan.version, dry.plan.from_step, dry.plan.kept_steps, dry.plan.repeated_steps, dry.plan.continued_steps],
    [2, "ship", ["reserve", "charge"], ["ship"], ["ship"]],
  );

  const { run } = await tenant.must("POST", `/api/workflow-runs/${runId}/replay`, { version: -1, reason: "fixed" });
  assert.deepEqual([run.started_via, run.replay_of_run_id, run.version, run.run_key], ["replay", runId, 2, "order-1"]);
  const inputs: unknown[] = [];
  const executed = await tenant.work([run.id], (step, input) => {
    inputs.push(input);
    return { output: step };
  });
  assert.deepEqual(executed, [`${run.id}:ship`, `${run.id}:thank`]);
  assert.deepEqual(inputs[0], { was: { from: "charge" }, n: 1 });
  assert.equal((await tenant.run(run.id)).status, "succeeded");
  const advances = await tenant.must("GET", `/api/workflow-runs/${run.id}/history`);
  const [first] = advances[0].entries;
  assert.deepEqual([first.kind, first.of, first.from], ["run_replayed", runId, "ship"]);
});

test("the input and outputs of earlier steps can be edited, and the input is checked against the schema", async () => {
  const tenant = await fixture.newTenant();
  const input_schema = { type: "object", required: ["n"], properties: { n: { type: "integer" } } };
  await tenant.publish("edit", { input_schema, steps: [task("a"), task("b", { n: "=input.n", a: "=steps.a" })] });
  const runId = await tenant.start("edit", { n: 1 });
  await tenant.work([runId], failing("b"));
  const refused = await tenant.nodes[0]!.call("POST", `/api/workflow-runs/${runId}/replay`, { input: { n: "x" } });
  assert.deepEqual([refused.status, refused.body.errorCode], [400, "INVALID_ARGUMENT"]);
  const { run } = await tenant.must("POST", `/api/workflow-runs/${runId}/replay`, {
    ...{ input: { n: 2 }, values: { a: "edited" } },
  });
  const inputs: unknown[] = [];
  await tenant.work([run.id], (_, input) => {
    inputs.push(input);
    return { output: null };
  });
  assert.deepEqual(inputs, [{ n: 2, a: "edited" }]);
});

test("nested blocks continue over the wire: a map in a branch of a parallel in an arm", async () => {
  const tenant = await fixture.newTenant();
  const steps = [
    {
      id: "pick",
      branch: [
        {
          when: "=size(input) > 1",
          steps: [
            {
              id: "both",
              parallel: {
                branches: {
                  left: [task("l1"), task("l2")],
                  right: [
                    {
                      id: "each",
                      map: { in: "=input", max_items: 10, steps: [task("m1", "=item"), task("m2", "=steps.m1")] },
                    },
                  ],
                },
              },
            },
          ],
        },
        { else: [] },
      ],
    },
    task("last", "=steps.pick"),
  ];
  await tenant.publish("nested", { steps });
  const runId = await tenant.start("nested", ["x", "y"]);
  const before = await tenant.work([runId], failing("m2[1]"));
  const { run, plan } = await tenant.must("POST", `/api/workflow-runs/${runId}/replay`, {});
  const after = await tenant.work([run.id], failing());
  assert.equal((await tenant.run(run.id)).status, "succeeded");
  const stepsOf = (executed: readonly string[]) => executed.map((each) => each.slice(each.indexOf(":") + 1));
  for (const step of stepsOf(after)) assert.ok(!plan.kept_steps.includes(step), `${step} ran again`);
  assert.ok(stepsOf(after).includes("m2[1]"));
  // Every step has run, and none of those that completed has run twice.
  const all = new Set([...stepsOf(before), ...stepsOf(after)]);
  assert.deepEqual([...all].sort(), ["l1", "l2", "last", "m1[0]", "m1[1]", "m2[0]", "m2[1]"]);
});

test("a repeated call with the same idempotency key starts one run", async () => {
  const tenant = await fixture.newTenant();
  await tenant.publish("keyed", { steps: [task("a")] });
  const runId = await tenant.start("keyed");
  await tenant.work([runId], failing("a"));
  const call = () =>
    tenant.nodes[0]!.call("POST", `/api/workflow-runs/${runId}/replay`, {}, { "idempotency-key": "once" });
  const responses = await Promise.all([call(), call(), call()]);
  const ids = new Set(responses.filter(({ status }) => status === 200).map(({ body }) => body.data.run.id));
  assert.equal(ids.size, 1);
  const [row] = await sql<{ count: number }[]>`
    select count(*)::int from all_workflow_runs where tenant_id = ${tenant.id} and origin ->> 'via' = 'replay'`;
  assert.equal(row!.count, 1);
  assert.equal((await call()).headers.get("idempotency-replayed"), "true");
});

test("what cannot be replayed is refused with a reason", async () => {
  const tenant = await fixture.newTenant();
  const id = await tenant.publish("refuse", { steps: [task("a"), task("b", "=steps.a")] });
  const refused = async (runId: string, body: object) => {
    const response = await tenant.nodes[0]!.call("POST", `/api/workflow-runs/${runId}/replay`, body);
    return [
      response.status,
      response.body.errorCode,
      ...(response.body.violations ?? []).map((each: { rule: string }) => each.rule),
    ];
  };
  const running = await tenant.start("refuse");
  assert.deepEqual(await refused(running, {}), [412, "FAILED_PRECONDITION"]);
  await tenant.work([running], failing("b"));
  assert.deepEqual(await refused(running, { from_step: "c" }), [412, "REPLAY_REFUSED", "unknown_step"]);
  assert.deepEqual(await refused(running, { version: 7 }), [404, "NOT_FOUND"]);
  await tenant.publish("refuse", { steps: [task("b"), task("c")] });
  assert.deepEqual((await refused(running, { version: 2 }))[0], 200, "the step a is not needed any more");
  const newer = await tenant.start("refuse");
  await tenant.work([newer], failing("c"));
  assert.deepEqual((await refused(newer, { version: 1 })).slice(0, 2), [400, "INVALID_ARGUMENT"]);
  await sql`delete from workflow_history where run_id = ${newer} and revision = 1`;
  assert.deepEqual(await refused(newer, {}), [412, "REPLAY_REFUSED", "history_expired"]);
  assert.deepEqual((await refused(newer, { from_step: "" }))[0], 200);
  await tenant.must("POST", `/api/workflow-definitions/${id}/archive`, {});
  assert.deepEqual(await refused(newer, {}), [412, "FAILED_PRECONDITION"]);
});

test("a replay counts towards the quota, keeps its run key, and is refused while another run has the key", async () => {
  const tenant = await fixture.newTenant();
  await tenant.publish("single", { steps: [task("a")] });
  const runId = await tenant.start("single", null, { run_key: "k" });
  await tenant.work([runId], failing("a"));
  const other = await tenant.start("single", null, { run_key: "k" });
  const taken = await tenant.nodes[0]!.call("POST", `/api/workflow-runs/${runId}/replay`, {});
  assert.deepEqual([taken.status, taken.body.errorCode], [409, "CONFLICT"]);
  await tenant.work([other]);
  await tenant.must("POST", `/api/workflow-runs/${runId}/replay`, {});
});

test("runs of another tenant or environment cannot be replayed", async () => {
  const tenant = await fixture.newTenant();
  const foreign = await fixture.newTenant();
  await tenant.publish("mine", { steps: [task("a")] });
  const runId = await tenant.start("mine");
  await tenant.work([runId], failing("a"));
  assert.equal((await foreign.nodes[0]!.call("POST", `/api/workflow-runs/${runId}/replay`, {})).status, 404);
  const limited = await tenant.clientWith({ roles: ["operator"], environment_mode: "non_production_only" });
  assert.equal((await limited.call("POST", `/api/workflow-runs/${runId}/replay`, {})).status, 403);
});
