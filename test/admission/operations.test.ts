import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { afterFile } from "../harness/after-file.ts";
import { connect, type TestSql } from "../harness/postgres-server.ts";
import { startService, type TestService } from "../harness/service.ts";
import { until } from "../harness/until.ts";
import { inEachProtocol, newTenant, type ResponseData, type TenantFixture } from "../routing/tenant-fixture.ts";

let node: TestService;
let tenant: TenantFixture;
let sql: TestSql;
before(async () => {
  node = await startService();
  sql = connect(node.databaseUrl, 1);
  afterFile(() => sql.end({ timeout: 1 }));
  tenant = await newTenant(node);
});

const hour = 3600;
const singleton = { key: "item.key" };
const debounce = { key: "item.key", period_s: hour, max_delay_s: 2 * hour };
const throttle = { key: "item.key", limit: 1, period_s: hour };
const concurrency = { key: "item.key", limit: 1 };

// Leases outlast the test, so no item is released by expiry.
const poolWith = (admission: object) => tenant.pool({ config: { admission, lease: { duration_s: 900 } } });
const route = (poolId: string, n: number, fields = {}) => tenant.route(poolId, { key: "k", payload: { n }, ...fields });
const preview = async (poolId: string, fields = {}) =>
  (await tenant.ok("POST", `/api/queues/${poolId}:preview-admission`, { item: { type: "task", key: "k", ...fields } }))
    .data;
const explain = async (poolId: string, itemId: string) =>
  (await tenant.ok("GET", `/api/queues/${poolId}/items/${itemId}/admission-explanation`)).data;
const groupsOf = async (poolId: string, query = "") =>
  (await tenant.ok("GET", `/api/queues/admission-groups?pool_id=${poolId}${query}`)).data;
const pathOf = ({ pool_id, constraint_kind, group_id }: ResponseData) =>
  `/api/queues/${pool_id}/admission-groups/${constraint_kind}/${group_id}`;
const clear = async (group: ResponseData, reason = "stuck since noon") =>
  (await tenant.ok("POST", `${pathOf(group)}:clear`, { reason })).data;

describe("preview predicts what routing then does", () => {
  const cases: [name: string, admission: object, outcomes: string[]][] = [
    ["singleton", { singleton }, ["queued", "deduplicated", "deduplicated"]],
    ["debounce", { debounce }, ["debounced", "debounced", "debounced"]],
    ["throttle that delays", { throttle }, ["queued", "queued", "queued"]],
    [
      "throttle that rejects",
      { throttle: { ...throttle, on_limit: "reject", burst: 1 } },
      ["queued", "queued", "rejected"],
    ],
    ["concurrency", { concurrency }, ["queued", "queued", "queued"]],
  ];
  for (const [name, admission, outcomes] of cases) {
    test(name, async () => {
      const poolId = await poolWith(admission);
      for (const [n, outcome] of outcomes.entries()) {
        const said = await preview(poolId);
        assert.equal(said.status, outcome === "queued" ? "admitted" : outcome);
        assert.equal((await route(poolId, n)).outcome, outcome);
      }
    });
  }

  test("gives the same result in every protocol", async () => {
    const poolId = await poolWith({ singleton, concurrency });
    const holder = await route(poolId, 1);
    const message = { pool_id: poolId, item: { type: "task", key: "k" } };
    for (const { protocol, data } of await inEachProtocol(node, tenant, "AdmissionService/PreviewAdmission", message)) {
      assert.equal(data.status, "deduplicated", protocol);
      assert.equal(data.existing_queue_item_id, holder.queue_item_id, protocol);
      assert.deepEqual(
        data.verdicts.map(({ constraint_kind, verdict }: ResponseData) => [constraint_kind, verdict]),
        [
          ["singleton", "deduplicate"],
          ["concurrency", "not_asked"],
        ],
        protocol,
      );
    }
  });
});

describe("singleton", () => {
  test("the slot is released when its item ends, whatever the outcome", async () => {
    const poolId = await poolWith({ singleton });
    const first = await route(poolId, 1);
    assert.equal((await route(poolId, 2)).outcome, "deduplicated");
    await tenant.complete(await tenant.leaseOne(poolId));
    assert.equal((await route(poolId, 3)).outcome, "queued");
    await tenant.ok("POST", `/api/queues/${poolId}/drain`, { max_items: 10 });
    assert.equal((await route(poolId, 4)).outcome, "queued");
    assert.equal((await explain(poolId, first.queue_item_id)).status, "completed");
  });

  test("replace_pending replaces waiting items and leaves running ones; cancel_running cancels the running item", async () => {
    const replacing = await poolWith({ singleton: { ...singleton, mode: "replace_pending" } });
    const first = await route(replacing, 1);
    const second = await route(replacing, 2);
    const gone = await explain(replacing, first.queue_item_id);
    assert.deepEqual([gone.status, gone.survivor_id], ["superseded", second.queue_item_id]);
    assert.deepEqual((await tenant.leaseOne(replacing)).payload, { n: 2 });
    assert.equal((await route(replacing, 3)).outcome, "deduplicated");

    const cancelling = await poolWith({ singleton: { ...singleton, mode: "cancel_running" } });
    await route(cancelling, 1);
    const working = await tenant.leaseOne(cancelling);
    assert.equal((await route(cancelling, 2)).outcome, "queued");
    assert.equal((await tenant.item(cancelling, working.queue_item_id)).state, "cancelled");
    assert.deepEqual((await tenant.leaseOne(cancelling)).payload, { n: 2 });
  });
});

describe("debounce", () => {
  test("only the last item proceeds, after a period without new items; the others name it", async () => {
    const poolId = await poolWith({ debounce: { key: "item.key", period_s: 1, max_delay_s: 60 } });
    // One call, so that all items arrive at the same time however slow the machine is.
    const asked = [1, 2, 3, 4].map((n) => ({ pool_id: poolId, type: "task", key: "k", payload: { n } }));
    const items = (await tenant.routeAll(asked)).map(({ decision }) => decision);
    const leased = await tenant.leaseOne(poolId);
    assert.deepEqual(leased.payload, { n: 4 });
    const states = [];
    for (const { queue_item_id } of items.slice(0, 3)) states.push(await explain(poolId, queue_item_id));
    assert.deepEqual(
      states.map(({ status, survivor_id }) => [status, survivor_id]),
      states.map(() => ["superseded", items[3].queue_item_id]),
    );
  });

  test("after a clear, the waiting item proceeds immediately and the next item starts a new window", async () => {
    const poolId = await poolWith({ debounce });
    await route(poolId, 1);
    const waiting = await route(poolId, 2);
    const held = await explain(poolId, waiting.queue_item_id);
    assert.deepEqual([held.status, held.constraint_kind, held.verdicts[0].verdict], ["held", "debounce", "debounce"]);
    assert.ok(held.retry_after_s > hour / 2);
    const [group] = await groupsOf(poolId);
    assert.deepEqual([group.status, group.queue_item_id, group.waiting], ["cooling", waiting.queue_item_id, 1]);
    const cleared = await clear(group);
    assert.deepEqual(
      [cleared.status, cleared.cleared_reason, cleared.queue_item_id],
      ["cleared", "stuck since noon", ""],
    );
    assert.deepEqual((await tenant.leaseOne(poolId)).payload, { n: 2 });
    assert.equal((await route(poolId, 3)).outcome, "debounced");
    assert.equal((await explain(poolId, waiting.queue_item_id)).status, "leased");
  });
});

test("throttle: an item gets its token although a later one was faster", async () => {
  const poolId = await poolWith({ throttle: { ...throttle, on_limit: "reject", burst: 1 } });
  assert.equal((await route(poolId, 1)).outcome, "queued");
  await sql`
    update admission_groups set updated_at = updated_at + interval '5 s', until = until + interval '5 s',
      tat_ms = tat_ms + 5000
    where pool_id = ${poolId}`;
  assert.equal((await route(poolId, 2)).outcome, "queued");
  assert.equal((await route(poolId, 3)).outcome, "rejected");
});

test("throttle: items wait in arrival order; after a clear, they proceed and the group starts again", async () => {
  const poolId = await poolWith({ throttle });
  const items = [];
  for (let n = 1; n <= 3; n++) items.push(await route(poolId, n));
  assert.deepEqual((await tenant.leaseOne(poolId)).payload, { n: 1 });
  assert.deepEqual(await tenant.lease(poolId), []);
  const last = await explain(poolId, items[2].queue_item_id);
  assert.deepEqual([last.constraint_kind, last.ahead], ["throttle", 1]);
  assert.ok(last.retry_after_s > 0.5 * hour && last.retry_after_s <= hour, "when the next token comes");
  assert.deepEqual([(await preview(poolId)).status, (await preview(poolId)).constraint_kind], ["held", "throttle"]);
  await clear((await groupsOf(poolId))[0]);
  assert.deepEqual((await tenant.leaseOne(poolId)).payload, { n: 2 });
  assert.deepEqual((await tenant.leaseOne(poolId)).payload, { n: 3 });
  assert.equal((await preview(poolId)).status, "admitted");
});

test("concurrency: the oldest waiting item gets a released slot, and its position is reported", async () => {
  const poolId = await poolWith({ concurrency });
  const items = [];
  for (let n = 1; n <= 3; n++) items.push(await route(poolId, n));
  const working = await tenant.leaseOne(poolId);
  assert.deepEqual(await tenant.lease(poolId), []);
  const last = await explain(poolId, items[2].queue_item_id);
  assert.deepEqual([last.status, last.constraint_kind, last.ahead], ["ready", "concurrency", 1]);
  const [group] = await groupsOf(poolId);
  assert.deepEqual([group.status, group.limit, group.in_use, group.waiting], ["saturated", 1, 1, 2]);
  await tenant.refused("FAILED_PRECONDITION", "POST", `${pathOf(group)}:clear`, { reason: "please" });
  await tenant.complete(working);
  assert.deepEqual((await tenant.leaseOne(poolId)).payload, { n: 2 });
  assert.equal((await explain(poolId, items[2].queue_item_id)).ahead, 0);
});

test("an item that leaves its debounce window still waits for a concurrency slot", async () => {
  const poolId = await poolWith({
    debounce: { key: "item.type", period_s: 1, max_delay_s: 1 },
    concurrency: { ...concurrency, key: "'all'" },
  });
  const first = await route(poolId, 1, { type: "a" });
  const working = await tenant.leaseOne(poolId);
  assert.equal(working.queue_item_id, first.queue_item_id);
  const second = await route(poolId, 2, { type: "b" });
  assert.equal(second.outcome, "debounced");
  await until(
    () => explain(poolId, second.queue_item_id),
    ({ status, constraint_kind }) => status === "ready" && constraint_kind === "concurrency",
  );
  await tenant.complete(working);
  assert.deepEqual((await tenant.leaseOne(poolId)).payload, { n: 2 });
});

test("groups are listed by their filters, page by page, in every protocol", async () => {
  const poolId = await poolWith({ singleton, throttle, concurrency });
  for (const key of ["a", "b"]) await route(poolId, 1, { key });
  for (let n = 0; n < 2; n++) await tenant.leaseOne(poolId);
  const kinds = async (query: string) =>
    (await groupsOf(poolId, query)).map(({ constraint_kind }: ResponseData) => constraint_kind);
  assert.deepEqual(await kinds(""), ["concurrency", "concurrency", "singleton", "singleton", "throttle", "throttle"]);
  assert.deepEqual(await kinds("&constraint_kind=throttle"), ["throttle", "throttle"]);
  assert.deepEqual(await kinds("&status=cooling"), ["throttle", "throttle"]);
  assert.deepEqual(await kinds("&environment_id=none"), []);
  const first = await tenant.ok("GET", `/api/queues/admission-groups?pool_id=${poolId}&limit=4`);
  assert.deepEqual([first.total, first.has_more], [6, true]);
  const rest = await tenant.ok(
    "GET",
    `/api/queues/admission-groups?pool_id=${poolId}&limit=4&cursor=${first.next_cursor}`,
  );
  assert.deepEqual([...first.data, ...rest.data], await groupsOf(poolId));
  await tenant.refused("INVALID_ARGUMENT", "GET", "/api/queues/admission-groups?status=lost");
  const [group] = first.data;
  const { pool_id, constraint_kind, group_id } = group;
  const named = { pool_id, constraint_kind, group_id };
  for (const { protocol, data } of await inEachProtocol(node, tenant, "AdmissionService/GetAdmissionGroup", named)) {
    assert.deepEqual([data.status, data.in_use], ["saturated", 1], protocol);
  }
});

test("a group is visible only under its own pool and to its own tenant", async () => {
  const poolId = await poolWith({ singleton });
  await route(poolId, 1);
  const [group] = await groupsOf(poolId);
  const beside = pathOf({ ...group, pool_id: await poolWith({ singleton }) });
  const stranger = await newTenant(node);
  for (const [caller, path] of [
    [tenant, beside],
    [stranger, pathOf(group)],
  ] as const) {
    await caller.refused("NOT_FOUND", "GET", path);
    await caller.refused("NOT_FOUND", "POST", `${path}:clear`, { reason: "mine" });
  }
  await tenant.refused("INVALID_ARGUMENT", "POST", `${pathOf(group)}:clear`, {});
  assert.equal((await groupsOf(poolId))[0].status, "saturated");
});

test("clearing requires permission to write queues, and its reason is recorded in the event log", async () => {
  const poolId = await poolWith({ singleton });
  await route(poolId, 1);
  const [group] = await groupsOf(poolId);
  const viewer = await tenant.caller({ roles: ["viewer"] });
  assert.equal((await viewer.call("GET", pathOf(group))).status, 200);
  assert.equal((await viewer.call("POST", `${pathOf(group)}:clear`, { reason: "mine" })).status, 403);
  await clear(group, "the worker is gone");
  const { data } = await tenant.ok("GET", "/api/events?types=admission.group.cleared&limit=1");
  assert.equal(data[0].subject, group.group_id);
  assert.deepEqual(data[0].data, { pool_id: poolId, constraint_kind: "singleton", reason: "the worker is gone" });
});

test("key values appear in no response or event; an item without a computable key is rejected without revealing values", async () => {
  const hidden = "hidden-4711";
  const key = "item.attributes.customer";
  const poolId = await tenant.pool({
    config: {
      admission: { singleton: { key }, throttle: { ...throttle, key: "[item.attributes.customer]" } },
      item_events: true,
    },
  });
  const item = { attributes: { customer: hidden } };
  const texts = [JSON.stringify(await preview(poolId, item))];
  const { queue_item_id } = await tenant.route(poolId, item);
  texts.push(JSON.stringify(await explain(poolId, queue_item_id)));
  const groups = await groupsOf(poolId);
  texts.push(JSON.stringify(groups));
  for (const group of groups) texts.push(JSON.stringify(await clear(group)));
  texts.push(JSON.stringify(await tenant.ok("GET", "/api/events?limit=1000")));
  for (const text of texts) assert.ok(!text.includes(hidden), text);
  const nested = { type: "task", attributes: { customer: { name: hidden } } };
  for (const [path, body] of [
    [`/api/queues/${poolId}:preview-admission`, { item: nested }],
    ["/api/route", { pool_id: poolId, ...nested }],
  ] as const) {
    const { text, status } = await tenant.refused("INVALID_ARGUMENT", "POST", path, body);
    assert.equal(status, 400);
    assert.match(text, /singleton/);
    assert.ok(!text.includes(hidden));
  }
});
