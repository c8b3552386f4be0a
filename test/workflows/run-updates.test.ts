import assert from "node:assert/strict";
import { before, test } from "node:test";
import { startService } from "../harness/service.ts";
import { until } from "../harness/until.ts";
import { freshName, newTenant, type ResponseData, type TenantFixture } from "../routing/tenant-fixture.ts";

let tenant: TenantFixture;
before(async () => {
  tenant = await newTenant(await startService());
});

const input_schema = {
  type: "object",
  required: ["amount"],
  properties: { amount: { type: "integer", minimum: 1 } },
  additionalProperties: false,
};
const takeUpdate = {
  id: "change",
  wait_event: {
    ...{ event: "amount", scope: "s", timeout: "1h" },
    update: { input_schema, when: "=update.amount <= input.limit - steps.used", answer: "reply" },
  },
};
const reply = { id: "reply", transform: { left: "=input.limit - steps.used - steps.change.payload.amount" } };
const used = { id: "used", transform: 10 };

async function start(steps: readonly object[], more: object = {}): Promise<string> {
  const key = freshName();
  const document = { dsl: "1", key, timeout: "1h", steps };
  const { id } = (await tenant.ok("POST", "/api/workflow-definitions", { document })).data;
  await tenant.ok("POST", `/api/workflow-definitions/${id}/publish`, {});
  const body = { definition: key, input: { limit: 100 }, ...more };
  return (await tenant.ok("POST", "/api/workflow-runs", body)).data.run.id;
}

const pathOf = (id: string) => `/api/workflow-runs/${id}/update`;
const request = (amount: unknown, more: object = {}) => ({ name: "amount", scope: "s", payload: { amount }, ...more });
const update = async (id: string, body: object, headers = {}): Promise<ResponseData> =>
  (await tenant.ok("POST", pathOf(id), body, headers)).data;
const read = async (id: string) => (await tenant.ok("GET", `/api/workflow-runs/${id}`)).data;

/** Leases the next task of a queue and completes it. */
async function work(queue: string, output: unknown): Promise<void> {
  const poll = { queue, worker_id: "w", protocol: 1, capabilities: [{ type: "t" }], slots: 1, wait_s: 10 };
  const [{ task_id, token }] = (await tenant.ok("POST", "/api/workflow-tasks:poll", poll)).data.tasks;
  await tenant.ok("POST", "/api/workflow-tasks:complete", { completions: [{ task_id, token, output }] });
}

test("an update is checked, applied and answered with the output of its step", async () => {
  const id = await start([used, takeUpdate, reply, { id: "end", wait_event: { event: "end", timeout: "1h" } }]);
  const applied = await update(id, request(30));
  assert.deepEqual([applied.answered, applied.answer, applied.duplicate], [true, { left: 60 }, false]);
  const { status, values } = await read(id);
  assert.deepEqual(
    [status, values.change.event_id, values.change.payload],
    ["waiting", applied.update_id, { amount: 30 }],
  );
});

test("an update that is refused changes nothing, and the step still waits", async () => {
  const id = await start([used, takeUpdate, reply]);
  const { revision } = await read(id);
  const invalid = await tenant.refused("INVALID_ARGUMENT", "POST", pathOf(id), request(0));
  assert.deepEqual(
    invalid.body.violations.map(({ field }: ResponseData) => field),
    ["payload.amount"],
  );
  await tenant.refused("INVALID_ARGUMENT", "POST", pathOf(id), request(5, { payload: {} }));
  const refused = await tenant.refused("FAILED_PRECONDITION", "POST", pathOf(id), request(91));
  assert.match(refused.body.detail, /step change refuses the update/);
  for (const other of [{ name: "other" }, { scope: "t" }]) {
    await tenant.refused("FAILED_PRECONDITION", "POST", pathOf(id), request(1, other));
  }
  assert.equal((await read(id)).revision, revision);
  assert.deepEqual((await update(id, request(90))).answer, { left: 0 });
  await tenant.refused("FAILED_PRECONDITION", "POST", pathOf(id), request(1));
});

test("a plain event with the name of an update does not pass its check", async () => {
  const id = await start([used, takeUpdate, reply]);
  await tenant.ok("POST", `/api/workflow-runs/${id}/signal`, { event: "amount", scope: "s", payload: { amount: 99 } });
  assert.equal((await read(id)).status, "waiting");
  assert.deepEqual((await update(id, request(1))).answer, { left: 89 });
});

test("a caller waits for the step that takes the update, and for an answer that a worker gives", async () => {
  const queue = freshName();
  const task = { queue, type: "t" };
  const each = {
    id: "each",
    map: {
      ...{ in: "=[1, 2]", max_items: 2 },
      steps: [
        { id: "first", task },
        { id: "change", wait_event: { event: "amount", scope: "=item", timeout: "1h", update: { answer: "checked" } } },
        { id: "checked", task },
      ],
    },
  };
  const id = await start([each]);
  const answers = ["1", "2"].map((scope) => update(id, request(1, { scope, wait_s: 20 })));
  for (let done = 0; done < 2; done++) await work(queue, "ready");
  await until(async () => (await read(id)).active_steps.some(({ step }: ResponseData) => step === "checked[1]"));
  const unanswered = await update(id, request(1, { scope: "3" })).catch(() => "refused");
  assert.equal(unanswered, "refused");
  for (let done = 0; done < 2; done++) await work(queue, "checked by hand");
  assert.deepEqual(
    (await Promise.all(answers)).map(({ answered, answer }) => [answered, answer]),
    [
      [true, "checked by hand"],
      [true, "checked by hand"],
    ],
  );
  assert.equal((await read(id)).status, "succeeded");
});

test("a call without an answer yet says so, and a call with the same id gets the answer later", async () => {
  const queue = freshName();
  const wait_event = { event: "amount", scope: "s", timeout: "1h", update: { answer: "checked" } };
  const end = { id: "end", wait_event: { event: "end", timeout: "1h" } };
  const id = await start([{ id: "change", wait_event }, { id: "checked", task: { queue, type: "t" } }, end]);
  const body = request(1, { update_id: "u1" });
  assert.deepEqual(await update(id, body), { update_id: "u1", answered: false, duplicate: false });
  const later = update(id, { ...body, wait_s: 20 });
  await work(queue, { ok: true });
  assert.deepEqual(await later, { update_id: "u1", answered: true, answer: { ok: true }, duplicate: true });
  await tenant.ok("POST", `/api/workflow-runs/${id}/signal`, { event: "note", event_id: "n1" });
  await tenant.refused("CONFLICT", "POST", pathOf(id), { ...body, update_id: "n1" });
});

test("of many updates at once, one is taken, and a repeated call gets the answer of the first", async () => {
  const id = await start([used, takeUpdate, reply]);
  const headers = { "idempotency-key": freshName() };
  const results = await Promise.all(
    Array.from({ length: 20 }, (_, n) => tenant.rest.call("POST", pathOf(id), request(n + 1), n < 3 ? headers : {})),
  );
  const winners = results.filter(({ status }) => status === 200);
  assert.equal(new Set(winners.map(({ body }) => body.data.update_id)).size, 1);
  const advances = (await tenant.ok("GET", `/api/workflow-runs/${id}/history?limit=100`)).data;
  const received = advances
    .flatMap(({ entries }: ResponseData) => entries)
    .filter(({ kind }: ResponseData) => kind === "event_received");
  assert.equal(received.length, 1);

  const other = await start([used, takeUpdate, reply]);
  const key = { "idempotency-key": freshName() };
  const first = await update(other, request(5), key);
  assert.deepEqual(await update(other, request(5), key), first, "also after the end of the run");
});

test("a paused run takes no update until it is resumed, and an ended one none", async () => {
  const id = await start([used, takeUpdate, reply]);
  await tenant.ok("POST", `/api/workflow-runs/${id}/pause`, {});
  await tenant.refused("FAILED_PRECONDITION", "POST", pathOf(id), request(1));
  const waiting = update(id, request(1, { wait_s: 20 }));
  await tenant.ok("POST", `/api/workflow-runs/${id}/resume`, {});
  assert.deepEqual((await waiting).answer, { left: 89 });
  const { body } = await tenant.refused("FAILED_PRECONDITION", "POST", pathOf(id), request(1));
  assert.match(body.detail, /has ended/);
});

test("a simulation takes events for updates", async () => {
  const document = { dsl: "1", key: "sim", timeout: "1h", steps: [used, takeUpdate, reply] };
  const events = [{ event: "amount", scope: "s", payload: { amount: 1 }, after_s: 5 }];
  const body = { document, input: { limit: 100 }, events };
  const { data } = await tenant.ok("POST", "/api/workflow-runs:simulate", body);
  assert.deepEqual([data.status, data.output], ["succeeded", { left: 89 }]);
});
