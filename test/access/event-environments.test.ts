import assert from "node:assert/strict";
import { before, test } from "node:test";
import type { RestClient } from "../harness/rest.ts";
import { startService, type TestService } from "../harness/service.ts";
import { until } from "../harness/until.ts";
import { newTenant, type ResponseData, type TenantFixture } from "../routing/tenant-fixture.ts";
import { openEvents } from "../wire/event-source.ts";

let service: TestService;
let own: TenantFixture;
let ids: Record<"production" | "staging", string>;

before(async () => {
  service = await startService({ "egress.mode": "disabled" });
  own = await newTenant(service);
  const { data } = await own.ok("GET", "/api/v2/environments");
  const idOf = (key: string) => data.find((each: ResponseData) => each.key === key).id;
  ids = { production: idOf("production"), staging: idOf("staging") };
});

/** Changes a pool in every way, so that every type of event is recorded. */
async function busyPool(environmentId: string): Promise<string> {
  const config = { item_events: true, retry: { max_attempts: 1 } };
  const pool = await own.pool({ environment_id: environmentId, config });
  const recipient = await own.recipient(pool);
  await own.rule(pool, { type: "set_priority", priority: 1 });
  await own.ok("POST", `/api/recipients/${recipient}/pause`);
  await own.ok("POST", `/api/recipients/${recipient}/resume`);
  await own.route(pool);
  await own.complete(await own.leaseOne(pool));
  await own.route(pool);
  await own.fail(await own.leaseOne(pool));
  await own.ok("POST", `/api/dlq/${pool}/retry-all`, {});
  await own.ok("POST", `/api/queues/${pool}/pause`, {});
  await own.ok("POST", `/api/queues/${pool}/drain`, { max_items: 1 });
  await own.ok("POST", `/api/queues/${pool}/resume`, {});
  return pool;
}

const secretOf = async (fields: object) =>
  (await own.ok("POST", "/api/v2/api-keys", { name: "reader", roles: ["admin"], ...fields })).data.secret as string;
async function everyEvent(by: RestClient, query = ""): Promise<ResponseData[]> {
  const all: ResponseData[] = [];
  for (let cursor = ""; ; ) {
    const { status, body, text } = await by.call("GET", `/api/events?limit=7&cursor=${cursor}${query}`);
    assert.equal(status, 200, text);
    all.push(...body.data);
    cursor = body.next_cursor;
    if (cursor === "") return all;
  }
}
const idsOf = (events: readonly ResponseData[]) => events.map(({ id }) => id);

test("a key reads the events of its environments and those without an environment", async () => {
  const [production, staging] = [await busyPool(ids.production), await busyPool(ids.staging)];
  await own.ok("POST", "/api/events", { type: "order.paid", subject: staging });
  const all = await everyEvent(own.rest);
  const inStaging = all.filter(({ environment_id }) => environment_id === ids.staging);
  const inProduction = all.filter(({ environment_id }) => environment_id === ids.production);
  const elsewhere = all.filter(({ environment_id }) => environment_id === "");

  // Every event about the pool or one of its records carries the pool's environment.
  const about = (pool: string) =>
    all.filter(({ type, subject, data }) => type !== "order.paid" && (subject === pool || data.pool_id === pool));
  assert.deepEqual(new Set(about(staging)), new Set(inStaging));
  assert.deepEqual(new Set(about(production)), new Set(inProduction));
  const kinds = new Set(inStaging.map(({ type }) => type));
  for (const type of ["pool.created", "recipient.paused", "rule.created", "route.decided", "queue.item.completed"]) {
    assert.ok(kinds.has(type), `${type} is among ${[...kinds]}`);
  }
  for (const type of ["queue.item.dead_lettered", "dead_letter.retried", "queue.paused", "queue.drained"]) {
    assert.ok(kinds.has(type), `${type} is among ${[...kinds]}`);
  }
  assert.ok(elsewhere.some(({ type }) => type === "order.paid"));
  assert.ok(elsewhere.some(({ type }) => type === "tenant.created"));

  for (const [mode, hidden] of [
    ["production_only", inStaging],
    ["non_production_only", inProduction],
  ] as const) {
    const caller = await own.caller({ roles: ["viewer"], environment_mode: mode });
    const hiddenIds = new Set(idsOf(hidden));
    const expected = idsOf(all).filter((id) => !hiddenIds.has(id));
    const seen = idsOf(await everyEvent(caller)).filter((id) => idsOf(all).includes(id));
    assert.deepEqual(seen, expected, mode);
    assert.equal((await caller.call("GET", `/api/events/${hidden[0].id}`)).status, 404);
    assert.equal((await caller.call("GET", `/api/events/${expected[0]}`)).status, 200);
  }
});

test("a cursor of one environment mode is rejected in another", async () => {
  await busyPool(ids.staging);
  const { body } = await own.rest.call("GET", "/api/events?limit=1");
  const confined = await own.caller({ roles: ["viewer"], environment_mode: "production_only" });
  const response = await confined.call("GET", `/api/events?limit=1&cursor=${body.next_cursor}`);
  assert.equal(response.status, 400, response.text);
});

test("a subscription streams the events of its key's environments, in order, and resumes among them", async () => {
  const secret = await secretOf({ environment_mode: "production_only" });
  const headers = { "x-api-key": secret };
  const address = `${service.baseUrl}/api/events/subscribe`;
  const stream = await openEvents(address, headers);
  const create = (environment_id: string) => own.pool({ environment_id });
  const shownPools: string[] = [];
  for (const id of [ids.staging, ids.production, ids.staging, ids.production, ids.staging]) {
    const pool = await create(id);
    if (id === ids.production) shownPools.push(pool);
  }
  await own.ok("POST", "/api/events", { type: "order.paid" });
  const events = await stream.take(3);
  stream.close();
  assert.deepEqual(
    events.map(({ data }) => data.subject || data.type),
    [...shownPools, "order.paid"],
  );

  const resumed = await openEvents(address, { ...headers, "last-event-id": events[0]!.id });
  assert.deepEqual(idsOf(await resumed.take(2)), idsOf(events.slice(1)));
  resumed.close();

  const [hidden] = (await own.ok("GET", `/api/events?types=pool.created&limit=1`)).data;
  assert.equal(hidden.environment_id, ids.staging);
  const refused = await fetch(address, { headers: { ...headers, "last-event-id": hidden.id } });
  assert.equal(refused.status, 400);
});

test("an environment's own events are visible only to callers with access to it", async () => {
  const { data } = await own.ok("POST", "/api/v2/environments", { key: "lab" });
  const confined = await own.caller({ roles: ["viewer"], environment_mode: "production_only" });
  const query = `&subject=${data.id}`;
  assert.equal((await everyEvent(own.rest, query)).length, 1);
  assert.deepEqual(await everyEvent(confined, query), []);
});

test("a webhook endpoint receives only the events that its creator may read", async () => {
  const confined = await own.caller({ roles: ["admin"], environment_mode: "production_only" });
  const url = "http://127.0.0.1:9/";
  const widest = await confined.call("POST", "/api/v2/webhooks/endpoints", { url, environment_mode: "any" });
  assert.deepEqual([widest.status, widest.body.errorCode], [403, "PERMISSION_DENIED"]);
  const narrow = (await confined.call("POST", "/api/v2/webhooks/endpoints", { url, event_types: ["pool.created"] }))
    .body.data;
  assert.equal(narrow.environment_mode, "production_only");
  const wide = (await own.ok("POST", "/api/v2/webhooks/endpoints", { url, event_types: ["pool.created"] })).data;
  assert.equal(wide.environment_mode, "any");

  const staging = await own.pool({ environment_id: ids.staging });
  const production = await own.pool({ environment_id: ids.production });
  const eventOf = async (pool: string) => (await own.ok("GET", `/api/events?subject=${pool}`)).data[0].id;
  const deliveries = async (endpoint: ResponseData) =>
    new Set(
      (await own.ok("GET", `/api/v2/webhooks/endpoints/${endpoint.id}/deliveries`)).data.map(
        (each: ResponseData) => each.id,
      ),
    );
  const both = new Set([await eventOf(staging), await eventOf(production)]);
  for (const [endpoint, count] of [
    [wide, 2],
    [narrow, 1],
  ]) {
    await until(
      () => deliveries(endpoint),
      (seen) => seen.size >= count,
    );
  }
  assert.deepEqual(await deliveries(wide), both);
  assert.deepEqual(await deliveries(narrow), new Set([await eventOf(production)]));

  // An endpoint that receives more than a caller may read is hidden from that caller.
  for (const [method, path, body] of [
    ["GET", `/api/v2/webhooks/endpoints/${wide.id}`, undefined],
    ["PATCH", `/api/v2/webhooks/endpoints/${wide.id}`, { url: "http://127.0.0.1:10/" }],
    ["GET", `/api/v2/webhooks/endpoints/${wide.id}/deliveries`, undefined],
    ["DELETE", `/api/v2/webhooks/endpoints/${wide.id}`, undefined],
  ] as const) {
    assert.equal((await confined.call(method, path, body)).status, 403, `${method} ${path}`);
  }
  const listed = (await confined.call("GET", "/api/v2/webhooks/endpoints")).body.data;
  assert.deepEqual(idsOf(listed), [narrow.id]);
});

test("an event of a change names the caller, and one that the service or another tenant causes names nobody", async () => {
  const pool = await own.pool();
  const [created] = await everyEvent(own.rest, `&subject=${pool}`);
  const { subject } = (await own.ok("GET", "/api/v2/identity/session")).data;
  assert.deepEqual([created.type, created.actor], ["pool.created", subject]);
  await own.ok("POST", `/api/pools/${pool}/recipients:batch`, { recipients: [{ name: "a" }, { name: "b" }] });
  const added = await everyEvent(own.rest, "&types=recipient.created");
  assert.deepEqual(
    added.filter(({ data }) => data.pool_id === pool).map(({ actor }) => actor),
    [subject, subject],
  );
  const published = await own.ok("POST", "/api/events", { type: "order.paid" });
  assert.equal(published.data.actor, "");
  const [tenant] = await everyEvent(own.rest, "&types=tenant.created");
  assert.deepEqual([tenant.subject, tenant.actor], [own.id, ""]);
});
