import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { after, before, test } from "node:test";
import { ulid } from "../../src/platform/ids/ulid.ts";
import { freshDatabase, type TestDatabase } from "../harness/postgres.ts";
import { type RestClient, restClient } from "../harness/rest.ts";
import { startService, type TestService } from "../harness/service.ts";
import { until } from "../harness/until.ts";
import { openEvents } from "../wire/event-source.ts";

const settings = { "auth.bootstrap_api_key": "sk_test_nodes_0123456789abcdef", "tenant.purge_after_days": "0" };

let database: TestDatabase;
let a: TestService;
let b: TestService;
let onA: RestClient;
let onB: RestClient;

before(async () => {
  database = await freshDatabase();
  [a, b] = await Promise.all([startService(settings, database.url), startService(settings, database.url)]);
  onA = restClient(a.baseUrl, a.adminKey);
  onB = restClient(b.baseUrl, a.adminKey);
});
after(async () => {
  await Promise.all([a.stop(), b.stop()]);
  await database.drop();
});

/** Creates a tenant with its admin's key, known to both nodes. */
async function newTenant(quotas: object = {}) {
  const name = randomBytes(6).toString("hex");
  const created = await onA.call("POST", "/api/tenants", { name, issue_admin_key: true, quotas });
  assert.equal(created.status, 200, created.text);
  const { admin_key: key, ...tenant } = created.body.data;
  return { id: tenant.id as string, key: key as string, a: restClient(a.baseUrl, key), b: restClient(b.baseUrl, key) };
}

/** Repeats a call until it returns the status, which happens within a second on an idle machine. */
async function promptly(status: number, ask: () => ReturnType<RestClient["call"]>): Promise<void> {
  const startedAtMs = performance.now();
  await until(async () => (await ask()).status === status);
  const tookMs = performance.now() - startedAtMs;
  assert.ok(tookMs < 5000, `it took ${tookMs} ms`);
  for (let again = 0; again < 5; again++) assert.equal((await ask()).status, status);
}

const environments = "/api/v2/environments";

test("nodes that start concurrently with the same first key agree on one platform tenant and one key", async () => {
  const [found] = await database.sql`
    select (select count(*)::int from tenants where platform) as tenants, (select count(*)::int from api_keys) as keys,
      (select count(*)::int from environments) as environments`;
  assert.deepEqual(found, { tenants: 1, keys: 1, environments: 3 });
  for (const node of [onA, onB]) assert.equal((await node.call("GET", environments)).status, 200);
});

test("background work is scheduled once across all nodes", async () => {
  const planned =
    await database.sql`select kind, count(*)::int as times from jobs where dedupe_key = 'recurring' group by kind`;
  assert.ok(planned.length >= 3);
  for (const { kind, times } of planned) assert.equal(times, 1, kind);
});

test("a key revoked on one node is rejected there immediately, and on the other within a second", async () => {
  const tenant = await newTenant();
  const created = await tenant.a.call("POST", "/api/v2/api-keys", { name: "short", roles: ["viewer"] });
  const { secret, ...key } = created.body.data;
  const [atA, atB] = [restClient(a.baseUrl, secret), restClient(b.baseUrl, secret)];
  for (const node of [atA, atB]) assert.equal((await node.call("GET", environments)).status, 200);
  assert.equal((await tenant.a.call("POST", `/api/v2/api-keys/${key.id}/revoke`, {})).status, 200);
  assert.equal((await atA.call("GET", environments)).status, 401);
  await promptly(401, () => atB.call("GET", environments));
});

test("a change whose wake-up signal is lost is still applied within a second", async () => {
  const tenant = await newTenant();
  assert.equal((await tenant.b.call("GET", environments)).status, 200);
  // Written like a node writes it, but without a notification.
  await database.sql.begin(async (tx) => {
    await tx`update api_keys set revoked_at = now() where tenant_id = ${tenant.id}`;
    await tx`insert into tenant_versions (tenant_id) values (${tenant.id})
      on conflict (tenant_id) do update set version = tenant_versions.version + 1, changed_stamp = current_stamp()`;
  });
  await promptly(401, () => tenant.b.call("GET", environments));
});

test("a change that commits after later ones is not skipped", async () => {
  const slow = await newTenant();
  const quick = await newTenant();
  assert.equal((await slow.b.call("GET", environments)).status, 200);
  const written = Promise.withResolvers<void>();
  const proceed = Promise.withResolvers<void>();
  const late = database.sql.begin(async (tx) => {
    await tx`update api_keys set revoked_at = now() where tenant_id = ${slow.id}`;
    await tx`insert into tenant_versions (tenant_id) values (${slow.id})`;
    written.resolve();
    await proceed.promise;
  });
  await written.promise;
  // Another change gets a later transaction id, and is applied before the first one commits.
  await quick.a.call("PUT", "/api/config/values/idempotency.required", { value: true });
  await promptly(400, () => quick.b.call("POST", "/api/events", { type: "order.paid" }));
  assert.equal((await slow.b.call("GET", environments)).status, 200);
  proceed.resolve();
  await late;
  await promptly(401, () => slow.b.call("GET", environments));
});

test("a setting that a tenant changes on one node applies on the other within a second", async () => {
  const tenant = await newTenant();
  const publish = () => tenant.b.call("POST", "/api/events", { type: "order.paid" });
  assert.equal((await publish()).status, 200);
  await tenant.a.call("PUT", "/api/config/values/idempotency.required", { value: true });
  await promptly(400, publish);
  const reset = { "idempotency-key": "reset" };
  await tenant.a.call("DELETE", "/api/config/values/idempotency.required", undefined, reset);
  await promptly(200, publish);
});

test("a tenant suspended on one node is rejected on the other within a second, and accepted again as quickly", async () => {
  const tenant = await newTenant();
  const ask = () => tenant.b.call("GET", environments);
  assert.equal((await ask()).status, 200);
  await onA.call("PATCH", `/api/tenants/${tenant.id}`, { status: "STATUS_SUSPENDED" });
  await promptly(403, ask);
  await onA.call("PATCH", `/api/tenants/${tenant.id}`, { status: "STATUS_ACTIVE" });
  await promptly(200, ask);
});

test("copies of a request that reach different nodes take effect once", async () => {
  const tenant = await newTenant();
  const cases = [
    ["/api/events", { type: "order.paid", subject: "order-1" }],
    [environments, { key: "lab" }],
  ] as const;
  for (const [path, body] of cases) {
    const send = async (node: RestClient) => {
      const response = await until(
        () => node.call("POST", path, body, { "idempotency-key": "the one" }),
        (last) => last.body.errorCode !== "IDEMPOTENCY_IN_PROGRESS",
      );
      return response.body.data;
    };
    const responses = await Promise.all(Array.from({ length: 40 }, (_, i) => send(i % 2 === 0 ? tenant.a : tenant.b)));
    for (const response of responses) assert.deepEqual(response, responses[0]);
  }
  const [found] = await database.sql`
    select (select count(*)::int from events where tenant_id = ${tenant.id} and type = 'order.paid') as events,
      (select count(*)::int from environments where tenant_id = ${tenant.id} and key = 'lab') as environments`;
  assert.deepEqual(found, { events: 1, environments: 1 });
});

test("both nodes together grant exactly a tenant's quota", async () => {
  const tenant = await newTenant({ "api.call": { limit_per_day: 100 } });
  const calls = Array.from({ length: 160 }, (_, i) => (i % 2 === 0 ? tenant.a : tenant.b).call("GET", environments));
  const statuses = (await Promise.all(calls)).map((response) => response.status);
  assert.equal(statuses.filter((status) => status === 200).length, 100);
  assert.equal(statuses.filter((status) => status === 429).length, 60);
  const quota = await onB.call("GET", `/api/tenants/${tenant.id}/quota/api.call`);
  assert.deepEqual([quota.body.data.used, quota.body.data.remaining], [100, 0]);
});

/** A tenant's log in the order that readers are guaranteed. */
async function logOf(tenantId: string): Promise<string[]> {
  const rows = await database.sql`
    select id from events where tenant_id = ${tenantId} and type like 'order.%' order by stamp, id`;
  return rows.map((row) => row.id);
}

/** Inserts an event in a transaction that stays open until the test commits it. */
async function holdOpen(tenantId: string) {
  const inserted = Promise.withResolvers<string>();
  const proceed = Promise.withResolvers<void>();
  const committed = database.sql.begin(async (tx) => {
    const id = ulid(Date.now());
    await tx`insert into events (tenant_id, id, type, source, time) values (${tenantId}, ${id}, 'order.held', '/test', now())`;
    inserted.resolve(id);
    await proceed.promise;
  });
  const id = await inserted.promise;
  return {
    id,
    commit: async () => {
      proceed.resolve();
      await committed;
    },
  };
}

test("an event of a transaction that commits late is neither skipped nor out of order for readers on another node", async () => {
  const tenant = await newTenant();
  const headers = { "x-api-key": tenant.key };
  const source = await openEvents(`${b.baseUrl}/api/events/subscribe?types=order.*`, headers);
  await source.see(/connected/);
  const first = await tenant.a.call("POST", "/api/events", { type: "order.paid" });
  assert.deepEqual(
    (await source.take(1)).map((event) => event.id),
    [first.body.data.id],
  );

  const held = await holdOpen(tenant.id);
  const later = await tenant.a.call("POST", "/api/events", { type: "order.paid" });
  const arrived: string[] = [];
  const taking = source.take(2).then((events) => arrived.push(...events.map((event) => event.id)));
  // Committed and acknowledged, but after one that may still commit: a second reader, opened now, also waits.
  const resumed = await openEvents(`${b.baseUrl}/api/events/subscribe?types=order.*`, {
    ...headers,
    "last-event-id": first.body.data.id,
  });
  await resumed.see(/connected/);
  assert.equal((await tenant.b.call("GET", `/api/events/${later.body.data.id}`)).status, 200);
  assert.deepEqual(arrived, []);

  await held.commit();
  // Other test files share the server, and their transactions also count.
  await until(async () => {
    const [row] = await database.sql`
      select stamp < stamp_horizon() as free from events where id = ${later.body.data.id}`;
    return row!.free;
  });
  const freeAtMs = performance.now();
  await taking;
  assert.ok(performance.now() - freeAtMs < 5000, "the event arrives promptly without a wake-up signal");
  assert.deepEqual(arrived, [held.id, later.body.data.id]);
  assert.deepEqual(
    (await resumed.take(2)).map((event) => event.id),
    arrived,
  );
  source.close();
  resumed.close();
});

test("readers on both nodes see the whole log in one order while transactions of different length overlap", async () => {
  const tenant = await newTenant();
  const follow = (node: TestService, from?: string) =>
    openEvents(`${node.baseUrl}/api/events/subscribe?types=order.*`, {
      "x-api-key": tenant.key,
      ...(from !== undefined && { "last-event-id": from }),
    });
  const sources = await Promise.all([follow(a), follow(b)]);
  for (const source of sources) await source.see(/connected/);

  const held: Awaited<ReturnType<typeof holdOpen>>[] = [];
  const publish = async (node: RestClient, n: number) => {
    const response = await node.call("POST", "/api/events", { type: "order.paid", subject: `${n}` });
    assert.equal(response.status, 200, response.text);
  };
  for (let round = 0; round < 25; round++) {
    if (round < 20) held.push(await holdOpen(tenant.id));
    await Promise.all(Array.from({ length: 8 }, (_, i) => publish(i % 2 === 0 ? tenant.a : tenant.b, round * 8 + i)));
    // Alternate between the youngest and the oldest transaction.
    if (held.length >= 4) await held.splice(round % 2 === 0 ? -1 : 0, 1)[0]!.commit();
  }
  for (const each of held) await each.commit();

  const log = await logOf(tenant.id);
  assert.equal(log.length, 25 * 8 + 20);
  for (const source of sources) {
    assert.deepEqual(
      (await source.take(log.length)).map((event) => event.id),
      log,
    );
    source.close();
  }
  // A disconnected reader resumes at its position, on either node.
  const resumed = await follow(a, log[99]);
  assert.deepEqual(
    (await resumed.take(log.length - 100)).map((event) => event.id),
    log.slice(100),
  );
  resumed.close();
});

test("a job of a dead node is taken over by a live one, and runs to completion", async () => {
  const tenant = await newTenant();
  const { id } = (await tenant.a.call("POST", "/api/events", { type: "order.paid" })).body.data;
  assert.equal((await database.sql`select from events where id = ${id}`).count, 1);
  // Deleted directly, so that a dead node owns the job before any other node sees it.
  await database.sql`update tenants set status = 'deleted', deleted_at = now() where id = ${tenant.id}`;
  await database.sql`
    insert into jobs (tenant_id, id, kind, state, run_at, attempts, max_attempts, lease_token, lease_until, created_at)
    values (${tenant.id}, ${ulid(Date.now())}, 'tenant.purge', 'leased', now(), 1, 10, 'gone', now() + interval '1 second', now())`;
  await until(async () => (await database.sql`select from jobs where tenant_id = ${tenant.id}`).count === 0);
  assert.equal((await database.sql`select from events where id = ${id}`).count, 0);
  assert.equal((await database.sql`select from tenants where id = ${tenant.id}`).count, 0);
});
