import assert from "node:assert/strict";
import { test } from "node:test";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampDate } from "@bufbuild/protobuf/wkt";
import { Webhook } from "standardwebhooks";
import {
  CreateWebhookEndpointRequestSchema,
  DeleteWebhookEndpointRequestSchema,
  WebhookEndpoint_Status as EndpointStatus,
  WebhookDelivery_Failure as Failure,
  GetWebhookEndpointRequestSchema,
  ListWebhookEndpointsRequestSchema,
  WebhookEndpoint_DisabledReason as Reason,
  RotateWebhookSecretRequestSchema,
  type RotateWebhookSecretResponse,
  UpdateWebhookEndpointRequestSchema,
  type WebhookEndpoint,
} from "../../../../../gen/service/api/webhook_pb.ts";
import { failsWith } from "../../../../../test/harness/context.ts";
import { type Received, startReceiver } from "../../../../../test/webhooks/receiver.ts";
import { masterKeys, startWebhookFixture } from "../../../../../test/webhooks/webhook-fixture.ts";
import type { TenantId } from "../../../../platform/access/index.ts";
import { createKeyring } from "../../../../platform/crypto/index.ts";
import { createSecrets } from "../../../tenancy/index.ts";

// The library that verifies signatures uses the wall clock.
const fixture = await startWebhookFixture({ startedAt: new Date() });
const receiver = await startReceiver();
await fixture.webhooks.start();
const { handlers } = fixture.webhooks;

async function read(tenantId: TenantId, endpointId: string): Promise<WebhookEndpoint> {
  const { getWebhookEndpoint } = handlers;
  const answer = await fixture.call(tenantId, getWebhookEndpoint, GetWebhookEndpointRequestSchema, { endpointId });
  return (answer as { endpoint: WebhookEndpoint }).endpoint;
}

type Change = MessageInitShape<typeof UpdateWebhookEndpointRequestSchema>;
async function change(tenantId: TenantId, endpointId: string, wanted: Change): Promise<WebhookEndpoint> {
  const request = { ...wanted, endpointId } as Change;
  const answer = await fixture.call(
    tenantId,
    handlers.updateWebhookEndpoint,
    UpdateWebhookEndpointRequestSchema,
    request,
  );
  return (answer as { endpoint: WebhookEndpoint }).endpoint;
}

const rotate = (tenantId: TenantId, endpointId: string) =>
  fixture.call(tenantId, handlers.rotateWebhookSecret, RotateWebhookSecretRequestSchema, {
    endpointId,
  }) as Promise<RotateWebhookSecretResponse>;

const hourMs = 3_600_000;

test("an endpoint is created, read, updated and deleted; its secret is shown once and stored sealed", async () => {
  const tenantId = await fixture.tenant();
  const { id, secret } = await fixture.endpoint(tenantId, receiver.url("/crud"), { description: "first" });
  assert.match(secret, /^whsec_[A-Za-z0-9+/]{43}=$/);
  const made = await read(tenantId, id);
  assert.deepEqual(
    [made.url, made.description, made.eventTypes, made.status, made.recordVersion],
    [receiver.url("/crud"), "first", [], EndpointStatus.ACTIVE, 1n],
  );
  const [row] = await fixture.sql`
    select jsonb_agg(to_jsonb(s))::text as secrets, (select jsonb_agg(to_jsonb(e))::text from events e) as events
    from webhook_secrets s where endpoint_id = ${id}`;
  assert.ok(!row!.secrets.includes(secret.slice(6)) && !row!.events.includes(secret.slice(6)));
  assert.match(row!.secrets, /"ciphertext": "xc1:k1:/);

  const changed = await change(tenantId, id, { description: "", eventTypeSet: { types: ["order.*"] } });
  assert.deepEqual([changed.description, changed.eventTypes, changed.recordVersion], ["", ["order.*"], 2n]);
  assert.equal(changed.url, made.url, "what is absent stays");
  await assert.rejects(change(tenantId, id, { description: "x", recordVersion: 1n }), failsWith("VERSION_CONFLICT"));

  const deleting = { endpointId: id };
  await fixture.call(tenantId, handlers.deleteWebhookEndpoint, DeleteWebhookEndpointRequestSchema, deleting);
  await assert.rejects(read(tenantId, id), failsWith("NOT_FOUND"));
  const left = await fixture.sql`select from webhook_secrets where endpoint_id = ${id}`;
  assert.equal(left.length, 0);
  const events = await fixture.sql`select type from events where tenant_id = ${tenantId} order by id`;
  assert.deepEqual(
    events.map(({ type }) => type),
    ["webhook.endpoint.created", "webhook.endpoint.updated", "webhook.endpoint.deleted"],
  );
});

test("another tenant's endpoint cannot be read, updated, rotated or deleted, and is not listed", async () => {
  const [owner, other] = [await fixture.tenant(), await fixture.tenant()];
  const { id } = await fixture.endpoint(owner, receiver.url("/owned"));
  await assert.rejects(read(other, id), failsWith("NOT_FOUND"));
  await assert.rejects(change(other, id, { description: "x" }), failsWith("NOT_FOUND"));
  await assert.rejects(change(other, id, { status: EndpointStatus.ACTIVE }), failsWith("NOT_FOUND"));
  await assert.rejects(rotate(other, id), failsWith("NOT_FOUND"));
  const deleting = { endpointId: id };
  await assert.rejects(
    fixture.call(other, handlers.deleteWebhookEndpoint, DeleteWebhookEndpointRequestSchema, deleting),
    failsWith("NOT_FOUND"),
  );
  const listed = await fixture.call(other, handlers.listWebhookEndpoints, ListWebhookEndpointsRequestSchema, {});
  assert.deepEqual((listed as { endpoints: unknown[] }).endpoints, []);
  assert.equal((await read(owner, id)).recordVersion, 1n);
});

test("a URL that cannot be used is rejected on creation and update", async () => {
  const tenantId = await fixture.tenant();
  const { id } = await fixture.endpoint(tenantId, receiver.url("/fine"));
  for (const url of [
    "nonsense",
    "ftp://example.com/",
    "https://user:pass@example.com/",
    "http://10.0.0.1/",
    "http://169.254.169.254/latest",
    "http://[::ffff:10.0.0.1]/",
    "http://0x0a000001/",
  ]) {
    const making = fixture.call(tenantId, handlers.createWebhookEndpoint, CreateWebhookEndpointRequestSchema, { url });
    await assert.rejects(making, failsWith("INVALID_ARGUMENT", /^url: /), url);
    await assert.rejects(change(tenantId, id, { url }), failsWith("INVALID_ARGUMENT", /^url: /), url);
  }
  assert.equal((await read(tenantId, id)).url, receiver.url("/fine"));
});

test("a tenant has at most a hundred endpoints, even with concurrent creation", async () => {
  const tenantId = await fixture.tenant();
  await fixture.endpoint(tenantId, receiver.url("/many"));
  await fixture.sql`
    insert into webhook_endpoints (tenant_id, id, url, status, created_at, updated_at)
    select ${tenantId}, '01' || lpad(n::text, 24, '0'), 'http://127.0.0.1:9/', 'active', now(), now()
    from generate_series(1, 97) n`;
  const asked = await Promise.allSettled(
    Array.from({ length: 5 }, () => fixture.endpoint(tenantId, receiver.url("/many"))),
  );
  assert.equal(asked.filter(({ status }) => status === "fulfilled").length, 2);
  for (const each of asked) {
    if (each.status === "rejected") assert.ok(failsWith("FAILED_PRECONDITION", /at most 100/)(each.reason));
  }
});

test("without a master key no endpoint can be created, and nothing is stored", async () => {
  const tenantId = await fixture.tenant();
  const { createWebhookEndpoint } = fixture.node({ keyring: undefined }).handlers;
  await assert.rejects(
    fixture.call(tenantId, createWebhookEndpoint, CreateWebhookEndpointRequestSchema, { url: receiver.url() }),
    failsWith("FAILED_PRECONDITION", /connector\.encryption_key/),
  );
  assert.equal((await fixture.sql`select from webhook_endpoints where tenant_id = ${tenantId}`).length, 0);
});

test("an endpoint disabled by a caller has the reason manual, and enabling it resets its failures", async () => {
  const tenantId = await fixture.tenant();
  receiver.answer("/forgiven", 500);
  const { id } = await fixture.endpoint(tenantId, receiver.url("/forgiven"));
  await fixture.attempted(id, await fixture.publish(tenantId), 1);
  const disabled = await change(tenantId, id, { status: EndpointStatus.DISABLED });
  assert.deepEqual([disabled.status, disabled.disabledReason], [EndpointStatus.DISABLED, Reason.MANUAL]);
  assert.notEqual(disabled.failingSince, undefined);
  const enabled = await change(tenantId, id, { status: EndpointStatus.ACTIVE });
  assert.deepEqual([enabled.status, enabled.disabledReason], [EndpointStatus.ACTIVE, Reason.UNSPECIFIED]);
  assert.equal(enabled.failingSince, undefined);
});

/** The headers that the library expects. */
function headersOf({ headers }: Received): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
}

test("an independent library verifies every message before, during and after a rotation, with valid secrets only", async (t) => {
  const tenantId = await fixture.tenant();
  const { id, secret: first } = await fixture.endpoint(tenantId, receiver.url("/signed"), { eventTypes: ["order.*"] });
  const startedMs = fixture.clock.now();
  const next = async (data: Record<string, string>): Promise<Received> => {
    const eventId = await fixture.publish(tenantId, { data });
    await fixture.attempted(id, eventId, 1);
    return receiver.received("/signed").find(({ body }) => JSON.parse(body).id === eventId)!;
  };
  const accepts = (secret: string, message: Received): boolean => {
    // The library compares a message's time with the wall clock.
    t.mock.timers.enable({ apis: ["Date"], now: fixture.clock.now() });
    try {
      new Webhook(secret).verify(message.body, headersOf(message));
      return true;
    } catch {
      return false;
    } finally {
      t.mock.timers.reset();
    }
  };

  const before = await next({ text: "grüße ✓" });
  assert.ok(accepts(first, before));

  const rotated = await rotate(tenantId, id);
  const second = rotated.endpoint!.secret!;
  assert.notEqual(second, first);
  assert.equal(timestampDate(rotated.endpoint!.previousSecretValidUntil!).getTime(), startedMs + 24 * hourMs);
  const during = await next({});
  assert.ok(accepts(first, during) && accepts(second, during));
  assert.equal(String(during.headers["webhook-signature"]).split(" ").length, 2);

  await fixture.moveTo(new Date(startedMs + 24 * hourMs - 1000));
  const lastMoment = await next({});
  assert.ok(accepts(first, lastMoment) && accepts(second, lastMoment));

  await fixture.moveTo(new Date(startedMs + 24 * hourMs));
  const afterwards = await next({});
  assert.ok(!accepts(first, afterwards) && accepts(second, afterwards));
  assert.equal(String(afterwards.headers["webhook-signature"]).split(" ").length, 1);

  // After two rotations within a day all three secrets sign.
  const third = (await rotate(tenantId, id)).endpoint!.secret!;
  const fourth = (await rotate(tenantId, id)).endpoint!.secret!;
  const crowded = await next({});
  assert.ok([second, third, fourth].every((secret) => accepts(secret, crowded)) && !accepts(first, crowded));
});

test("at most five secrets are valid; another rotation is rejected until one expires", async () => {
  const tenantId = await fixture.tenant();
  const { id } = await fixture.endpoint(tenantId, receiver.url("/rotated"));
  for (let i = 0; i < 4; i++) await rotate(tenantId, id);
  await assert.rejects(rotate(tenantId, id), failsWith("FAILED_PRECONDITION", /5 valid secrets/));
  await fixture.moveTo(new Date(fixture.clock.now() + 24 * hourMs));
  await rotate(tenantId, id);
  const rows = await fixture.sql`select expires_at from webhook_secrets where endpoint_id = ${id}`;
  assert.equal(rows.length, 2, "expired secrets are deleted");
});

test("secrets are re-encrypted when the master key changes, and still sign", async () => {
  const tenantId = await fixture.tenant();
  const { id, secret } = await fixture.endpoint(tenantId, receiver.url("/resealed"));
  const rotated = createKeyring({ activeKeyId: "k2", keys: masterKeys });
  const secrets = createSecrets({
    db: fixture.db,
    keyring: rotated,
    events: fixture.events.recorder,
    platformTenantId: () => "",
    otherTables: [...fixture.webhooks.sealed],
  });
  const { reencrypted, unreadable } = await secrets.reencryptAll(new AbortController().signal);
  assert.ok(reencrypted > 0);
  assert.equal(unreadable, 0);
  const [row] = await fixture.sql`select ciphertext, key_id from webhook_secrets where endpoint_id = ${id}`;
  assert.equal(row!.key_id, "k2");
  assert.match(row!.ciphertext, /^xc1:k2:/);

  await fixture.webhooks.stop();
  const node = fixture.node({ keyring: createKeyring({ activeKeyId: "k2", keys: { k2: masterKeys.k2 } }) });
  await node.start();
  const eventId = await fixture.publish(tenantId);
  await fixture.attempted(id, eventId, 1);
  const [message] = receiver.received("/resealed");
  const timestamp = new Date(Number(message!.headers["webhook-timestamp"]) * 1000);
  const expected = new Webhook(secret).sign(String(message!.headers["webhook-id"]), timestamp, message!.body);
  assert.equal(message!.headers["webhook-signature"], expected);
  await node.stop();

  // A node without the key cannot sign: it retries later, and the failure does not count against the endpoint.
  const keyless = fixture.node({ keyring: createKeyring({ activeKeyId: "k3", keys: { k3: masterKeys.k1 } }) });
  await keyless.start();
  const unsigned = await fixture.publish(tenantId);
  await fixture.attempted(id, unsigned, 1);
  assert.equal(receiver.received("/resealed").length, 1);
  const [endpoint] = await fixture.sql`select from webhook_failures where endpoint_id = ${id}`;
  assert.equal(endpoint, undefined);
  assert.equal((await fixture.delivery(tenantId, id, unsigned)).attempts[0]!.failure, Failure.SECRET_UNREADABLE);
});
