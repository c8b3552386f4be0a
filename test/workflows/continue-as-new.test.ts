import assert from "node:assert/strict";
import { before, test } from "node:test";
import { startService } from "../harness/service.ts";
import { until } from "../harness/until.ts";
import { freshName, newTenant, type ResponseData, type TenantFixture } from "../routing/tenant-fixture.ts";

let tenant: TenantFixture;
before(async () => {
  tenant = await newTenant(await startService());
});

/** A counter: each event `add` ends a run, and the next one continues with the sum. A negative one ends the work. */
const counter = {
  steps: [
    { id: "add", wait_event: { event: "add", timeout: "1h" } },
    { id: "sum", transform: "=input.sum + steps.add.payload" },
    {
      id: "next",
      branch: [
        {
          when: "=steps.add.payload > 0",
          steps: [{ id: "again", continue_as_new: { input: { sum: "=steps.sum" } } }],
        },
      ],
    },
  ],
  output: "=steps.sum",
};

async function publish(document: object, key = freshName()): Promise<string> {
  const { body } = await tenant.rest.call("POST", "/api/workflow-definitions", {
    document: { dsl: "1", key, timeout: "1h", ...document },
  });
  if (body.data === undefined) {
    await tenant.ok("PATCH", `/api/workflow-definitions/${key}/draft`, {
      document: { dsl: "1", key, timeout: "1h", ...document },
    });
  }
  await tenant.ok("POST", `/api/workflow-definitions/${key}/publish`, {});
  return key;
}

const start = async (definition: string, more: object = {}): Promise<ResponseData> =>
  (await tenant.ok("POST", "/api/workflow-runs", { definition, input: { sum: 0 }, ...more })).data.run;
const read = async (id: string) => (await tenant.ok("GET", `/api/workflow-runs/${id}`)).data;
const signal = (id: string, payload: number) =>
  tenant.ok("POST", `/api/workflow-runs/${id}/signal`, { event: "add", payload });

/** The last run of a chain. */
async function last(id: string): Promise<ResponseData> {
  let run = await read(id);
  while (run.continued_by_run_id !== "") run = await read(run.continued_by_run_id);
  return run;
}

test("a run is continued by one with a new input, and with its key, attributes and a link", async () => {
  const definition = await publish(counter);
  const first = await start(definition, { run_key: "k", attributes: { customer: "acme" } });
  await signal(first.id, 5);
  const ended = await read(first.id);
  assert.deepEqual([ended.status, ended.output], ["succeeded", { sum: 5 }]);
  const second = await read(ended.continued_by_run_id);
  assert.deepEqual(
    [second.input, second.run_key, second.attributes, second.continues_run_id, second.started_via],
    [{ sum: 5 }, "k", { customer: "acme" }, first.id, "continue_as_new"],
  );
  const again = await tenant.ok("POST", "/api/workflow-runs", { definition, run_key: "k" });
  assert.deepEqual([again.data.started, again.data.run.id], [false, second.id]);
  await tenant.refused("FAILED_PRECONDITION", "POST", `/api/workflow-runs/${first.id}/signal`, { event: "add" });
  await tenant.ok("POST", "/api/workflow-runs:signal", { definition, run_key: "k", event: "add", payload: -1 });
  const { status, output } = (await tenant.ok("GET", `/api/workflow-runs/${second.id}?wait_s=20`)).data;
  assert.deepEqual([status, output], ["succeeded", 4]);
  const events = (await tenant.ok("GET", "/api/events?types=workflow.run.continued&limit=100")).data;
  const continued = events.find(({ subject }: ResponseData) => subject === first.id);
  assert.equal(continued.data.next_run_id, second.id);
});

test("events that no step has taken pass on, in order, and the history of each run stays short", async () => {
  const first = await start(await publish(counter));
  for (const payload of [1, 2, 3, -1])
    await signal((await last(first.id)).id, payload).catch(() => signal(first.id, payload));
  const end = await until(async () => {
    const run = await last(first.id);
    return run.status === "succeeded" ? run : undefined;
  });
  assert.equal(end!.output, 5);
  assert.ok(end!.revision <= 4, String(end!.revision));
});

test("events that arrive at once are taken by one run after the other", async () => {
  const first = await start(await publish(counter));
  await tenant.ok("POST", `/api/workflow-runs/${first.id}/pause`, {});
  await Promise.all([1, 2, 3].map((payload) => signal(first.id, payload)));
  await signal(first.id, -1);
  await tenant.ok("POST", `/api/workflow-runs/${first.id}/resume`, {});
  const end = await until(async () => {
    const run = await last(first.id);
    return run.status === "succeeded" ? run : undefined;
  });
  assert.equal(end!.output, 5);
  assert.equal((await tenant.ok("GET", `/api/workflow-runs?definition_id=${first.definition_id}`)).data.length, 4);
});

test("the next run uses the version that is active then, and fails if that does not take its input", async () => {
  const key = await publish(counter);
  const [first, other] = [await start(key), await start(key)];
  await publish({ ...counter, output: "='new ' + string(steps.sum)" }, key);
  await signal(first.id, 1);
  const second = await last(first.id);
  assert.deepEqual([first.version, second.version], [1, 2]);
  await signal(second.id, -1);
  assert.equal((await tenant.ok("GET", `/api/workflow-runs/${second.id}?wait_s=20`)).data.output, "new 0");
  await publish({ ...counter, input_schema: { type: "object", required: ["start"], properties: { start: {} } } }, key);
  await signal(other.id, 1);
  const failed = await last(other.id);
  assert.deepEqual([failed.status, failed.error.code], ["failed", "invalid_input"]);
  assert.equal((await tenant.ok("GET", `/api/workflow-dlq/${failed.id}`)).data.state, "open");
});

test("a run that continues itself at once starts once a second at most, until somebody cancels it", async () => {
  const first = await start(await publish({ steps: [{ id: "again", continue_as_new: { input: "=input" } }] }));
  const third = await until(async () => {
    const { continued_by_run_id: second } = await read(first.id);
    const { continued_by_run_id: next } = second === "" ? { continued_by_run_id: "" } : await read(second);
    return next === "" ? undefined : read(next);
  });
  assert.ok(Date.parse(third!.created_at) - Date.parse(first.created_at) >= 1000);
  await until(async () => {
    const { id, status } = await last(first.id);
    await tenant.rest.call("POST", `/api/workflow-runs/${id}/cancel`, {});
    return ["cancelled"].includes((await read(id)).status) || status === "cancelled";
  });
});

test("a worker that waits gets the first task of the next run at once", async () => {
  const queue = freshName();
  const work = { id: "work", task: { queue, type: "t" } };
  const next = { id: "again", continue_as_new: { input: { sum: 1 } } };
  const first = await start(
    await publish({
      steps: [
        { id: "wait", branch: [{ when: "=input.sum == 0", steps: [{ id: "nap", wait_timer: { for: "2s" } }, next] }] },
        work,
      ],
    }),
  );
  const startedMs = Date.now();
  const poll = { queue, worker_id: "w", protocol: 1, capabilities: [{ type: "t" }], slots: 1, wait_s: 20 };
  const [task] = (await tenant.ok("POST", "/api/workflow-tasks:poll", poll)).data.tasks;
  assert.equal(task?.run_id, (await read(first.id)).continued_by_run_id);
  assert.ok(Date.now() - startedMs < 10_000, `after ${Date.now() - startedMs} ms`);
});

test("a run that another one waits for is not continued, and neither is one inside of a map", async () => {
  const child = await publish({ steps: [{ id: "again", continue_as_new: {} }] });
  const parent = await publish({ steps: [{ id: "sub", subworkflow: { key: child } }] });
  const { id } = await start(parent);
  const { status, error } = (await tenant.ok("GET", `/api/workflow-runs/${id}?wait_s=20`)).data;
  assert.deepEqual([status, error.details.error.code], ["failed", "continue_failed"]);
  const map = { in: "=[1]", max_items: 1, steps: [{ id: "again", continue_as_new: {} }] };
  const document = { dsl: "1", key: freshName(), timeout: "1h", steps: [{ id: "each", map }] };
  const { data } = await tenant.ok("POST", "/api/workflow-definitions:validate", { document });
  assert.deepEqual(
    data.violations.map(({ path }: ResponseData) => path),
    ["steps[0].map.steps[0].continue_as_new"],
  );
});
