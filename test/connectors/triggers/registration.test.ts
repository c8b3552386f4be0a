import assert from "node:assert/strict";
import { createHmac, randomBytes } from "node:crypto";
import { test } from "node:test";
import {
  DeleteTriggerSubscriptionRequestSchema,
  PauseTriggerSubscriptionRequestSchema,
  ResumeTriggerSubscriptionRequestSchema,
  UpdateTriggerSubscriptionRequestSchema,
} from "../../../gen/service/api/trigger_subscription_pb.ts";
import { masterKey } from "../../../src/modules/connectors/connections/testing/connection-nodes.ts";
import { loadBuiltinProviders } from "../../../src/modules/connectors/manifests/catalogue/builtin-providers.ts";
import { startMock } from "../../../src/modules/connectors/manifests/testing/mock-provider.ts";
import { sampleAccount } from "../../../src/modules/connectors/manifests/testing/sample-account.ts";
import { registrationBinding } from "../../../src/modules/connectors/triggers/domain/subscription.ts";
import type { TenantId } from "../../../src/platform/access/index.ts";
import { createKeyring, reencrypt, SealError } from "../../../src/platform/crypto/index.ts";
import { afterFile } from "../../harness/after-file.ts";
import { until } from "../../harness/until.ts";
import { publicUrl, startTriggerFixture, triggerProvider } from "./trigger-fixture.ts";

const acme = triggerProvider(1, {
  "item.changed": {
    ...{ title: "Item changed", description: "An item changed.", kind: "webhook" },
    verify: { kind: "hmac", header: "x-signature", over: "{body}" },
    dedup: "body.id",
    input: { type: "object", properties: { folder: { type: "string" } }, additionalProperties: false },
    register: {
      request: {
        ...{ method: "POST", path: "/hooks" },
        json: { url: "{subscription.callback_url}", secret: "{subscription.secret}", folder: "{input.folder}" },
      },
      id: "/id",
      expires: { at: "/expires_at" },
      renew: { method: "PATCH", path: "/hooks/{subscription.id}" },
      unregister: { method: "DELETE", path: "/hooks/{subscription.id}" },
    },
  },
  "item.sold": {
    ...{ title: "Item sold", description: "An item was sold.", kind: "webhook" },
    verify: { kind: "hmac", header: "x-signature", over: "{body}" },
    register: {
      request: { method: "POST", path: "/endpoints", form: { url: "{subscription.callback_url}" } },
      id: "/id",
      secret: "/secret",
      unregister: { method: "DELETE", path: "/endpoints/{subscription.id}" },
    },
  },
  "item.seen": {
    ...{ title: "Item seen", description: "An item was seen.", kind: "webhook" },
    verify: { kind: "none", reason: "The provider does not sign." },
    register: {
      request: { method: "POST", path: "/watches", json: { url: "{subscription.callback_url}" } },
      id: "/id",
    },
  },
});
const mock = await startMock(acme);
afterFile(() => mock.close());
const inDays = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString();
mock.answer("register:item.changed", { id: "hook-1", expires_at: inDays(10) });
mock.answer("renew:item.changed", { expires_at: inDays(20) });
mock.answer("register:item.sold", { id: 77, secret: "chosen-by-the-provider" });
mock.answer("register:item.seen", { id: "watch-1" });
const fixture = await startTriggerFixture({ providers: [acme], egress: mock.egress });
fixture.start();
const { db, triggers } = fixture;

const requestsOf = (name: string) => mock.requests.filter(({ names }) => names.includes(name));
const bodyOf = (request: { body: unknown }) => JSON.parse(String(request.body));

async function subscription(triggerKey = "acme.item.changed", input: Record<string, string> = {}) {
  const tenantId = await fixture.tenant();
  const connectionId = await fixture.connection(tenantId);
  const { id } = await fixture.subscribe(tenantId, { triggerKey, connectionId, input });
  return { tenantId, id };
}

const ready = ({ tenantId, id }: { tenantId: TenantId; id: string }) =>
  fixture.waitFor(tenantId, id, ({ readyAt }) => readyAt !== undefined);

const registrations = async (id: string) =>
  (await db.sql`select from connector_trigger_registrations where subscription_id = ${id}`).length;

/** Makes work of a registration due now. */
async function due(id: string, more: Record<string, unknown> = {}) {
  const { expiresAt = null } = more as { expiresAt?: Date | null };
  await db.sql`
    update connector_trigger_registrations set due_at = now(), expires_at = coalesce(${expiresAt}, expires_at)
    where subscription_id = ${id} and claim = ''`;
}

test("a webhook is registered with its URL and a secret that verifies deliveries, and is removed with its subscription", async () => {
  const from = requestsOf("register:item.changed").length;
  const ref = await subscription("acme.item.changed", { folder: "inbox" });
  const shown = await ready(ref);
  assert.deepEqual(
    [shown.status, shown.registration?.state, shown.registration?.externalId],
    ["active", "active", "hook-1"],
  );
  assert.equal(shown.callbackUrl, `${publicUrl}/callbacks/connectors/${ref.tenantId}/${ref.id}`);
  assert.equal(shown.secretCallbackUrl, undefined);
  const sent = bodyOf(requestsOf("register:item.changed")[from]!);
  assert.deepEqual([sent.url, sent.folder], [shown.callbackUrl, "inbox"]);

  const rawBody = Buffer.from('{"id":"e-1"}');
  const signature = createHmac("sha256", sent.secret).update(rawBody).digest("hex");
  const deliver = (value: string) =>
    triggers.receive(ref.tenantId, ref.id, {
      ...{ method: "POST", url: shown.callbackUrl, rawBody, headers: { "x-signature": value } },
    });
  assert.equal(await deliver(signature), "taken");
  assert.equal(await deliver(signature.replace(/^./, (digit) => (digit === "0" ? "1" : "0"))), "refused");
  assert.equal((await fixture.eventsOf(ref.tenantId, ref.id)).length, 1);

  const request = { subscriptionId: ref.id };
  await fixture.call(triggers.handlers.deleteTriggerSubscription, DeleteTriggerSubscriptionRequestSchema, request, ref);
  await until(async () => (await registrations(ref.id)) === 0);
  assert.equal(requestsOf("unregister:item.changed").at(-1)!.path, "/hooks/hook-1");
  assert.equal(await deliver(signature), "refused");
  assert.deepEqual(mock.undeclared, []);
});

test("a secret that the provider chooses is used, and stored sealed only", async () => {
  const ref = await subscription("acme.item.sold");
  const shown = await ready(ref);
  assert.equal(shown.registration!.externalId, "77");
  const rawBody = Buffer.from("{}");
  const signature = createHmac("sha256", "chosen-by-the-provider").update(rawBody).digest("hex");
  const headers = { "x-signature": signature };
  const delivery = { method: "POST", url: shown.callbackUrl, rawBody, headers } as const;
  assert.equal(await triggers.receive(ref.tenantId, ref.id, delivery), "taken");
  const [row] = await db.sql<{ text: string }[]>`
    select r::text as text from connector_trigger_registrations r where subscription_id = ${ref.id}`;
  assert.ok(!row!.text.includes("chosen-by-the-provider"));
});

test("without signatures the registered URL has a secret part, and only it is accepted", async () => {
  const from = requestsOf("register:item.seen").length;
  const ref = await subscription("acme.item.seen");
  const { callbackUrl } = await ready(ref);
  const { url } = bodyOf(requestsOf("register:item.seen")[from]!);
  assert.match(url, /\?key=[A-Za-z0-9_-]{43}$/);
  const deliver = (to: string) =>
    triggers.receive(ref.tenantId, ref.id, { method: "POST", url: to, rawBody: Buffer.from("{}"), headers: {} });
  assert.equal(await deliver(url), "taken");
  assert.equal(await deliver(callbackUrl), "refused");
  assert.equal(await deliver(`${callbackUrl}?key=`), "refused");
  assert.equal(await deliver(`${callbackUrl}?key=${"A".repeat(43)}`), "refused");
});

test("a registration is renewed before it expires, and registered again if the provider has forgotten it", async () => {
  const ref = await subscription();
  const before = await ready(ref);
  const days = (Number(before.registration!.nextAttemptAt!.seconds) * 1000 - Date.now()) / 86_400_000;
  assert.ok(days > 7 && days < 9, `renewed after ${days} of 10 days`);
  const renewals = requestsOf("renew:item.changed").length;
  await due(ref.id);
  await until(() => requestsOf("renew:item.changed").length === renewals + 1);
  const expiry = ({ registration }: typeof before) => Number(registration!.expiresAt!.seconds);
  const after = await fixture.waitFor(ref.tenantId, ref.id, (each) => expiry(each) > expiry(before));
  assert.equal(after.registration!.externalId, "hook-1");

  mock.fail("renew:item.changed", { kind: "answer", status: 404, body: { message: "No such hook." } });
  const registered = requestsOf("register:item.changed").length;
  await due(ref.id);
  await until(() => requestsOf("register:item.changed").length === registered + 1);
  await fixture.waitFor(ref.tenantId, ref.id, ({ registration }) => registration?.state === "active");
});

test("a registration that fails is retried and shown without secrets, until it succeeds", async () => {
  const from = requestsOf("register:item.changed").length;
  mock.fail("register:item.changed", {
    kind: "answer",
    status: 403,
    body: { message: "token-of-the-account may not" },
  });
  const ref = await subscription();
  const failing = await fixture.waitFor(ref.tenantId, ref.id, ({ status }) => status === "failing");
  assert.match(failing.lastError, /\[redacted\] may not/);
  assert.deepEqual([failing.registration!.state, failing.registration!.failures], ["pending", 1]);
  assert.equal(failing.readyAt, undefined);
  await due(ref.id);
  const recovered = await ready(ref);
  assert.deepEqual([recovered.status, recovered.lastError], ["active", ""]);
  assert.equal(requestsOf("register:item.changed").length, from + 2);
  const types = (await fixture.logged(ref.tenantId)).filter((type) => type.startsWith("connector.trigger."));
  assert.deepEqual(types.slice(1), ["connector.trigger.failing", "connector.trigger.recovered"]);
});

test("a registration that expired because renewals failed is shown as expired, and made anew", async () => {
  const ref = await subscription();
  await ready(ref);
  mock.fail("renew:item.changed", { kind: "answer", status: 500, body: {} });
  await due(ref.id, { expiresAt: new Date(Date.now() - 1000) });
  const expired = await fixture.waitFor(ref.tenantId, ref.id, ({ status }) => status === "expired");
  assert.equal(expired.registration!.state, "expired");
  const registered = requestsOf("register:item.changed").length;
  await due(ref.id);
  await fixture.waitFor(ref.tenantId, ref.id, ({ status }) => status === "active");
  assert.equal(requestsOf("register:item.changed").length, registered + 1);
});

test("pausing removes the webhook, and resuming registers another one after that", async () => {
  const ref = await subscription();
  await ready(ref);
  const [from, removed] = [requestsOf("register:item.changed").length, requestsOf("unregister:item.changed").length];
  const { pauseTriggerSubscription, resumeTriggerSubscription } = triggers.handlers;
  mock.fail("unregister:item.changed", { kind: "answer", status: 500, body: {} });
  const request = { subscriptionId: ref.id };
  await fixture.call(pauseTriggerSubscription, PauseTriggerSubscriptionRequestSchema, request, ref);
  await until(() => requestsOf("unregister:item.changed").length === removed + 1);
  await fixture.call(resumeTriggerSubscription, ResumeTriggerSubscriptionRequestSchema, request, ref);
  // The leftover of the failed removal is removed first.
  await until(async () => {
    await due(ref.id);
    return requestsOf("register:item.changed").length === from + 1;
  });
  await ready(ref);
  assert.equal(requestsOf("unregister:item.changed").length, removed + 2);
  assert.equal(await registrations(ref.id), 1);
});

test("a new input is registered, and the previous registration removed", async () => {
  const ref = await subscription("acme.item.changed", { folder: "one" });
  await ready(ref);
  const from = requestsOf("register:item.changed").length;
  const { promise: answered, resolve: answer } = Promise.withResolvers<void>();
  mock.fail("register:item.changed", { kind: "held", until: answered });
  const { updateTriggerSubscription } = triggers.handlers;
  const request = { subscriptionId: ref.id, input: { folder: "two" } };
  await fixture.call(updateTriggerSubscription, UpdateTriggerSubscriptionRequestSchema, request, ref);
  assert.equal((await fixture.get(ref.tenantId, ref.id)).readyAt, undefined);
  answer();
  await ready(ref);
  assert.deepEqual(bodyOf(requestsOf("register:item.changed")[from]!).folder, "two");
  await until(async () => (await registrations(ref.id)) === 1);
});

test("a webhook whose subscription is deleted while it is being registered is removed as soon as its id is known", async () => {
  const removed = requestsOf("unregister:item.changed").length;
  const { promise: answered, resolve: answer } = Promise.withResolvers<void>();
  mock.fail("register:item.changed", { kind: "held", until: answered });
  const from = requestsOf("register:item.changed").length;
  const ref = await subscription();
  await until(() => requestsOf("register:item.changed").length === from + 1);
  const request = { subscriptionId: ref.id };
  await fixture.call(triggers.handlers.deleteTriggerSubscription, DeleteTriggerSubscriptionRequestSchema, request, ref);
  assert.equal(requestsOf("unregister:item.changed").length, removed);
  answer();
  await until(async () => (await registrations(ref.id)) === 0);
  assert.equal(requestsOf("unregister:item.changed").length, removed + 1);
});

test("a node that lost its claim removes the webhook that it has just registered", async () => {
  const removed = requestsOf("unregister:item.changed").length;
  const { promise: answered, resolve: answer } = Promise.withResolvers<void>();
  mock.fail("register:item.changed", { kind: "held", until: answered });
  const from = requestsOf("register:item.changed").length;
  const ref = await subscription();
  await until(() => requestsOf("register:item.changed").length === from + 1);
  await db.sql`
    update connector_trigger_registrations set claim = 'another node', due_at = now() + interval '1 hour'
    where subscription_id = ${ref.id}`;
  answer();
  await until(() => requestsOf("unregister:item.changed").length === removed + 1);
  assert.equal((await fixture.get(ref.tenantId, ref.id)).registration!.state, "pending");
});

test("a webhook is registered once although the database fails while its id is stored", async () => {
  await db.sql`create sequence lost_ids`;
  await db.sql`
    create function lose_id() returns trigger language plpgsql as $$
    begin
      if nextval('lost_ids') <= 2 then raise exception 'lost' using errcode = '08006'; end if;
      return new;
    end $$`;
  await db.sql`
    create trigger lose_id before update on connector_trigger_registrations for each row
    when (old.external_id = '' and new.external_id <> '') execute function lose_id()`;
  const from = requestsOf("register:item.changed").length;
  try {
    const ref = await subscription();
    await ready(ref);
  } finally {
    await db.sql`drop trigger lose_id on connector_trigger_registrations`;
  }
  assert.equal(requestsOf("register:item.changed").length, from + 1);
});

test("secrets are re-encrypted when the master key changes, and cannot be opened for another record", async () => {
  const ref = await subscription();
  await ready(ref);
  const next = randomBytes(32).toString("base64");
  const keyring = createKeyring({ activeKeyId: "k2", keys: { k1: masterKey, k2: next } });
  let reencrypted = 0;
  for (const table of triggers.sealed) {
    const result = await reencrypt(keyring, table, new AbortController().signal);
    assert.equal(result.unreadable, 0);
    reencrypted += result.reencrypted;
  }
  assert.ok(reencrypted > 0);
  const [row] = await db.sql<{ tenantId: string; id: string; ciphertext: string; keyId: string }[]>`
    select tenant_id, id, ciphertext, key_id from connector_trigger_registrations where subscription_id = ${ref.id}`;
  assert.deepEqual([row!.keyId, keyring.keyIdOf(row!.ciphertext)], ["k2", "k2"]);
  assert.match(JSON.parse(keyring.open(row!.ciphertext, registrationBinding(row!))).signing, /^[A-Za-z0-9_-]{43}$/);
  assert.throws(
    () => keyring.open(row!.ciphertext, registrationBinding({ ...row!, tenantId: "another" })),
    ({ cause }) => cause instanceof SealError && cause.fault === "rejected",
  );
  // The other tests of this file use the first key.
  const back = createKeyring({ activeKeyId: "k1", keys: { k1: masterKey, k2: next } });
  for (const table of triggers.sealed) await reencrypt(back, table, new AbortController().signal);
});

test("the built-in manifests of GitHub and Stripe register and remove webhooks with the requests that they declare", async () => {
  const providers = loadBuiltinProviders().filter(({ key }) => ["github", "stripe"].includes(key));
  for (const provider of providers) {
    const own = await startMock(provider);
    afterFile(() => own.close());
    const builtin = await startTriggerFixture({ providers: [provider], egress: own.egress });
    builtin.start();
    const tenantId = await builtin.tenant();
    const [trigger, input] =
      provider.key === "github"
        ? ["github.issue.changed", { owner: "acme", repo: "site" }]
        : ["stripe.event.received", { events: ["invoice.paid"] }];
    const mode = provider.authModes.find((each) => each !== "oauth2")!;
    const { credentials } = sampleAccount(provider, mode);
    const connectionId = await builtin.connection(tenantId, provider.key, credentials, mode);
    const name = trigger!.slice(provider.key.length + 1);
    own.answer(`register:${name}`, { id: "we_1", secret: "whsec_of_the_vendor" });
    const { id } = await builtin.subscribe(tenantId, { triggerKey: trigger!, connectionId, input: input as never });
    await builtin.waitFor(tenantId, id, ({ readyAt }) => readyAt !== undefined);
    const request = { subscriptionId: id };
    const { deleteTriggerSubscription } = builtin.triggers.handlers;
    await builtin.call(deleteTriggerSubscription, DeleteTriggerSubscriptionRequestSchema, request, { tenantId });
    await until(() => own.requests.some(({ names }) => names.includes(`unregister:${name}`)));
    assert.deepEqual(own.undeclared, []);
  }
});
