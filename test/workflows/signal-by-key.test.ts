import assert from "node:assert/strict";
import { before, test } from "node:test";
import { startService } from "../harness/service.ts";
import { freshName, newTenant, type ResponseData, type TenantFixture } from "../routing/tenant-fixture.ts";

let own: TenantFixture;
let foreign: TenantFixture;
let definitionId: string;
before(async () => {
  const service = await startService();
  [own, foreign] = [await newTenant(service), await newTenant(service)];
  definitionId = await publish(own);
  await publish(foreign);
});

const path = "/api/workflow-runs:signal";

/** Publishes the definition `contract`, which waits for `check` and then for `signed`; returns its id. */
async function publish(tenant: TenantFixture): Promise<string> {
  const wait = (event: string) => ({ id: event, wait_event: { event, scope: "=input", timeout: "1h" } });
  const document = { dsl: "1", key: "contract", timeout: "1h", steps: [wait("check"), wait("signed")] };
  const { id } = (await tenant.ok("POST", "/api/workflow-definitions", { document })).data;
  await tenant.ok("POST", `/api/workflow-definitions/${id}/publish`, {});
  return id;
}

async function start(runKey: string, more: object = {}): Promise<ResponseData> {
  const request = { definition: "contract", input: "s", run_key: runKey, ...more };
  return (await own.ok("POST", "/api/workflow-runs", request)).data.run;
}

const eventFor = (runKey: string, event: string, more: object = {}) => ({
  ...{ definition: "contract", run_key: runKey, event, scope: "s" },
  ...more,
});
const send = async (runKey: string, event: string, more: object = {}) =>
  (await own.ok("POST", path, eventFor(runKey, event, more))).data;
const read = async (id: string) => (await own.ok("GET", `/api/workflow-runs/${id}`)).data;

test("an event reaches the run in progress with the key", async () => {
  const [key, other] = [freshName(), freshName()];
  const run = await start(key);
  const beside = await start(other);
  const sent = await send(key, "check", { event_id: "e1" });
  assert.deepEqual(sent, { run_id: run.id, event_id: "e1", duplicate: false });
  await send(key, "signed", { definition: definitionId, payload: { by: "ann" } });
  const ended = await read(run.id);
  assert.deepEqual([ended.status, ended.output.payload], ["succeeded", { by: "ann" }]);
  assert.equal((await read(beside.id)).revision, 1);
});

test("an event for a key without a run in progress is refused, and nothing is kept", async () => {
  const key = freshName();
  await own.refused("NOT_FOUND", "POST", path, eventFor(key, "check"));
  const run = await start(key);
  await own.ok("POST", `/api/workflow-runs/${run.id}/cancel`, {});
  await own.refused("NOT_FOUND", "POST", path, eventFor(key, "check"));
  await own.refused("NOT_FOUND", "POST", path, eventFor(key, "check", { definition: "nowhere" }));
  await own.refused("INVALID_ARGUMENT", "POST", path, eventFor("", "check"));
  await start(key);
  await foreign.refused("NOT_FOUND", "POST", path, eventFor(key, "check"));
});

test("a repeated event is recognised by its id as long as the run exists", async () => {
  const key = freshName();
  const first = await start(key);
  await send(key, "check", { event_id: "e" });
  assert.equal((await send(key, "check", { event_id: "e" })).duplicate, true);
  assert.equal((await read(first.id)).revision, 2);
  await send(key, "signed");
  const second = await start(key);
  assert.deepEqual(await send(key, "check", { event_id: "e" }), {
    ...{ run_id: second.id, event_id: "e", duplicate: false },
  });
});

test("a repeated call has no further effect, even if its run has ended and another one has the key", async () => {
  const key = freshName();
  const run = await start(key);
  await send(key, "check");
  const last = () => own.ok("POST", path, eventFor(key, "signed"), { "idempotency-key": `signed ${key}` });
  const { data } = await last();
  assert.equal((await read(run.id)).status, "succeeded");
  assert.deepEqual((await last()).data, data);
  const next = await start(key);
  assert.deepEqual((await last()).data, data);
  assert.equal((await read(next.id)).revision, 1);
});

test("a key belongs to an environment, and a caller needs access to it", async () => {
  const key = freshName();
  const sandbox = (await own.ok("POST", "/api/v2/environments", { key: "sandbox-a", name: "a" })).data.id;
  const [live, tried] = [await start(key), await start(key, { environment_id: sandbox })];
  assert.equal((await send(key, "check")).run_id, live.id);
  assert.equal((await send(key, "check", { environment_id: sandbox })).run_id, tried.id);
  const confined = await own.caller({ roles: ["operator"], environment_mode: "production_only" });
  const refused = await confined.call("POST", path, eventFor(key, "signed", { environment_id: sandbox }));
  assert.equal(refused.body.errorCode, "PERMISSION_DENIED", refused.text);
});

test("a repeated start gets its first response, though the run with its key is in progress", async () => {
  const request = { definition: "contract", input: "s", run_key: freshName() };
  const startOnce = () => own.ok("POST", "/api/workflow-runs", request, { "idempotency-key": request.run_key });
  const first = (await startOnce()).data;
  assert.equal(first.started, true);
  assert.deepEqual((await startOnce()).data, first);
  const other = (await own.ok("POST", "/api/workflow-runs", request)).data;
  assert.deepEqual([other.started, other.run.id], [false, first.run.id]);
});
