import assert from "node:assert/strict";
import { before, test } from "node:test";
import { startService, type TestService } from "../harness/service.ts";
import { until } from "../harness/until.ts";

// biome-ignore lint/suspicious/noExplicitAny: responses have many shapes.
type Json = any;

let service: TestService;
before(async () => {
  service = await startService();
});

async function call(method: string, path: string, body?: object, init: RequestInit = {}): Promise<Json> {
  const response = await fetch(`${service.baseUrl}${path}`, {
    method,
    ...init,
    headers: { "x-api-key": service.adminKey, "content-type": "application/json", ...init.headers },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const received: Json = await response.json();
  assert.ok(response.ok, `${method} ${path}: ${JSON.stringify(received)}`);
  return received.data;
}

/** Publishes a workflow of three tasks in its own queue. */
async function publish(key: string, queue: string): Promise<void> {
  const step = (id: string, from: string) => ({ id, task: { queue, type: id, version: ">=1 <2" }, with: { from } });
  const steps = [step("one", "=input.n"), step("two", "=steps.one.n"), step("three", "=steps.two.n")];
  await call("POST", "/api/workflow-definitions", { document: { dsl: "1", key, timeout: "1h", steps } });
  await call("POST", `/api/workflow-definitions/${key}/publish`, {});
}

const worker = (queue: string, fields: object = {}) => ({
  ...{ queue, worker_id: "w", build_id: "b1", slots: 1, wait_s: 20 },
  capabilities: ["one", "two", "three"].map((type) => ({ type, versions: ["1.4.0"] })),
  ...fields,
});
const poll = async (queue: string, fields: object = {}, init: RequestInit = {}) =>
  (await call("POST", "/api/workflow-tasks:poll", worker(queue, fields), init)).tasks;
const start = async (key: string) =>
  (await call("POST", "/api/workflow-runs", { definition: key, input: { n: 1 } })).run;

/** Waits until the poll of a worker is recorded. */
async function untilSeen(queue: string, workerId: string): Promise<void> {
  await until(async () => {
    const queues = await call("GET", `/api/workflow-queues?queue=${queue}`);
    return queues[0]?.workers.some((seen: Json) => seen.worker_id === workerId);
  });
}

test("a worker runs the steps of a run: a waiting poll gets the first, each completion the next", async () => {
  await publish("chain.run", "chain");
  const waiting = poll("chain");
  await untilSeen("chain", "w");
  const run = await start("chain.run");
  let [task] = await waiting;
  const seen: unknown[] = [];
  for (let n = 10; task !== undefined; n++) {
    assert.equal(task.run_id, run.id);
    assert.equal(task.idempotency_key, `${run.id}:${task.step}`);
    seen.push([task.step, task.attempt, task.input]);
    const isLast = task.step === "three";
    const completions = [{ task_id: task.task_id, token: task.token, output: { n } }];
    const body = { completions, ...(!isLast && { poll: worker("chain") }) };
    const { results, tasks } = await call("POST", "/api/workflow-tasks:complete", body);
    assert.equal(results[0].status, "completed");
    [task] = tasks;
  }
  assert.deepEqual(seen, [
    ["one", 1, { from: 1 }],
    ["two", 1, { from: 10 }],
    ["three", 1, { from: 11 }],
  ]);
  const ended = await call("GET", `/api/workflow-runs/${run.id}`);
  assert.deepEqual([ended.status, ended.output], ["succeeded", { n: 12 }]);
  const metrics = await (await fetch(`${service.metricsUrl}/metrics`)).text();
  // The first poll may have scanned when its task was created. A completion receives its task without a scan.
  assert.match(metrics, /^workflow_task_changes_total\{change="dispatched"\} [23]$/m);
});

test("a completion that is repeated with its idempotency key gets the first response", async () => {
  await publish("repeat.run", "repeat");
  await start("repeat.run");
  const [task] = await poll("repeat");
  const completions = [{ task_id: task.task_id, token: task.token, output: { n: 5 } }];
  const complete = () =>
    call(
      "POST",
      "/api/workflow-tasks:complete",
      { completions, poll: worker("repeat") },
      {
        headers: { "idempotency-key": "first" },
      },
    );
  const first = await complete();
  assert.equal(first.tasks[0].step, "two");
  assert.deepEqual(await complete(), first);
});

test("a worker that disconnects while it waits gets no task, and another one gets it at once", async () => {
  await publish("leave.run", "leave");
  const caller = new AbortController();
  const left = assert.rejects(poll("leave", { worker_id: "left" }, { signal: caller.signal }), { name: "AbortError" });
  await untilSeen("leave", "left");
  caller.abort();
  await left;
  await start("leave.run");
  const [task] = await poll("leave", { worker_id: "stays" });
  assert.deepEqual([task.step, task.attempt], ["one", 1]);
});

test("a failed attempt is retried by its policy, and a failure that is not retryable ends the run", async () => {
  await publish("fail.run", "fail");
  const run = await start("fail.run");
  const [first] = await poll("fail");
  const failure = { task_id: first.task_id, token: first.token, code: "task_failed", retry_after_s: 0 };
  await call("POST", "/api/workflow-tasks:fail", { failures: [failure] });
  const [second] = await poll("fail");
  assert.deepEqual([second.task_id, second.attempt], [first.task_id, 2]);
  const final = { task_id: second.task_id, token: second.token, message: "no", retryable: false };
  await call("POST", "/api/workflow-tasks:fail", { failures: [final] });
  const ended = await call("GET", `/api/workflow-runs/${run.id}`);
  assert.deepEqual([ended.status, ended.error.code, ended.error.message], ["failed", "task_failed", "no"]);
  const stale = await call("POST", "/api/workflow-tasks:complete", {
    completions: [{ task_id: first.task_id, token: first.token }],
  });
  assert.equal(stale.results[0].status, "stale");
});

test("a heartbeat of a cancelled run says cancel, of a paused one paused", async () => {
  await publish("beat.run", "beat");
  const beat = async ({ task_id, token }: Json) =>
    (await call("POST", "/api/workflow-tasks:heartbeat", { tasks: [{ task_id, token, details: { done: 1 } }] }))
      .results[0].status;
  const run = await start("beat.run");
  const [task] = await poll("beat");
  assert.equal(await beat(task), "ok");
  await call("POST", `/api/workflow-runs/${run.id}/pause`, {});
  assert.equal(await beat(task), "paused");
  await call("POST", `/api/workflow-runs/${run.id}/resume`, {});
  assert.equal(await beat(task), "ok");
  await call("POST", `/api/workflow-runs/${run.id}/cancel`, {});
  assert.equal(await beat(task), "cancel");
});

test("a task that a build refuses waits visibly for another build", async () => {
  await publish("refuse.run", "refuse");
  const run = await start("refuse.run");
  const [task] = await poll("refuse");
  const failures = [{ task_id: task.task_id, token: task.token, code: "incompatible", message: "unknown schema" }];
  const { results } = await call("POST", "/api/workflow-tasks:fail", { failures });
  assert.equal(results[0].status, "incompatible");
  const tasks = await call("GET", `/api/workflow-tasks?run_id=${run.id}&state=incompatible`);
  assert.deepEqual(
    tasks.map((each: Json) => [each.id, each.wait_reason, each.refused_by]),
    [[task.task_id, "no_capable_worker", ["b1"]]],
  );
  assert.deepEqual(await poll("refuse", { wait_s: 0 }), []);
  const [again] = await poll("refuse", { build_id: "b2", worker_id: "w2" });
  assert.deepEqual([again.task_id, again.attempt], [task.task_id, 1]);
});

test("a stopping node ends the polls that wait on it", async () => {
  const stopping = await startService({ "auth.bootstrap_api_key": service.adminKey }, service.databaseUrl);
  const response = fetch(`${stopping.baseUrl}/api/workflow-tasks:poll`, {
    method: "POST",
    headers: { "x-api-key": service.adminKey, "content-type": "application/json" },
    body: JSON.stringify(worker("stop")),
  });
  await untilSeen("stop", "w");
  await stopping.stop();
  const received: Json = await (await response).json();
  assert.deepEqual(received.data, { tasks: [] });
});
