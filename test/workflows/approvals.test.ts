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

async function call(path: string, body?: object, key = service.adminKey): Promise<Json> {
  const response = await fetch(`${service.baseUrl}${path}`, {
    method: body === undefined ? "GET" : "POST",
    headers: { "x-api-key": key, "content-type": "application/json" },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  return response.json();
}

/** Starts a run that waits for two approvals. Returns the path of its decisions and a function that reads it. */
async function startApproval(key: string) {
  const approval = { by: ["role:admin", "role:workflow_approver"], quorum: 2, timeout: "1h" };
  const document = { dsl: "1", key, timeout: "1h", steps: [{ id: "ask", approval }] };
  await call("/api/workflow-definitions", { document });
  await call(`/api/workflow-definitions/${key}/publish`, {});
  const { id } = (await call("/api/workflow-runs", { definition: key })).data.run;
  const path = `/api/workflow-runs/${id}`;
  return { decide: `${path}/approvals/ask/decide`, read: async () => (await call(path)).data };
}

test("a decision that does not say whether it approves is refused and changes nothing", async () => {
  const { decide, read } = await startApproval("approval.empty");
  const refused = await call(decide, { comment: "looks good" });
  assert.equal(refused.errorCode, "INVALID_ARGUMENT");
  assert.equal(refused.violations[0].field, "approved");
  const run = await read();
  assert.deepEqual([run.status, run.revision], ["waiting", 1]);
  assert.equal((await call(decide, { approved: false })).data.error.code, "approval_rejected");
});

test("a quorum needs different people, each with one of the roles", async () => {
  const { decide, read } = await startApproval("approval.quorum");
  const keyOf = async (role: string) => (await call("/api/v2/api-keys", { name: role, roles: [role] })).data.secret;
  assert.equal((await call(decide, { approved: true })).data.status, "waiting");
  assert.equal((await call(decide, { approved: true })).detail, "You have already decided.");
  assert.equal((await call(decide, { approved: true }, await keyOf("operator"))).errorCode, "PERMISSION_DENIED");
  assert.equal((await read()).status, "waiting");
  const decided = await call(decide, { approved: true }, await keyOf("workflow_approver"));
  assert.equal(decided.data.status, "succeeded");
  assert.equal(decided.data.output.decisions.length, 2);
});

/** Publishes a definition of steps under a new key and starts a run of it. */
async function startRun(key: string, steps: readonly object[], start: object = {}, apiKey?: string): Promise<Json> {
  await call("/api/workflow-definitions", { document: { dsl: "1", key, timeout: "1h", steps } }, apiKey);
  await call(`/api/workflow-definitions/${key}/publish`, {}, apiKey);
  return (await call("/api/workflow-runs", { definition: key, ...start }, apiKey)).data.run;
}

const newKey = async (roles: readonly string[], more: object = {}): Promise<{ id: string; secret: string }> =>
  (await call("/api/v2/api-keys", { name: "approver", roles, ...more })).data;

const listOf = async (definition: string, more = "", key = service.adminKey): Promise<Json> =>
  (await call(`/api/workflow-approvals?definition=${definition}${more}`, undefined, key)).data;

const ask = { by: ["role:admin", "role:workflow_approver"], quorum: 2, timeout: "1h" };

test("an open approval is listed with what people need to decide, until a decision ends it", async () => {
  const approval = {
    ...ask,
    comment: "required",
    title: '="Refund of " + string(input.n)',
    details: { n: "=input.n" },
  };
  const started = { input: { n: 250 }, run_key: "A-17" };
  const run = await startRun("list.shown", [{ id: "ask", approval }], started);
  const [shown, ...others] = await listOf("list.shown");
  assert.deepEqual(others, []);
  const { id, tenant_id, opened_at, due_at, ...rest } = shown;
  assert.deepEqual(rest, {
    ...{ environment_id: run.environment_id, definition_id: run.definition_id, definition_key: "list.shown" },
    ...{ run_id: run.id, run_key: "A-17", step: "ask", title: "Refund of 250", details: { n: 250 } },
    ...{ details_omitted: false, by: ask.by, quorum: 2, comment_required: true, decisions: [], paused: false },
  });
  assert.equal(Date.parse(due_at) - Date.parse(opened_at), 3_600_000);
  assert.deepEqual((await listOf(run.definition_id)).length, 1);
  const path = `/api/workflow-runs/${run.id}/approvals/ask/decide`;
  await call(path, { approved: true, comment: "ordered twice" });
  const [{ decisions, ...decided }] = await listOf("list.shown");
  assert.deepEqual([decided.id, decisions.length, decisions[0].comment], [id, 1, "ordered twice"]);
  await call(path, { approved: true, comment: "checked" }, (await newKey(["workflow_approver"])).secret);
  assert.deepEqual(await listOf("list.shown"), []);
});

test("a caller finds the approvals that it can still decide", async () => {
  const [approver, viewer] = [await newKey(["workflow_approver"]), await newKey(["viewer"])];
  const named = { by: [`user:key:${viewer.id}`], timeout: "1h" };
  const run = await startRun("list.mine", [
    {
      id: "both",
      parallel: {
        branches: { role: [{ id: "role", approval: ask }], user: [{ id: "user", approval: named }] },
      },
    },
  ]);
  const mine = async (key?: string) => (await listOf("list.mine", "&mine=true", key)).map(({ step }: Json) => step);
  assert.deepEqual(await mine(), ["role"]);
  assert.deepEqual(await mine(approver.secret), ["role"]);
  assert.deepEqual(await mine(viewer.secret), ["user"]);
  assert.equal((await listOf("list.mine", "", viewer.secret)).length, 2);
  await call(`/api/workflow-runs/${run.id}/approvals/role/decide`, { approved: true }, approver.secret);
  assert.deepEqual([await mine(approver.secret), await mine()], [[], ["role"]]);
});

test("an approval of a paused run is listed as paused, with the decisions that wait for the resumption", async () => {
  const run = await startRun("list.paused", [{ id: "ask", approval: ask }]);
  const path = `/api/workflow-runs/${run.id}`;
  await call(`${path}/pause`, {});
  await call(`${path}/approvals/ask/decide`, { approved: true });
  const [paused] = await listOf("list.paused");
  assert.deepEqual([paused.paused, paused.decisions.length], [true, 1]);
  assert.deepEqual(await listOf("list.paused", "&mine=true"), []);
  assert.equal((await call(`${path}/approvals/ask/decide`, { approved: false })).detail, "You have already decided.");
  await call(`${path}/resume`, {});
  const [resumed] = await listOf("list.paused");
  assert.deepEqual([resumed.paused, resumed.decisions], [false, paused.decisions]);
});

test("an approval is no longer listed when it times out, its block fails, or its run is cancelled", async () => {
  const after = (id: string) => ({ id, wait_event: { event: id, timeout: "1h" } });
  const escalated = { id: "ask", approval: { ...ask, timeout: "20ms", on_timeout: [after("escalated")] } };
  const timedOut = await startRun("list.timeout", [escalated]);
  const read = async () => (await call(`/api/workflow-runs/${timedOut.id}`)).data.active_steps;
  await until(async () => (await read()).some(({ step }: Json) => step === "escalated"));
  assert.deepEqual(await listOf("list.timeout"), []);

  const branches = {
    ask: [{ id: "ask", approval: ask }],
    stop: [after("stop"), { id: "no", fail: { code: "stopped" } }],
  };
  const failed = await startRun("list.block", [
    { id: "both", parallel: { branches }, catch: [{ on: ["stopped"], steps: [after("caught")] }] },
  ]);
  assert.equal((await listOf("list.block")).length, 1);
  await call(`/api/workflow-runs/${failed.id}/signal`, { event: "stop" });
  assert.equal((await call(`/api/workflow-runs/${failed.id}`)).data.status, "waiting");
  assert.deepEqual(await listOf("list.block"), []);

  const cancelled = await startRun("list.cancel", [{ id: "ask", approval: ask }]);
  assert.equal((await listOf("list.cancel")).length, 1);
  await call(`/api/workflow-runs/${cancelled.id}/cancel`, {});
  assert.deepEqual(await listOf("list.cancel"), []);
  const replay = await call(`/api/workflow-runs/${cancelled.id}/replay`, {});
  assert.deepEqual(
    (await listOf("list.cancel")).map(({ run_id }: Json) => run_id),
    [replay.data.run.id],
  );
});

test("details and titles that the list cannot hold do not keep a run from waiting", async () => {
  const details = { text: "=input.text" };
  const run = await startRun("list.large", [{ id: "ask", approval: { ...ask, title: '="a\\u0000b"', details } }], {
    input: { text: "x".repeat(40_000) },
  });
  assert.equal(run.status, "waiting");
  const [shown] = await listOf("list.large");
  assert.deepEqual([shown.title, shown.details_omitted, shown.details], ["a\ufffdb", true, undefined]);
});

test("a key for one kind of environment sees only the approvals there", async () => {
  const environment = await call("/api/v2/environments", { key: "approvals", name: "approvals" });
  const environment_id = environment.data.id;
  await startRun("list.environments", [{ id: "ask", approval: ask }]);
  await call("/api/workflow-runs", { definition: "list.environments", environment_id });
  const keyOf = async (mode: string) => (await newKey(["viewer"], { environment_mode: mode })).secret;
  const [inside, outside] = [await keyOf("production_only"), await keyOf("non_production_only")];
  const count = async (key?: string, more = "") => (await listOf("list.environments", more, key)).length;
  assert.deepEqual([await count(), await count(inside), await count(outside)], [2, 1, 1]);
  const filter = `&environment_id=${environment_id}`;
  assert.deepEqual(
    [await count(undefined, filter), await count(inside, filter), await count(outside, filter)],
    [1, 0, 1],
  );
});

test("a list of approvals has pages, the oldest approval first", async () => {
  const run = await startRun("list.pages", [{ id: "ask", approval: ask }]);
  const others = [];
  for (let n = 0; n < 2; n++) others.push((await call("/api/workflow-runs", { definition: "list.pages" })).data.run.id);
  const first = await call("/api/workflow-approvals?definition=list.pages&limit=2");
  assert.equal(first.total, 3);
  const next = `&cursor=${encodeURIComponent(first.next_cursor)}`;
  const second = await call(`/api/workflow-approvals?definition=list.pages&limit=2${next}`);
  assert.deepEqual(
    [...first.data, ...second.data].map(({ run_id }: Json) => run_id),
    [run.id, ...others],
  );
  const changed = await call(`/api/workflow-approvals?definition=list.pages&mine=true&limit=2${next}`);
  assert.equal(changed.errorCode, "INVALID_ARGUMENT");
});
