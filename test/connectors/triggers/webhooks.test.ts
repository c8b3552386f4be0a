import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { test } from "node:test";
import { afterFile } from "../../harness/after-file.ts";
import { connect } from "../../harness/postgres-server.ts";
import { startService } from "../../harness/service.ts";
import { until } from "../../harness/until.ts";
import { freshName, newTenant, type TenantFixture } from "../../routing/tenant-fixture.ts";

const node = await startService();
const sql = connect(node.databaseUrl, 2);
afterFile(() => sql.end({ timeout: 1 }));
const subscriptionsPath = "/api/v2/connector/trigger-subscriptions";
const eventsPath = "/api/v2/connector/trigger-events";
const signingSecret = "the secret that the provider shows";
const token = "access-token-of-the-account";

const manifest = {
  ...{ manifest: 1, key: "shop", version: "1.0.0", name: "Shop", category: "commerce", description: "A test." },
  ...{ docs_url: "https://shop.example", hosts: ["shop.example"], base_url: "https://shop.example" },
  auth: {
    api_key: { fields: { token: { title: "Token" } }, apply: { headers: { "x-token": "{credentials.token}" } } },
  },
  actions: {},
  triggers: {
    "order.changed": {
      ...{ title: "Order changed", description: "An order changed.", kind: "webhook" },
      verify: { kind: "hmac", header: "x-shop-signature", over: "{body}" },
      challenge: { when: 'has(query.challenge) || body.type == "check"', respond: { query: "challenge" } },
      events: [{ when: 'body.type.startsWith("order.")', type: "order.changed" }],
      dedup: "body.id",
      output: { id: "/id", type: "/type", total: "/total", note: "/note" },
    },
    "order.open": {
      ...{ title: "Open", description: "Not signed.", kind: "webhook" },
      verify: { kind: "none", reason: "The provider does not sign." },
    },
    "order.described": {
      ...{ title: "Described", description: "Only described.", kind: "webhook" },
      runtime: { status: "catalog_only", reason: "It needs an app of its own." },
    },
  },
};

interface Shop extends TenantFixture {
  readonly connectionId: string;
  subscribe(fields?: object): Promise<{ id: string; callback_url: string; [field: string]: never | string }>;
  eventsOf(id: string): Promise<{ id: string; status: string; [field: string]: unknown }[]>;
}

async function newShop(): Promise<Shop> {
  const own = await newTenant(node);
  const tenant: TenantFixture = { ...own, ok: async (...call) => (await own.ok(...call)).data };
  await tenant.ok("POST", "/api/v2/connector/manifests", { document: manifest });
  const connection = await tenant.ok("POST", "/api/v2/connector/connections", {
    ...{ name: "shop", provider_key: "shop", credentials: { token } },
  });
  return {
    ...tenant,
    connectionId: connection.id,
    subscribe: (fields = {}) =>
      tenant.ok("POST", subscriptionsPath, {
        ...{ name: freshName(), trigger_key: "shop.order.changed", connection_id: connection.id },
        ...{ signing_secret: signingSecret, ...fields },
      }),
    eventsOf: (id) => tenant.ok("GET", `${eventsPath}?subscription_id=${id}&limit=1000`),
  };
}

const sign = (body: string, secret = signingSecret) => createHmac("sha256", secret).update(body).digest("hex");

/** Sends a delivery as the provider does. */
async function deliver(url: string, body: unknown, signature?: string, method = "POST") {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const target = url.replace(/^https?:\/\/[^/]+/, node.baseUrl);
  const headers = { "content-type": "application/json", "x-shop-signature": signature ?? sign(text) };
  const response = await fetch(target, { method, headers, ...(method !== "GET" && { body: text }) });
  return { status: response.status, type: response.headers.get("content-type"), text: await response.text() };
}

const order = (more: object = {}) => ({ id: freshName(), type: "order.paid", total: 5, ...more });

async function ended(shop: Shop, id: string, count = 1) {
  let events: Awaited<ReturnType<Shop["eventsOf"]>> = [];
  await until(async () => {
    events = await shop.eventsOf(id);
    return events.length === count && events.every(({ status }) => status !== "pending");
  });
  return events;
}

async function publish(shop: Shop): Promise<string> {
  const key = freshName();
  const document = { dsl: "1", key: `w${key}`, timeout: "1d", steps: [{ id: "one", transform: "=input" }] };
  await shop.ok("POST", "/api/workflow-definitions", { document });
  await shop.ok("POST", `/api/workflow-definitions/w${key}/publish`, {});
  return `w${key}`;
}

test("a delivery is committed when it is acknowledged, and a repeated one has no further effect", async () => {
  const shop = await newShop();
  const { id, callback_url: url } = await shop.subscribe();
  const body = order({ note: `never show ${token}` });
  const answers = await Promise.all([1, 2, 3, 4].map(() => deliver(url, body)));
  assert.deepEqual(
    answers.map(({ status }) => status),
    [204, 204, 204, 204],
  );
  const rows = await sql`select from connector_trigger_events where subscription_id = ${id}`;
  assert.equal(rows.length, 1);
  assert.equal((await deliver(url, body)).status, 204);
  const [event] = await ended(shop, id);
  assert.deepEqual([event!.status, event!.type, event!.dedup_key], ["recorded", "order.changed", body.id]);
  assert.equal(event!.payload, undefined);
  const full = await shop.ok("GET", `${eventsPath}/${event!.id}`);
  assert.deepEqual(full.payload, { id: body.id, type: "order.paid", total: 5, note: "never show [redacted]" });
  // What the filter does not match is acknowledged and ignored.
  assert.equal((await deliver(url, { id: "x", type: "customer.created" })).status, 204);
  assert.equal((await shop.eventsOf(id)).length, 1);
  const subscription = await shop.ok("GET", `${subscriptionsPath}/${id}`);
  assert.deepEqual([subscription.status, subscription.kind], ["active", "webhook"]);
  assert.notEqual(subscription.last_event_at, undefined);
  assert.equal(subscription.signing_secret, undefined);
});

test("each event starts one run with the evaluated input, and a false condition none", async () => {
  const shop = await newShop();
  const definition = await publish(shop);
  const { id, callback_url: url } = await shop.subscribe({
    condition: "event.data.total > 10",
    target: {
      workflow: { definition, input: { order: "=event.data.id", at: "=event.time" }, run_key: "=event.data.id" },
    },
  });
  const large = order({ total: 11 });
  for (const body of [large, order({ total: 9 }), large]) assert.equal((await deliver(url, body)).status, 204);
  const events = await ended(shop, id, 2);
  assert.deepEqual(events.map(({ status }) => status).sort(), ["delivered", "ignored"]);
  const { result } = events.find(({ status }) => status === "delivered")! as never as { result: { run_id: string } };
  const run = await shop.ok("GET", `/api/workflow-runs/${result.run_id}`);
  assert.deepEqual([run.input.order, run.run_key], [large.id, large.id]);
  const runs = await shop.ok("GET", `/api/workflow-runs?definition_id=${run.definition_id}`);
  assert.equal(runs.length, 1);
});

test("each event routes one item to the pool", async () => {
  const shop = await newShop();
  const pool = freshName();
  const poolId = await shop.pool({ name: pool });
  const { id, callback_url: url } = await shop.subscribe({
    target: { route: { pool, type: "order", key: "=event.data.id", payload: { total: "=event.data.total" } } },
  });
  const body = order();
  await deliver(url, body);
  await deliver(url, body);
  const [event] = await ended(shop, id);
  assert.equal(event!.status, "delivered", JSON.stringify(event));
  const item = await shop.item(poolId, (event!.result as { queue_item_id: string }).queue_item_id);
  assert.deepEqual([item.type, item.key], ["order", body.id]);
});

test("an event that its target refuses is dead and visible, and a replay delivers it as a new effect", async () => {
  const shop = await newShop();
  const { id, callback_url: url } = await shop.subscribe({ target: { workflow: { definition: "nothing" } } });
  await deliver(url, order());
  await deliver(url, order());
  const events = await ended(shop, id, 2);
  assert.deepEqual(
    events.map(({ status }) => status),
    ["dead", "dead"],
  );
  const failing = async () => shop.ok("GET", `${subscriptionsPath}/${id}`);
  await until(async () => (await failing()).status === "failing");
  assert.match((await failing()).last_error, /could not be delivered/);
  assert.equal((await shop.ok("GET", `${eventsPath}?status=dead&subscription_id=${id}`)).length, 2);

  const definition = await publish(shop);
  await shop.ok("PATCH", `${subscriptionsPath}/${id}`, { target: { workflow: { definition } } });
  const replayed = await shop.ok("POST", `${eventsPath}/${events[0]!.id}:replay`, {});
  assert.deepEqual([replayed.status, replayed.replays], ["pending", 1]);
  const range = { from: new Date(Date.now() - 60_000).toISOString(), to: new Date(Date.now() + 60_000).toISOString() };
  await until(async () => (await shop.ok("GET", `${eventsPath}/${events[0]!.id}`)).status === "delivered");
  assert.deepEqual(await shop.ok("POST", `${subscriptionsPath}/${id}:replay`, range), { replayed: 1, has_more: false });
  const after = await ended(shop, id, 2);
  assert.deepEqual(
    after.map(({ status }) => status),
    ["delivered", "delivered"],
  );
  await until(async () => (await failing()).status === "active");
  // A delivered event can be replayed too: it starts another run.
  const [first] = after as unknown as { id: string; result: { run_id: string } }[];
  await shop.ok("POST", `${eventsPath}/${first!.id}:replay`, {});
  await until(async () => {
    const event = await shop.ok("GET", `${eventsPath}/${first!.id}`);
    return event.status === "delivered" && event.result.run_id !== first!.result.run_id;
  });
});

test("every delivery that is not verified gets the same refusal, also for other tenants and unknown subscriptions", async () => {
  const [shop, other] = [await newShop(), await newShop()];
  const { id, callback_url: url } = await shop.subscribe();
  const { id: foreignId } = await other.subscribe();
  const { id: pausedId } = await shop.subscribe();
  const body = JSON.stringify(order());
  const refusals = [
    await deliver(url, body, sign(body, "wrong")),
    await deliver(url, body, ""),
    await deliver(url, body, sign(`${body} `)),
    // The ids of two tenants do not mix, although the signature is valid.
    await deliver(url.replace(id, foreignId), body),
    await deliver(url.replace(shop.id, other.id), body),
    await deliver(url.replace(id, "01ARZ3NDEKTSV4RRFFQ69G5FAV"), body),
    await deliver(url, "", undefined, "GET"),
  ];
  const withoutIds = (text: string) => text.replace(/"(requestId|request_id|instance|traceId)":"[^"]*"/g, "");
  for (const { status, text } of refusals) {
    assert.equal(status, 401);
    assert.equal(withoutIds(text), withoutIds(refusals[0]!.text));
  }
  assert.equal((await shop.eventsOf(id)).length + (await other.eventsOf(foreignId)).length, 0);
  await shop.ok("POST", `${subscriptionsPath}/${pausedId}:pause`, {});
  assert.equal((await deliver(url.replace(id, pausedId), body)).status, 204);
  assert.equal((await shop.eventsOf(pausedId)).length, 0);
  assert.equal((await deliver(url, body, undefined, "PUT")).status, 405);
  assert.equal((await fetch(`${node.internalUrl}${new URL(url).pathname}`, { method: "POST" })).status, 404);
  // Another tenant can neither see nor change the subscription and its events.
  await deliver(url, body);
  const [event] = await ended(shop, id);
  await other.refused("NOT_FOUND", "GET", `${subscriptionsPath}/${id}`);
  await other.refused("NOT_FOUND", "GET", `${eventsPath}/${event!.id}`);
  await other.refused("NOT_FOUND", "POST", `${eventsPath}/${event!.id}:replay`, {});
  assert.equal((await other.eventsOf(id)).length, 0);
});

test("a challenge is answered only if its sender knows a secret of the subscription", async () => {
  const shop = await newShop();
  const { callback_url: url, secret_callback_url: secretUrl } = await shop.subscribe();
  const answer = await deliver(`${secretUrl}&challenge=c-1`, "", "", "GET");
  assert.deepEqual([answer.status, answer.text, answer.type], [200, "c-1", "text/plain; charset=utf-8"]);
  const token = encodeURIComponent(signingSecret);
  assert.equal((await deliver(`${url}?challenge=c-2&verify_token=${token}`, "", "", "GET")).text, "c-2");
  const signed = JSON.stringify({ type: "check" });
  assert.equal((await deliver(`${url}?challenge=c-3`, signed)).text, "c-3");
  assert.equal((await deliver(`${url}?challenge=c-4`, "", "", "GET")).status, 401);
  assert.equal((await deliver(`${url}?challenge=c-5&key=guess`, "", "", "GET")).status, 401);
});

test("a webhook that is not signed is accepted with the secret URL only, which is shown once", async () => {
  const shop = await newShop();
  const created = await shop.subscribe({ trigger_key: "shop.order.open", signing_secret: "" });
  const { id, callback_url: url, secret_callback_url: secretUrl } = created;
  assert.ok(secretUrl!.startsWith(`${url}?key=`));
  assert.equal((await deliver(secretUrl!, { a: 1 })).status, 204);
  assert.equal((await deliver(secretUrl!, { a: 1 })).status, 204);
  assert.equal((await deliver(url, { a: 1 })).status, 401);
  // Without a key of the provider, every delivery is an event of its own.
  assert.equal((await ended(shop, id, 2)).length, 2);
  assert.equal((await shop.ok("GET", `${subscriptionsPath}/${id}`)).secret_callback_url, undefined);
  const key = secretUrl!.split("key=")[1]!;
  const [row] = await sql<{ text: string }[]>`
    select s::text as text from connector_trigger_subscriptions s where id = ${id}`;
  assert.ok(!row!.text.includes(key));
});

test("a payload that is too large makes a dead event, and is not stored", async () => {
  const shop = await newShop();
  const { id, callback_url: url } = await shop.subscribe();
  assert.equal((await deliver(url, order({ note: "x".repeat(300_000) }))).status, 204);
  const [event] = await ended(shop, id);
  assert.deepEqual([event!.status, event!.last_error], ["dead", "The payload has more than 262144 bytes."]);
  await shop.refused("FAILED_PRECONDITION", "POST", `${eventsPath}/${event!.id}:replay`, {});
});

test("a subscription is refused with the field that is wrong", async () => {
  const shop = await newShop();
  await shop.ok("POST", "/api/v2/environments", { key: "lab" });
  const valid = {
    name: "s",
    trigger_key: "shop.order.changed",
    connection_id: shop.connectionId,
    signing_secret: "sign",
  };
  const cases: readonly [object, string, RegExp][] = [
    [{ trigger_key: "shop.nothing" }, "INVALID_ARGUMENT", /trigger_key/],
    [{ trigger_key: "shop.order.described" }, "FAILED_PRECONDITION", /an app of its own/],
    [{ connection_id: "01ARZ3NDEKTSV4RRFFQ69G5FAV" }, "NOT_FOUND", /connection/],
    [{ input: { folder: 1 } }, "INVALID_ARGUMENT", /input/],
    [{ condition: "event.data +" }, "INVALID_ARGUMENT", /condition/],
    [{ signing_secret: "" }, "INVALID_ARGUMENT", /signing_secret/],
    [{ signing_secret: "abc" }, "INVALID_ARGUMENT", /signing_secret: must have at least 4 characters/],
    [{ target: {} }, "INVALID_ARGUMENT", /target/],
    [{ target: { workflow: { definition: "d", input: "=nothing.x" } } }, "INVALID_ARGUMENT", /target\.workflow\.input/],
    [{ target: { route: { type: "t" } } }, "INVALID_ARGUMENT", /target\.route\.pool/],
    [{ target: { route: { pool: "p", dry_run: true } } }, "INVALID_ARGUMENT", /dry_run/],
    [{ environment_id: "01ARZ3NDEKTSV4RRFFQ69G5FAV" }, "NOT_FOUND", /environment/],
    [{ environment_id: "lab" }, "INVALID_ARGUMENT", /a connection of the subscription's environment/],
  ];
  for (const [fields, code, message] of cases) {
    const { text } = await shop.refused(code, "POST", subscriptionsPath, { ...valid, ...fields });
    assert.match(text, message);
  }
  const limited = await shop.caller({ scopes: ["connector_trigger:write"] });
  const denied = await limited.call("POST", subscriptionsPath, { ...valid, target: { route: { pool: "p" } } });
  assert.deepEqual([denied.status, denied.body.errorCode], [403, "PERMISSION_DENIED"]);
  assert.equal((await limited.call("POST", subscriptionsPath, valid)).status, 200);
});

test("payloads keep no credentials of a connection that cannot be used, and nothing is stored if they are not known", async () => {
  const shop = await newShop();
  const { id, callback_url: url } = await shop.subscribe();
  const payloads = async () =>
    (await sql<{ payload: object }[]>`select payload from connector_trigger_events where subscription_id = ${id}`).map(
      ({ payload }) => JSON.stringify(payload),
    );
  const states = [
    sql`status = 'needs_reauth', status_reason = 'grant_rejected'`,
    sql`status = 'active', status_reason = '', expires_at = now() - interval '1 second'`,
  ];
  const change = (columns: (typeof states)[number]) =>
    sql`update connector_connections set ${columns} where id = ${shop.connectionId}`;
  for (const [at, state] of states.entries()) {
    await change(state);
    // The state is read again within a second.
    await until(
      () => shop.rest.call("POST", `/api/v2/connector/connections/${shop.connectionId}/test`, {}),
      ({ body }) => body.data.class === "unusable",
    );
    assert.equal((await deliver(url, order({ note: `never show ${token}` }))).status, 204);
    const stored = await payloads();
    assert.equal(stored.length, at + 1);
    assert.ok(!stored.join().includes(token), stored.join());
  }
  const [{ ciphertext }] = (await sql`
    select ciphertext from connector_connections where id = ${shop.connectionId}`) as unknown as [
    { ciphertext: string },
  ];
  await change(sql`ciphertext = ${`${ciphertext.slice(0, -8)}AAAAAAA=`}`);
  const broken = order({ note: `never show ${token}` });
  const answer = await until(
    () => deliver(url, broken),
    ({ status }) => status !== 204,
  );
  assert.equal(answer.status, 503);
  await change(sql`ciphertext = ${ciphertext}`);
  await shop.ok("POST", `/api/v2/connector/connections/${shop.connectionId}/revoke`, {});
  const refused = await until(
    () => deliver(url, order({ note: `never show ${token}` })),
    ({ status }) => status === 401,
  );
  assert.equal(refused.status, 401);
  assert.ok(!(await payloads()).join().includes(token));
});

test("a manifest with subscriptions cannot be deleted", async () => {
  const shop = await newShop();
  const { id } = await shop.subscribe();
  await shop.ok("POST", `/api/v2/connector/connections/${shop.connectionId}/revoke`, {});
  const [{ id: manifestId }] = await shop.ok("GET", "/api/v2/connector/manifests");
  const { text } = await shop.refused("IN_USE", "DELETE", `/api/v2/connector/manifests/${manifestId}`);
  assert.match(text, /trigger subscriptions/);
  await shop.ok("DELETE", `${subscriptionsPath}/${id}`);
  await shop.ok("DELETE", `/api/v2/connector/manifests/${manifestId}`);
});

test("too many refusals from an address are limited, but not valid deliveries", async () => {
  const shop = await newShop();
  const { callback_url: url } = await shop.subscribe();
  let last = 0;
  for (let nth = 0; nth < 30 && last !== 429; nth++) last = (await deliver(url, "{}", "wrong")).status;
  assert.equal(last, 429);
  assert.equal((await deliver(url, order())).status, 204);
});
