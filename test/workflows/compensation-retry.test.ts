import assert from "node:assert/strict";
import { before, test } from "node:test";
import { startService } from "../harness/service.ts";
import { until } from "../harness/until.ts";
import { freshName, newTenant, type ResponseData, type TenantFixture } from "../routing/tenant-fixture.ts";

let tenant: TenantFixture;
before(async () => {
  tenant = await newTenant(await startService());
});

const once = { max_attempts: 1 };
const undo = (queue: string, step: string) => ({
  task: { queue, type: "undo", errors: ["no"] },
  with: { step },
  retry: once,
});

async function publish(document: object): Promise<string> {
  const key = freshName();
  const body = { document: { dsl: "1", key, timeout: "1h", ...document } };
  const { id } = (await tenant.ok("POST", "/api/workflow-definitions", body)).data;
  await tenant.ok("POST", `/api/workflow-definitions/${id}/publish`, {});
  return key;
}

/** Publishes a workflow whose steps `a` and `b` are undone by tasks of a queue after it fails. */
const publishTrip = (queue: string) =>
  publish({
    on_failure: "compensate",
    steps: [
      { id: "a", transform: 1, compensate: undo(queue, "a") },
      { id: "b", transform: 2, compensate: undo(queue, "b") },
      { id: "pay", fail: { code: "declined", message: "no money" } },
    ],
  });

const read = async (id: string) => (await tenant.ok("GET", `/api/workflow-runs/${id}`)).data;
const untilEnded = async (id: string) => (await tenant.ok("GET", `/api/workflow-runs/${id}?wait_s=20`)).data;
const compensate = async (id: string, body: object = {}, headers = {}): Promise<ResponseData> =>
  (await tenant.ok("POST", `/api/workflow-runs/${id}/compensate`, body, headers)).data;

/** Leases the next task of a queue and reports on it. Returns its step. */
async function work(queue: string, isDone: boolean): Promise<string> {
  const capabilities = [{ type: "undo" }];
  const poll = { queue, worker_id: "w", protocol: 1, capabilities, slots: 1, wait_s: 10 };
  const [{ task_id, token, input }] = (await tenant.ok("POST", "/api/workflow-tasks:poll", poll)).data.tasks;
  if (isDone) await tenant.ok("POST", "/api/workflow-tasks:complete", { completions: [{ task_id, token }] });
  else
    await tenant.ok("POST", "/api/workflow-tasks:fail", {
      failures: [{ task_id, token, code: "no", message: "shut" }],
    });
  return input.step;
}

async function failedTrip(queue: string, more: object = {}): Promise<string> {
  const definition = await publishTrip(queue);
  const { id } = (await tenant.ok("POST", "/api/workflow-runs", { definition, ...more })).data.run;
  assert.deepEqual([await work(queue, false), await work(queue, false)], ["b", "a"]);
  const ended = await untilEnded(id);
  assert.deepEqual([ended.status, ended.failed_compensations], ["failed", ["b", "a"]]);
  return id;
}

test("one failed compensation is retried alone, and the run ends again as before", async () => {
  const queue = freshName();
  const id = await failedTrip(queue);
  const letter = async () => (await tenant.ok("GET", `/api/workflow-dlq/${id}`)).data;
  await tenant.ok("POST", `/api/workflow-dlq/${id}/discard`, { reason: "done by hand" });
  assert.equal((await compensate(id, { steps: ["a"], reason: "open again" })).status, "running");
  assert.equal(await work(queue, true), "a");
  const again = await untilEnded(id);
  assert.deepEqual([again.status, again.error.code, again.failed_compensations], ["failed", "declined", ["b"]]);
  assert.deepEqual(
    again.error.details.failed_compensations.map(({ step }: ResponseData) => step),
    ["b"],
  );
  assert.equal((await letter()).state, "discarded", "the end of a retry opens no dead letter");

  await compensate(id);
  assert.equal(await work(queue, true), "b");
  const { error, failed_compensations } = await untilEnded(id);
  assert.deepEqual([error.details, failed_compensations], [null, []]);
  await tenant.refused("FAILED_PRECONDITION", "POST", `/api/workflow-runs/${id}/compensate`, {});
  const advances = (await tenant.ok("GET", `/api/workflow-runs/${id}/history?limit=100`)).data;
  const retries = advances
    .flatMap(({ entries }: ResponseData) => entries)
    .filter(({ kind }: ResponseData) => kind === "compensations_retried");
  assert.deepEqual(
    retries.map(({ steps, reason }: ResponseData) => [steps, reason]),
    [
      [["a"], "open again"],
      [["b"], ""],
    ],
  );
});

test("a retry that fails again can be retried again, in the order of compensation", async () => {
  const queue = freshName();
  const id = await failedTrip(queue);
  await compensate(id);
  assert.deepEqual([await work(queue, false), await work(queue, true)], ["b", "a"]);
  assert.deepEqual((await untilEnded(id)).failed_compensations, ["b"]);
});

test("of several retries at once, and of a repeated one, each compensation starts once", async () => {
  const queue = freshName();
  const id = await failedTrip(queue);
  const headers = { "idempotency-key": freshName() };
  const results = await Promise.all([
    ...Array.from({ length: 3 }, () =>
      tenant.rest.call("POST", `/api/workflow-runs/${id}/compensate`, { steps: ["a"] }),
    ),
    ...Array.from({ length: 3 }, () =>
      tenant.rest.call("POST", `/api/workflow-runs/${id}/compensate`, { steps: ["a"] }, headers),
    ),
  ]);
  assert.ok(results.some(({ status }) => status === 200));
  const tasks = (await tenant.ok("GET", `/api/workflow-tasks?run_id=${id}`)).data;
  assert.equal(tasks.length, 1);
  await work(queue, true);
  await untilEnded(id);
  const first = await compensate(id, { steps: ["b"] }, { "idempotency-key": `${id} b` });
  assert.deepEqual(await compensate(id, { steps: ["b"] }, { "idempotency-key": `${id} b` }), first);
});

test("only an ended run, and only a step whose compensation has failed, can be retried", async () => {
  const queue = freshName();
  const definition = await publishTrip(queue);
  const { id } = (await tenant.ok("POST", "/api/workflow-runs", { definition })).data.run;
  const path = `/api/workflow-runs/${id}/compensate`;
  await tenant.refused("FAILED_PRECONDITION", "POST", path, {});
  await work(queue, false);
  await work(queue, true);
  await untilEnded(id);
  const { revision } = await read(id);
  const { body } = await tenant.refused("INVALID_ARGUMENT", "POST", path, { steps: ["a"] });
  assert.equal(body.violations[0].field, "steps");
  assert.deepEqual([(await read(id)).revision, (await read(id)).status], [revision, "failed"], "nothing has changed");
});

test("a run is not retried while another one has its run key, or after a replay has kept its steps", async () => {
  const queue = freshName();
  const id = await failedTrip(queue, { run_key: "k" });
  const { definition_key } = await read(id);
  const replay = (await tenant.ok("POST", `/api/workflow-runs/${id}/replay`, { from_step: "pay" })).data.run;
  await tenant.refused("FAILED_PRECONDITION", "POST", `/api/workflow-runs/${id}/compensate`, {});
  assert.deepEqual((await read(id)).failed_compensations, []);
  assert.deepEqual([await work(queue, false), await work(queue, true)], ["b", "a"]);
  assert.deepEqual((await untilEnded(replay.id)).failed_compensations, ["b"], "the replay compensates them");
  const other = (await tenant.ok("POST", "/api/workflow-runs", { definition: definition_key, run_key: "k" })).data.run;
  await tenant.refused("CONFLICT", "POST", `/api/workflow-runs/${replay.id}/compensate`, {});
  await tenant.ok("POST", `/api/workflow-runs/${other.id}/cancel`, {});
  await compensate(replay.id);
});

test("a compensation whose item was rejected is routed anew", async () => {
  const pool = freshName();
  const poolId = await tenant.pool({ name: pool });
  const rule = await tenant.rule(poolId, { type: "reject" });
  const definition = await publish({
    on_failure: "compensate",
    steps: [
      { id: "a", transform: 1, compensate: { route: { pool, key: "undo" }, retry: once } },
      { id: "pay", fail: { code: "declined" } },
    ],
  });
  const { id } = (await tenant.ok("POST", "/api/workflow-runs", { definition })).data.run;
  const ended = await untilEnded(id);
  assert.deepEqual(ended.failed_compensations, ["a"], JSON.stringify(ended.error));
  assert.equal(ended.error.details.failed_compensations[0].code, "route_rejected");
  await tenant.ok("DELETE", `/api/rules/${rule}`);
  await compensate(id);
  assert.deepEqual((await untilEnded(id)).failed_compensations, []);
});

test("of replays at once, each takes over the compensations of the steps it keeps", async () => {
  const queue = freshName();
  for (let round = 0; round < 5; round++) {
    const id = await failedTrip(queue);
    const steps = ["b", "pay", "b", "pay"];
    const replays = await Promise.all(
      steps.map((from_step) => tenant.rest.call("POST", `/api/workflow-runs/${id}/replay`, { from_step })),
    );
    const started = steps.filter((_, nth) => replays[nth]!.status === 200);
    assert.ok(started.length > 0 && replays.every(({ status }) => status === 200 || status === 409));
    assert.deepEqual((await read(id)).failed_compensations, started.includes("pay") ? [] : ["b"], String(started));
    for (const { body } of replays) {
      if (body.data !== undefined) await tenant.ok("POST", `/api/workflow-runs/${body.data.run.id}/cancel`, {});
    }
    const pending = (await tenant.ok("GET", `/api/workflow-tasks?queue=${queue}`)).data;
    assert.deepEqual(pending, []);
  }
});

test("a cancelled retry can be retried again, and the run ends as it did at first", async () => {
  const queue = freshName();
  const id = await failedTrip(queue);
  await compensate(id);
  await tenant.ok("POST", `/api/workflow-runs/${id}/cancel`, {});
  const { status, error, failed_compensations } = await untilEnded(id);
  assert.deepEqual([status, error.code, failed_compensations], ["failed", "declined", ["b", "a"]]);
});

test("a cancelled child run compensates with a run of its own, though its parent has ended", async () => {
  const queue = freshName();
  const giveBack = await publish({ steps: [{ id: "back", transform: "=input" }] });
  const child = await publish({
    steps: [
      { id: "seat", transform: 1, compensate: { subworkflow: { key: giveBack, input: "back" } } },
      { id: "wait", task: { queue, type: "undo" } },
    ],
  });
  const parent = await publish({ steps: [{ id: "book", subworkflow: { key: child } }] });
  const { id } = (await tenant.ok("POST", "/api/workflow-runs", { definition: parent })).data.run;
  const childOf = async (of: string): Promise<ResponseData> =>
    (await tenant.ok("GET", `/api/workflow-runs?parent_run_id=${of}`)).data[0];
  const booking = await until(async () => {
    const found = await childOf(id);
    return found?.status === "running" ? found : undefined;
  });
  await tenant.ok("POST", `/api/workflow-runs/${id}/cancel`, {});
  const { status, error } = await untilEnded(booking!.id);
  assert.deepEqual([status, error.details], ["cancelled", null]);
  assert.deepEqual([(await childOf(booking!.id)).status], ["succeeded"]);
});
