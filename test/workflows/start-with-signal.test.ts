import assert from "node:assert/strict";
import { before, test } from "node:test";
import { startService } from "../harness/service.ts";
import { freshName, newTenant, type ResponseData, type TenantFixture } from "../routing/tenant-fixture.ts";

let tenant: TenantFixture;
before(async () => {
  const service = await startService();
  tenant = await newTenant(service);
  const wait = (event: string) => ({ id: event, wait_event: { event, scope: "=input", timeout: "1h" } });
  const documents = [
    { dsl: "1", key: "contract", timeout: "1h", steps: [wait("check"), wait("signed")] },
    { dsl: "1", key: "brief", timeout: "1h", steps: [{ id: "done", transform: "=input" }] },
  ];
  for (const document of documents) {
    const { id } = (await tenant.ok("POST", "/api/workflow-definitions", { document })).data;
    await tenant.ok("POST", `/api/workflow-definitions/${id}/publish`, {});
  }
});

const request = (runKey: string, event: string, more: object = {}) => ({
  ...{ definition: "contract", input: "s", run_key: runKey, signal: { event, scope: "s" } },
  ...more,
});
const start = async (body: object, headers = {}): Promise<ResponseData> =>
  (await tenant.ok("POST", "/api/workflow-runs", body, headers)).data;
const read = async (id: string) => (await tenant.ok("GET", `/api/workflow-runs/${id}`)).data;

test("a run starts with its event, and the next start gives the run in progress its event", async () => {
  const key = freshName();
  const first = await start(request(key, "check"));
  assert.deepEqual([first.started, first.run.status], [true, "waiting"]);
  const second = await start(
    request(key, "signed", { signal: { event: "signed", scope: "s", payload: { by: "ann" } } }),
  );
  assert.deepEqual([second.started, second.run.id], [false, first.run.id]);
  assert.deepEqual([second.run.status, second.run.output.payload], ["succeeded", { by: "ann" }]);
  assert.notEqual(second.event_id, first.event_id);
  assert.equal((await start(request(key, "check"))).started, true, "the first run has ended");
});

test("an event that no step waits for yet is kept, also by a run that starts later", async () => {
  const key = freshName();
  const { run } = await start(request(key, "signed", { start_at: new Date(Date.now() + 1_500).toISOString() }));
  await start(request(key, "check"));
  const ended = (await tenant.ok("GET", `/api/workflow-runs/${run.id}?wait_s=20`)).data;
  assert.deepEqual([ended.status, ended.output.event], ["succeeded", "signed"]);
});

test("a run that needs no event ends as without one", async () => {
  const { run, started } = await start(request(freshName(), "check", { definition: "brief" }));
  assert.deepEqual([run.status, run.output, started], ["succeeded", "s", true]);
});

test("of many starts at once, one starts the run, and every event arrives once", async () => {
  const key = freshName();
  const body = (n: number) => request(key, "other", { signal: { event: "other", event_id: `e${n % 10}` } });
  const all = await Promise.all(Array.from({ length: 30 }, (_, n) => start(body(n))));
  assert.equal(all.filter(({ started }) => started).length, 1);
  const [{ run }] = all as [ResponseData];
  const advances = (await tenant.ok("GET", `/api/workflow-runs/${run.id}/history?limit=100`)).data;
  const received = advances.flatMap(({ entries }: ResponseData) =>
    entries.filter(({ kind }: ResponseData) => kind === "event_received"),
  );
  assert.deepEqual(
    received.map(({ event_id }: ResponseData) => event_id).sort(),
    all.slice(0, 10).map((_, n) => `e${n}`),
  );
});

test("a repeated call has no further effect, whether it has started the run or not", async () => {
  const key = freshName();
  const [first, second] = ["check", "other"].map(
    (event) => () => start(request(key, event), { "idempotency-key": `${event} ${key}` }),
  ) as [() => Promise<ResponseData>, () => Promise<ResponseData>];
  const { run } = await first();
  assert.deepEqual((await first()).run, run);
  const sent = await second();
  assert.deepEqual(await second(), sent);
  assert.equal((await read(run.id)).revision, 2);
});

test("an event that is refused starts no run", async () => {
  const key = freshName();
  const large = { event: "check", payload: "x".repeat(65_536) };
  const { body } = await tenant.refused(
    "INVALID_ARGUMENT",
    "POST",
    "/api/workflow-runs",
    request(key, "", { signal: large }),
  );
  assert.equal(body.violations[0].field, "signal.payload");
  await tenant.refused("INVALID_ARGUMENT", "POST", "/api/workflow-runs", request(key, ""));
  assert.deepEqual((await tenant.ok("GET", `/api/workflow-runs?run_key=${key}`)).data, []);
});
