import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { before, test } from "node:test";
import { Webhook, WebhookVerificationError } from "standardwebhooks";
import { freshDatabase } from "../harness/postgres.ts";
import { startService, type TestService } from "../harness/service.ts";
import { until } from "../harness/until.ts";
import { startReceiver } from "./receiver.ts";
import { newTenant, type ResponseData, type TenantFixture, tenantAt } from "./tenant-fixture.ts";

let service: TestService;
let own: TenantFixture;
before(async () => {
  service = await startService();
  own = await newTenant(service);
});

const push = (url: string, fields: object = {}) => ({ delivery: { mode: "MODE_PUSH", url, ...fields } });
const quick = { retry: { initial_ms: 10, max_ms: 10, jitter: 0, max_attempts: 3 } };

test("an item is sent to its recipient with a verifiable signature, and a 2xx completes it", async () => {
  const receiver = await startReceiver(() => ({ status: 204 }));
  const secret = `whsec_${randomBytes(24).toString("base64")}`;
  await own.ok("POST", "/api/v2/secrets", { name: "push-secret", value: secret });
  const pool = await own.pool();
  const recipient = await own.recipient(pool, push(`${receiver.url}/work`, { secret_ref: "push-secret" }));
  const { queue_item_id: id } = await own.route(pool, { key: "k", attributes: { a: 1 }, payload: { text: "häy" } });
  await own.itemIn(pool, id, "completed");
  const [{ path, headers, body }] = receiver.received as [ResponseData];
  assert.deepEqual([path, headers["webhook-id"], headers["content-type"]], ["/work", id, "application/json"]);
  assert.deepEqual(new Webhook(secret).verify(body, headers), {
    queue_item_id: id,
    pool_id: pool,
    recipient_id: recipient,
    type: "task",
    key: "k",
    attributes: { a: 1 },
    payload: { text: "häy" },
    priority: 0,
    attempt: 1,
  });
  assert.throws(
    () => new Webhook(`whsec_${randomBytes(24).toString("base64")}`).verify(body, headers),
    WebhookVerificationError,
  );
  assert.equal(receiver.received.length, 1);
  assert.equal((await own.ok("GET", `/api/outcomes/${id}`)).data.status, "success");
  // A pushed item cannot be leased.
  assert.deepEqual(await own.lease(pool), []);
});

test("without a secret an item is sent unsigned; with a missing secret it is not sent at all", async () => {
  const receiver = await startReceiver(() => ({ status: 200 }));
  const pool = await own.pool();
  await own.recipient(pool, push(receiver.url));
  await own.itemIn(pool, (await own.route(pool)).queue_item_id, "completed");
  assert.equal(receiver.received[0]!.headers["webhook-signature"], undefined);
  const other = await own.pool();
  await own.recipient(other, push(receiver.url, { secret_ref: "nowhere" }));
  await own.itemIn(other, (await own.route(other)).queue_item_id, "dead_lettered");
  assert.equal((await own.deadLetters(other))[0].reason_code, "secret_missing");
  assert.equal(receiver.received.length, 1);
});

test("a 5xx is retried as the same item until it is delivered or becomes a dead letter", async () => {
  const receiver = await startReceiver((_, nth) => ({ status: nth === 0 ? 503 : nth === 1 ? 200 : 500 }));
  const pool = await own.pool({ config: quick });
  await own.recipient(pool, push(receiver.url));
  const { queue_item_id: id } = await own.route(pool);
  await own.itemIn(pool, id, "completed");
  assert.deepEqual(
    receiver.received.map(({ headers, body }) => [headers["webhook-id"], JSON.parse(body).attempt]),
    [
      [id, 1],
      [id, 2],
    ],
  );
  const { queue_item_id: lost } = await own.route(pool);
  await own.itemIn(pool, lost, "dead_lettered");
  assert.equal(receiver.received.length, 5);
  const [letter] = await own.deadLetters(pool);
  assert.deepEqual([letter.queue_item_id, letter.reason_code, letter.phase], [lost, "http_500", "delivery"]);
  assert.equal(letter.attempts.length, 3);
});

test("a 4xx or a redirect creates a dead letter immediately, and a redirect is not followed", async () => {
  const elsewhere = await startReceiver(() => ({ status: 200 }));
  for (const status of [400, 404, 410, 301, 302, 307, 308]) {
    const receiver = await startReceiver(() => ({ status, headers: { location: elsewhere.url } }));
    const pool = await own.pool({ config: quick });
    await own.recipient(pool, push(receiver.url));
    await own.itemIn(pool, (await own.route(pool)).queue_item_id, "dead_lettered");
    assert.equal((await own.deadLetters(pool))[0].reason_code, `http_${status}`);
    assert.equal(receiver.received.length, 1);
  }
  assert.equal(elsewhere.received.length, 0);
});

test("Retry-After pauses a recipient, both as seconds and as a date", async () => {
  const until = new Date(Math.ceil(Date.now() / 1000) * 1000 + 2000);
  for (const [status, retryAfter] of [
    [429, "1"],
    [503, until.toUTCString()],
  ] as const) {
    const receiver = await startReceiver((_, nth) =>
      nth === 0 ? { status, headers: { "retry-after": retryAfter } } : { status: 200 },
    );
    const pool = await own.pool({ config: quick });
    await own.recipient(pool, push(receiver.url));
    await own.itemIn(pool, (await own.route(pool)).queue_item_id, "completed");
    const [first, second] = receiver.received;
    const notBeforeMs = retryAfter === "1" ? first!.atMs + 1000 : until.getTime();
    assert.ok(second!.atMs >= notBeforeMs, `${second!.atMs} is ${notBeforeMs - second!.atMs} ms too soon`);
  }
});

test("a recipient never gets more concurrent items than its capacity, and finally gets all of them", async () => {
  const receiver = await startReceiver(async () => {
    await new Promise((resolve) => setTimeout(resolve, 15));
    return { status: 200 };
  });
  const pool = await own.pool();
  await own.recipient(pool, { ...push(receiver.url), capacity: 2 });
  await own.routeAll(Array.from({ length: 20 }, () => ({ pool_id: pool, type: "t" })));
  await until(
    () => own.status(pool),
    ({ depth, in_flight }) => depth === 0 && in_flight === 0,
  );
  assert.equal(receiver.openMax, 2);
  assert.equal(new Set(receiver.received.map(({ headers }) => headers["webhook-id"])).size, 20);
});

test("items that cannot be sent now delay no other items, however many they are", async () => {
  const receiver = await startReceiver(() => ({ status: 200 }));
  const [paused, off] = [await own.pool(), await own.pool()];
  for (const pool of [paused, off]) await own.recipient(pool, push(receiver.url));
  await own.ok("POST", `/api/queues/${paused}/pause`, {});
  const many = (pool_id: string) => Array.from({ length: 250 }, () => ({ pool_id, type: "t" }));
  await own.routeAll(many(paused));
  const foreign = await newTenant(service);
  const pool = await foreign.pool();
  await foreign.recipient(pool, push(receiver.url));
  await foreign.itemIn(pool, (await foreign.route(pool)).queue_item_id, "completed");
  assert.equal(receiver.received.length, 1);
  await own.ok("POST", `/api/queues/${paused}/resume`, {});
  await until(
    () => own.status(paused),
    ({ depth, in_flight }) => depth === 0 && in_flight === 0,
  );
  assert.equal(new Set(receiver.received.map(({ headers }) => headers["webhook-id"])).size, 251);
});

test("a recipient that does not respond is retried, and a paused one is sent nothing", async () => {
  const receiver = await startReceiver(() => ({ status: 200 }));
  const pool = await own.pool({ config: quick });
  const recipient = await own.recipient(pool, push("http://127.0.0.1:9"));
  const { queue_item_id } = await own.route(pool);
  await own.itemIn(pool, queue_item_id, "dead_lettered");
  const [letter] = await own.deadLetters(pool);
  assert.deepEqual([letter.attempts.length, letter.phase], [3, "delivery"]);
  await own.ok("PATCH", `/api/recipients/${recipient}`, { delivery: { url: receiver.url } });
  await own.ok("POST", `/api/recipients/${recipient}/pause`, {});
  const { outcome } = await own.route(pool);
  assert.equal(outcome, "queued");
  // A requeued dead letter waits for an active recipient.
  await own.ok("POST", `/api/dlq/${pool}/retry`, { queue_item_ids: [queue_item_id] });
  await until(
    () => own.item(pool, queue_item_id),
    (item) => item.state === "ready" && item.recipient_id === "",
  );
  assert.equal(receiver.received.length, 0);
  await own.ok("POST", `/api/recipients/${recipient}/resume`, {});
  await own.itemIn(pool, queue_item_id, "completed");
  await until(
    () => own.status(pool),
    ({ depth, in_flight }) => depth === 0 && in_flight === 0,
  );
  assert.deepEqual(await own.deadLetters(pool), []);
});

test("with enforced egress nothing is sent to a loopback address, unless it is allowed", async () => {
  const receiver = await startReceiver(() => ({ status: 200 }));
  const database = await freshDatabase();
  const key = { "auth.bootstrap_api_key": "sk_test_egress_0123456789abcdef" };
  const shadow = await startService(key, database.url);
  const tenant = await newTenant(shadow);
  const pool = await tenant.pool();
  await tenant.recipient(pool, push(receiver.url));
  await shadow.stop();
  for (const [settings, state, reasons] of [
    [{ "egress.mode": "enforce" }, "dead_lettered", ["denied"]],
    [{ "egress.mode": "enforce", "egress.allowed_ip_nets": "127.0.0.0/8" }, "completed", []],
  ] as const) {
    const node = await startService({ ...key, ...settings }, database.url);
    const there = tenantAt(node, tenant);
    const { queue_item_id } = await there.route(pool);
    const { failures } = await there.itemIn(pool, queue_item_id, state);
    assert.deepEqual(
      failures.map(({ reason_code }: ResponseData) => reason_code),
      reasons,
    );
    await node.stop();
  }
  await database.drop();
  assert.equal(receiver.received.length, 1);
});
