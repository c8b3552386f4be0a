import assert from "node:assert/strict";
import { before, test } from "node:test";
import type { MockProvider } from "../../src/modules/connectors/manifests/testing/mock-provider.ts";
import { startService, type TestService } from "../harness/service.ts";
import { type AcmeTenant, newAcmeTenant, startAcme } from "./acme.ts";

let service: TestService;
let mock: MockProvider;
let own: AcmeTenant;
before(async () => {
  service = await startService();
  mock = await startAcme();
  own = await newAcmeTenant(service, mock);
});

const quick = { retry: { initial_ms: 10, max_ms: 10, jitter: 0, max_attempts: 3 } };
const byAction = (fields: object = {}) => ({
  delivery: {
    mode: "MODE_PUSH",
    action: {
      ...{ key: "acme.note.add", connection_id: own.connectionId },
      input: { text: "='Order ' + string(item.payload.order) + ' of ' + item.key" },
      ...fields,
    },
  },
});

test("items of a recipient with an action are delivered by it, with an input made of the item", async () => {
  const pool = await own.pool();
  const recipient = await own.recipient(pool, byAction());
  const from = mock.requests.length;
  const { queue_item_id: id } = await own.route(pool, { key: "ada", payload: { order: 42 } });
  await own.itemIn(pool, id, "completed");
  assert.equal(mock.requests.length, from + 1);
  assert.deepEqual(JSON.parse(String(mock.requests[from]!.body)), { text: "Order 42 of ada" });
  const [execution] = (await own.ok("GET", "/api/v2/connector/executions?origin=routing")).data;
  assert.deepEqual([execution.origin_id, execution.status], [id, "succeeded"]);
  const { delivery } = (await own.ok("GET", `/api/recipients/${recipient}`)).data;
  assert.equal(delivery.action.key, "acme.note.add");
});

test("a delivery with an unknown outcome is not repeated: the item becomes a dead letter", async () => {
  const pool = await own.pool({ config: quick });
  await own.recipient(pool, byAction());
  const from = mock.requests.length;
  mock.fail("note.add", { kind: "cut" });
  const { queue_item_id: id } = await own.route(pool, { key: "ada", payload: { order: 1 } });
  await own.itemIn(pool, id, "dead_lettered");
  assert.equal((await own.deadLetters(pool))[0].reason_code, "outcome_unknown");
  assert.equal(mock.requests.length, from + 1);
});

test("a delivery that certainly changed nothing is retried if that can help, and else is not", async () => {
  const pool = await own.pool({ config: quick });
  await own.recipient(pool, byAction({ key: "acme.note.get", input: { id: "=item.key" } }));
  mock.fail("note.get", { kind: "answer", status: 503 }, 3);
  const { queue_item_id: id } = await own.route(pool, { key: "n1" });
  const item = await own.itemIn(pool, id, "completed");
  assert.equal(item.attempt ?? item.attempts, 2, JSON.stringify(item));
  mock.fail("note.get", { kind: "answer", status: 404, body: {} });
  const refused = await own.route(pool, { key: "n2" });
  await own.itemIn(pool, refused.queue_item_id, "dead_lettered");
  assert.equal((await own.deadLetters(pool))[0].reason_code, "not_found");
});

test("an input that cannot be built makes a dead letter", async () => {
  const pool = await own.pool({ config: quick });
  await own.recipient(pool, byAction());
  const { queue_item_id: id } = await own.route(pool, { key: "ada", payload: {} });
  await own.itemIn(pool, id, "dead_lettered");
  assert.equal((await own.deadLetters(pool))[0].reason_code, "expression_error");
});

test("a recipient has either a URL or an action, with valid expressions, and can change between them", async () => {
  const pool = await own.pool();
  const create = (delivery: object) =>
    own.rest.call("POST", `/api/pools/${pool}/recipients`, { name: "r", delivery: { mode: "MODE_PUSH", ...delivery } });
  const action = byAction().delivery.action;
  for (const [delivery, field] of [
    [{}, "delivery.url"],
    [{ url: "https://example.com", action }, "delivery.action"],
    [{ action: { ...action, key: "nothing" } }, "delivery.action.key"],
    [{ action: { ...action, input: { text: "=item.(" } } }, "delivery.action.input"],
  ] as const) {
    const { status, body } = await create(delivery);
    assert.deepEqual([status, body.violations[0].field], [400, field]);
  }
  const recipient = await own.recipient(pool, byAction());
  const path = `/api/recipients/${recipient}`;
  const changed = await own.ok("PATCH", path, { delivery: { url: "https://example.com/", action: {} } });
  assert.deepEqual([changed.data.delivery.url, changed.data.delivery.action], ["https://example.com/", undefined]);
});
