import assert from "node:assert/strict";
import { before, test } from "node:test";
import { Webhook, WebhookVerificationError } from "standardwebhooks";
import { type RestClient, restClient } from "../harness/rest.ts";
import { startService, type TestService } from "../harness/service.ts";
import { until } from "../harness/until.ts";
import { type Received, startReceiver } from "./receiver.ts";

const base = "/api/v2/webhooks/endpoints";
const receiver = await startReceiver();
let service: TestService;
let admin: RestClient;
before(async () => {
  service = await startService({ "egress.mode": "enforce", "egress.allowed_ip_nets": "127.0.0.0/8" });
  admin = restClient(service.baseUrl, service.adminKey);
});

/** A client with a key with these roles or scopes. */
async function clientWith(grants: object): Promise<RestClient> {
  const { body } = await admin.call("POST", "/api/v2/api-keys", { name: "webhooks", ...grants });
  return restClient(service.baseUrl, body.data.secret);
}

/** A client of another tenant's admin. */
async function otherTenant(): Promise<RestClient> {
  const { body } = await admin.call("POST", "/api/tenants", { name: "other", issue_admin_key: true });
  return restClient(service.baseUrl, body.data.admin_key);
}

async function endpoint(client: RestClient, path: string, more: object = {}) {
  const { status, body, text } = await client.call("POST", base, { url: receiver.url(path), ...more });
  assert.equal(status, 200, text);
  return body.data;
}

function verify(secret: string, { body, headers }: Received): unknown {
  return new Webhook(secret).verify(body, headers as Record<string, string>);
}

test("a published event soon reaches the endpoint, signed, and its delivery can be read", async () => {
  const { id, secret } = await endpoint(admin, "/orders", { event_types: ["order.*"] });
  const published = await admin.call("POST", "/api/events", { type: "order.paid", data: { amount: 42 } });
  await until(() => receiver.received("/orders").length === 1);
  const [message] = receiver.received("/orders");
  const event = verify(secret, message!) as Record<string, unknown>;
  assert.deepEqual([event.id, event.type, event.data], [published.body.data.id, "order.paid", { amount: 42 }]);

  const path = `${base}/${id}/deliveries`;
  await until(async () => (await admin.call("GET", `${path}?status=STATUS_SUCCEEDED`)).body.data.length === 1);
  const { body } = await admin.call("GET", `${path}/${published.body.data.id}`);
  assert.deepEqual(
    [body.data.status, body.data.event_type, body.data.message_id, body.data.attempts.length],
    ["STATUS_SUCCEEDED", "order.paid", message!.headers["webhook-id"], 1],
  );
  assert.equal(body.data.attempts[0].response_status, 200);

  const again = await admin.call("POST", `${path}/${published.body.data.id}:replay`, {});
  assert.equal(again.body.data.status, "STATUS_PENDING");
  await until(() => receiver.received("/orders").length === 2);
  assert.equal(receiver.received("/orders")[1]!.headers["webhook-id"], message!.headers["webhook-id"]);
});

test("a caller's change of its tenant is delivered like any other event", async () => {
  const { secret } = await endpoint(admin, "/all");
  await admin.call("POST", "/api/v2/environments", { key: "webhooks" });
  await until(() => receiver.received("/all").some(({ body }) => JSON.parse(body).type === "environment.created"));
  for (const message of receiver.received("/all")) verify(secret, message);
});

test("a test, a rotation and a replay of a time range work over REST", async () => {
  const since = new Date(Date.now() - 60_000).toISOString();
  await admin.call("POST", "/api/events", { type: "invoice.sent" });
  const { id, secret } = await endpoint(admin, "/invoices", { event_types: ["invoice.*"] });
  const tested = await admin.call("POST", `${base}/${id}:send-test`, {});
  assert.equal(tested.body.data.event_type, "webhook.endpoint.test");
  await until(() => receiver.received("/invoices").length === 1);
  verify(secret, receiver.received("/invoices")[0]!);

  const rotated = await admin.call("POST", `${base}/${id}:rotate_secret`, {});
  assert.ok(Date.parse(rotated.body.data.previous_secret_valid_until) > Date.now());
  const replay = await admin.call("POST", `${base}/${id}:replay`, { since, selection: "SELECTION_MISSING" });
  assert.equal(replay.body.data.status, "STATUS_RUNNING");
  const path = `${base}/${id}/replays/${replay.body.data.id}`;
  await until(async () => (await admin.call("GET", path)).body.data.status === "STATUS_COMPLETED");
  assert.equal((await admin.call("GET", path)).body.data.replayed, 1);
  await until(() => receiver.received("/invoices").length === 2);
  const [, replayed] = receiver.received("/invoices");
  for (const each of [secret, rotated.body.data.secret]) verify(each, replayed!);
});

test("the secret is only in the first response, and not in a repeat of that call", async () => {
  const key = { "idempotency-key": "webhook-secret-once" };
  const request = { url: receiver.url("/once"), event_types: ["none.at_all"] };
  const made = await admin.call("POST", base, request, key);
  const { secret, ...record } = made.body.data;
  assert.match(secret, /^whsec_/);
  const repeat = await admin.call("POST", base, request, key);
  assert.equal(repeat.headers.get("idempotency-replayed"), "true");
  assert.deepEqual(repeat.body.data, record);
  const responses = [
    await admin.call("GET", `${base}/${record.id}`),
    await admin.call("GET", base),
    await admin.call("PATCH", `${base}/${record.id}`, { description: "changed" }),
    await admin.call("GET", "/api/events?types=webhook.*"),
    await admin.call("GET", `${base}/${record.id}/deliveries`),
    await admin.call("DELETE", `${base}/${record.id}`),
  ];
  for (const { status, text } of responses) {
    assert.equal(status, 200, text);
    assert.ok(!text.includes(secret.slice(6)));
  }
});

test("viewers read, operators write, and only admins delete", async () => {
  const { id } = await endpoint(admin, "/roles", { event_types: ["none.at_all"] });
  const viewer = await clientWith({ roles: ["viewer"] });
  const operator = await clientWith({ roles: ["operator"] });
  const scoped = await clientWith({ scopes: ["webhook:read"] });
  const stranger = await clientWith({ scopes: ["event:read"] });
  const asked = async (client: RestClient) => [
    (await client.call("GET", `${base}/${id}`)).status,
    (await client.call("PATCH", `${base}/${id}`, { description: "d" })).status,
    (await client.call("POST", `${base}/${id}:rotate_secret`, {})).status,
  ];
  assert.deepEqual(await asked(viewer), [200, 403, 403]);
  assert.deepEqual(await asked(scoped), [200, 403, 403]);
  assert.deepEqual(await asked(stranger), [403, 403, 403]);
  assert.deepEqual(await asked(operator), [200, 200, 200]);
  assert.equal((await operator.call("DELETE", `${base}/${id}`)).status, 403);
  assert.equal((await admin.call("DELETE", `${base}/${id}`)).status, 200);
});

test("disallowed addresses are rejected when they are stored, with the field's name", async () => {
  for (const url of ["http://10.0.0.1/", "http://169.254.169.254/", "https://user:pw@example.com/", "nonsense"]) {
    const { status, body } = await admin.call("POST", base, { url });
    assert.deepEqual([status, body.errorCode, body.violations[0].field], [400, "INVALID_ARGUMENT", "url"], url);
  }
});

test("a tenant's events never reach another tenant's endpoint, and its endpoints are invisible to others", async () => {
  const other = await otherTenant();
  const mine = await endpoint(admin, "/mine", { event_types: ["parcel.*"] });
  const theirs = await endpoint(other, "/theirs", { event_types: ["parcel.*"] });
  const { body } = await admin.call("POST", "/api/events", { type: "parcel.sent" });
  const theirEvent = await other.call("POST", "/api/events", { type: "parcel.lost" });
  await until(() => receiver.received("/mine").length > 0 && receiver.received("/theirs").length > 0);
  const idsAt = (path: string) => receiver.received(path).map((each) => JSON.parse(each.body).id);
  assert.deepEqual(idsAt("/mine"), [body.data.id]);
  assert.deepEqual(idsAt("/theirs"), [theirEvent.body.data.id]);
  assert.throws(() => verify(theirs.secret, receiver.received("/mine")[0]!), WebhookVerificationError);
  for (const path of [mine.id, `${mine.id}/deliveries`, `${mine.id}/deliveries/${body.data.id}`]) {
    assert.equal((await other.call("GET", `${base}/${path}`)).status, 404, path);
  }
  assert.ok(!(await other.call("GET", base)).text.includes(mine.id));
});

test("sent messages are counted in metrics without ids", async () => {
  const text = await (await fetch(`${service.metricsUrl}/metrics`)).text();
  assert.match(text, /webhook_attempts_total\{outcome="succeeded"\} \d+/);
});
