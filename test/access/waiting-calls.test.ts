import assert from "node:assert/strict";
import { once } from "node:events";
import http from "node:http";
import http2 from "node:http2";
import { after, before, test } from "node:test";
import { createLeaseService } from "../../src/modules/routing/queues/leasing/lease-service.ts";
import { leaseParts } from "../../src/modules/routing/queues/testing/lease-parts.ts";
import { createSignals, openDatabase } from "../../src/platform/db/index.ts";
import { connectTo } from "../harness/http2-frames.ts";
import { restClient } from "../harness/rest.ts";
import { startService, type TestService } from "../harness/service.ts";
import { until } from "../harness/until.ts";
import { freshName, newTenant, type TenantFixture } from "../routing/tenant-fixture.ts";
import { audience, type Issuer, startIssuer } from "./issuer.ts";

let issuer: Issuer;
let service: TestService;
let own: TenantFixture;

before(async () => {
  issuer = await startIssuer(["ada"]);
  service = await startService({ "api.oidc_issuer": issuer.url, "api.oidc_audience": audience });
  own = await newTenant(service);
});
after(() => issuer.goDown());

async function activeCalls(): Promise<number> {
  const text = await service.service.metrics.render();
  return Number(/^rpc_server_active_calls\{[^}]*external[^}]*\} (\d+)$/m.exec(text)?.[1] ?? 0);
}

/** Starts a long-polling lease call and resolves once the service has admitted it. */
async function waitingLease(pool: string, credentials: Record<string, string>, headers: Record<string, string> = {}) {
  const rest = restClient(service.baseUrl);
  // A finished call may still be counted for a moment.
  await until(activeCalls, (count) => count === 0);
  const answer = rest.call("POST", `/api/queues/${pool}/lease`, { wait_s: 20 }, { ...credentials, ...headers });
  await until(activeCalls, (count) => count === 1);
  // Lease calls of a pool run in order: once this one returns, the first one has polled and waits.
  assert.equal((await rest.call("POST", `/api/queues/${pool}/lease`, {}, credentials)).status, 200);
  return { answer };
}

async function newKey(tenant: TenantFixture, fields: object = {}): Promise<{ id: string; secret: string }> {
  const { data } = await tenant.ok("POST", "/api/v2/api-keys", { name: "worker", roles: ["operator"], ...fields });
  return { id: data.api_key?.id ?? data.id, secret: data.secret };
}

const revoke = (tenant: TenantFixture, id: string) => tenant.ok("POST", `/api/v2/api-keys/${id}/revoke`);
const refusal = ({ status, body }: { status: number; body: { errorCode?: string } }) => [status, body.errorCode];

test("a lease that waits on an HTTP/2 connection ends when its worker closes its side, and takes no item", async (t) => {
  const pool = await own.pool();
  const socket = await connectTo(service.baseUrl);
  const session = http2.connect(service.baseUrl, { createConnection: () => socket }).on("error", () => {});
  t.after(() => session.destroy());
  await until(activeCalls, (count) => count === 0);
  const headers = { ":method": "POST", ":path": `/api/queues/${pool}/lease`, "x-api-key": own.key };
  const request = session.request({ ...headers, "content-type": "application/json" }).on("error", () => {});
  request.end(JSON.stringify({ wait_s: 20 }));
  await until(activeCalls, (count) => count === 1);
  socket.end();
  // The wait itself takes 20 seconds.
  await until(activeCalls, (count) => count === 0, 10_000);
  const { queue_item_id } = await own.route(pool);
  assert.equal((await own.leaseOne(pool)).queue_item_id, queue_item_id);
});

for (const [how, headers] of [
  ["", {}],
  [", also under an idempotency key", { "idempotency-key": "lease-1" }],
] as const) {
  test(`a waiting lease gets nothing once its key is revoked${how}`, async () => {
    const pool = await own.pool();
    const key = await newKey(own);
    const { answer } = await waitingLease(pool, { "x-api-key": key.secret }, headers);
    await revoke(own, key.id);
    const { queue_item_id } = await own.route(pool);
    assert.deepEqual(refusal(await answer), [401, "UNAUTHENTICATED"]);
    await own.itemIn(pool, queue_item_id, "ready");
    assert.equal((await own.leaseOne(pool)).queue_item_id, queue_item_id);
  });
}

test("a call that waits for offers gets none once its key is revoked", async () => {
  const pool = await own.pool({ strategy: "priority", config: { reservation: {} } });
  await own.recipient(pool);
  const key = await newKey(own);
  const rest = restClient(service.baseUrl, key.secret);
  await until(activeCalls, (count) => count === 0);
  const answer = rest.call("GET", `/api/queues/${pool}/offers?wait_s=20`);
  await until(activeCalls, (count) => count === 1);
  await revoke(own, key.id);
  await own.route(pool);
  assert.deepEqual(refusal(await answer), [401, "UNAUTHENTICATED"]);
});

/** A run that waits for the event `go`, with a stream that has no room left. */
async function waitingRun() {
  const key = `waiting.${freshName()}`;
  const steps = [{ id: "w", wait_event: { event: "go", timeout: "1h" } }];
  await own.ok("POST", "/api/workflow-definitions", { document: { dsl: "1", key, timeout: "1h", steps } });
  await own.ok("POST", `/api/workflow-definitions/${key}/publish`, {});
  const { run } = (await own.ok("POST", "/api/workflow-runs", { definition: key })).data;
  const streams = `/api/workflow-streams/runs/${run.id}/streams`;
  const pins = { ceilings: { unread_items: 1 }, on_unread_full: "block" };
  const { id } = (await own.ok("POST", streams, { name: "full", pins })).data;
  const stream = `${streams}/${id}`;
  await own.ok("POST", `${stream}/records`, { payload: 1 });
  return { run: `/api/workflow-runs/${run.id}`, stream };
}

test("a call that waits for the end of a run does not see it once its key is revoked", async () => {
  const { run } = await waitingRun();
  const key = await newKey(own);
  const rest = restClient(service.baseUrl, key.secret);
  assert.equal((await rest.call("GET", run)).status, 200);
  await until(activeCalls, (count) => count === 0);
  const answer = rest.call("GET", `${run}?wait_s=20`);
  await until(activeCalls, (count) => count === 1);
  await revoke(own, key.id);
  await own.ok("POST", `${run}/signal`, { event: "go" });
  assert.deepEqual(refusal(await answer), [401, "UNAUTHENTICATED"]);
});

test("an append that waits for acknowledgements appends nothing once its key is revoked", async () => {
  const { stream } = await waitingRun();
  const key = await newKey(own);
  const rest = restClient(service.baseUrl, key.secret);
  assert.equal((await rest.call("POST", `${stream}/records`, { payload: 2, wait_s: 0 })).status, 429);
  await until(activeCalls, (count) => count === 0);
  const answer = rest.call("POST", `${stream}/records`, { payload: 2, wait_s: 20 });
  await until(activeCalls, (count) => count === 1);
  await revoke(own, key.id);
  await own.ok("POST", `${stream}/consumers/c/ack`, { sequence: 1 });
  assert.deepEqual(refusal(await answer), [401, "UNAUTHENTICATED"]);
  assert.equal((await own.ok("GET", stream)).data.latest_sequence, 1);
});

test("a call gets nothing if its key is revoked while its body arrives", async () => {
  const pool = await own.pool();
  await own.route(pool);
  const key = await newKey(own);
  await until(activeCalls, (count) => count === 0);
  const request = http.request(`${service.baseUrl}/api/queues/${pool}/lease`, {
    method: "POST",
    headers: { "x-api-key": key.secret, "content-type": "application/json" },
  });
  request.write("{");
  await until(activeCalls, (count) => count === 1);
  const startedAtMs = performance.now();
  await revoke(own, key.id);
  // A call that is younger than a second is not checked again.
  await until(() => performance.now() - startedAtMs > 1100);
  request.end("}");
  const [response] = (await once(request, "response")) as [http.IncomingMessage];
  response.resume();
  assert.equal(response.statusCode, 401);
  assert.equal((await own.status(pool)).depth, 1);
});

test("a worker that loses access while its items are leased receives none of them, and they are released", async (t) => {
  const pool = await own.pool();
  const db = openDatabase(service.databaseUrl, { maxConnections: 2 });
  const signals = createSignals(db);
  const gone = new AbortController();
  t.after(async () => {
    gone.abort();
    await signals.stop();
    await db.close();
  });
  await signals.start();
  let checks = 0;
  const waiting = createLeaseService(leaseParts(db, signals)).lease({
    tenantId: own.id as never,
    poolId: pool,
    recipientId: "",
    limits: undefined,
    environmentId: "",
    recipientIds: [],
    unassigned: true,
    delivery: "pull",
    capacity: 0,
    leaseS: 900,
    ageingMs: 0,
    max: 1,
    waitMs: 20_000,
    signal: gone.signal,
    async recheckAccess() {
      checks++;
      // Allowed before the polls; rejected after the poll that found the item.
      const [row] = await db.sql`select from queue_items where pool_id = ${pool} and state = 'leased'`;
      if (row !== undefined) throw new Error("revoked");
    },
  });
  const ended = assert.rejects(waiting, /revoked/);
  // The second check proves that the first poll found nothing: only a worker that has waited is checked after a poll.
  await until(() => checks > 1);
  const { queue_item_id } = await own.route(pool);
  await ended;
  await own.itemIn(pool, queue_item_id, "ready");
});

test("a waiting lease ends when its key expires", async () => {
  const pool = await own.pool();
  const key = await newKey(own, { expires_at: new Date(Date.now() + 10_000).toISOString() });
  const { answer } = await waitingLease(pool, { "x-api-key": key.secret });
  assert.deepEqual(refusal(await answer), [401, "UNAUTHENTICATED"]);
});

test("a waiting lease ends when its tenant is suspended", async () => {
  const tenant = await newTenant(service);
  const pool = await tenant.pool();
  const { answer } = await waitingLease(pool, { "x-api-key": tenant.key });
  const platform = restClient(service.baseUrl, service.adminKey);
  await platform.call("PATCH", `/api/tenants/${tenant.id}`, { status: "STATUS_SUSPENDED" });
  assert.deepEqual(refusal(await answer), [403, "TENANT_SUSPENDED"]);
});

test("a waiting lease gets nothing once its member is suspended or loses the role", async () => {
  const pool = await own.pool();
  const invited = await own.ok("POST", "/api/v2/members", {
    email: "ada@example.com",
    subject: "ada",
    roles: ["operator"],
  });
  const path = `/api/v2/members/${invited.data.id}`;
  const bearer = { authorization: `Bearer ${await issuer.token("ada", { tenant_id: own.id })}` };
  const demoted = await waitingLease(pool, bearer);
  await own.ok("PATCH", path, { role_set: { roles: ["viewer"] } });
  const { queue_item_id } = await own.route(pool);
  assert.deepEqual(refusal(await demoted.answer), [403, "PERMISSION_DENIED"]);
  await own.itemIn(pool, queue_item_id, "ready");
  await own.leaseOne(pool);

  await own.ok("PATCH", path, { role_set: { roles: ["operator"] } });
  const suspended = await waitingLease(pool, bearer);
  await own.ok("PATCH", path, { status: "STATUS_SUSPENDED" });
  await own.route(pool);
  assert.deepEqual(refusal(await suspended.answer), [401, "UNAUTHENTICATED"]);
});

test("a stream sends no events recorded after its key is revoked", async () => {
  const key = await newKey(own);
  const headers = { "x-api-key": key.secret };
  const stream = await fetch(`${service.baseUrl}/api/events/subscribe?types=order.*`, { headers });
  await own.ok("POST", "/api/events", { type: "order.paid" });
  await revoke(own, key.id);
  await own.ok("POST", "/api/events", { type: "order.shipped" });
  const text = await stream.text();
  assert.match(text, /"errorCode":"UNAUTHENTICATED"/);
  assert.doesNotMatch(text, /order\.shipped/);
});

test("an inbox stream sends no messages that arrive after its key is revoked", async () => {
  await own.ok("PUT", "/api/v2/notification/workflows/order.paid", {
    channels: { in_app: { title: "Paid", body: "Thank you." } },
  });
  const subscriber = await own.ok("POST", "/api/v2/notification/subscribers", { external_id: "ada" });
  const key = await newKey(own);
  const headers = { "x-api-key": key.secret };
  const inbox = `/api/v2/notification/subscribers/${subscriber.data.id}/inbox`;
  const stream = await fetch(`${service.baseUrl}${inbox}:watch`, { headers });
  assert.equal(stream.status, 200);
  await revoke(own, key.id);
  const sent = await own.ok("POST", "/api/v2/notifications/trigger", {
    workflow_key: "order.paid",
    subscriber_id: subscriber.data.id,
    channels: ["in_app"],
    payload: {},
  });
  assert.equal(sent.data.outcomes[0].outcome, "sent");
  const text = await stream.text();
  assert.match(text, /"errorCode":"UNAUTHENTICATED"/);
  assert.doesNotMatch(text, /Thank you/);
});
