import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { freshDatabase, type TestDatabase } from "../harness/postgres.ts";
import { startService, type TestService } from "../harness/service.ts";
import { inEachProtocol, newTenant, type ResponseData, type TenantFixture, tenantAt } from "./tenant-fixture.ts";

let database: TestDatabase;
const nodes: TestService[] = [];
let own: TenantFixture;
/** The same tenant on another node. */
let elsewhere: TenantFixture;
before(async () => {
  database = await freshDatabase();
  const settings = { "auth.bootstrap_api_key": "sk_test_wholepool_0123456789ab" };
  for (let n = 0; n < 2; n++) nodes.push(await startService(settings, database.url));
  own = await newTenant(nodes[0]!);
  elsewhere = tenantAt(nodes[1]!, own);
});
after(async () => {
  for (const node of nodes) await node.stop();
  await database.drop();
});

const ids = (items: readonly ResponseData[]) => items.map(({ queue_item_id }) => queue_item_id);
const route = async (pool: string, count: number, fields: object = {}): Promise<string[]> => {
  const items = Array.from({ length: count }, () => ({ pool_id: pool, type: "t", ...fields }));
  return (await own.routeAll(items)).map(({ decision }) => decision.queue_item_id);
};

for (const [what, config] of [
  ["without limits", {}],
  ["with a concurrency limit", { admission: { concurrency: { key: "'all'", limit: 7 } } }],
] as const) {
  test(`workers of a whole pool ${what} never exceed a recipient's capacity`, async () => {
    const pool = await own.pool({ strategy: "manual", config });
    const capacities = [3, 2, 0];
    const recipients: string[] = [];
    for (const capacity of capacities) recipients.push(await own.recipient(pool, { capacity }));
    const all = await route(pool, 24);
    for (const [nth, id] of all.entries()) {
      const recipient_id = recipients[nth % 3];
      await own.ok("POST", `/api/queues/${pool}/items/${id}/assign`, { recipient_id });
    }
    let open: ResponseData[] = [];
    const done: string[] = [];
    while (done.length < all.length) {
      const leased = await Promise.all(
        Array.from({ length: 8 }, (_, n) => (n % 2 === 0 ? own : elsewhere).lease(pool, { max_items: 1 + (n % 4) })),
      );
      open.push(...leased.flat());
      for (const [nth, id] of recipients.entries()) {
        const held = open.filter(({ recipient_id }) => recipient_id === id).length;
        assert.ok(capacities[nth] === 0 || held <= capacities[nth]!, `${held} items of ${capacities[nth]}`);
      }
      assert.ok(open.length > 0);
      const ended = open.slice(0, 4);
      for (const item of ended) await own.complete(item);
      open = open.slice(4);
      done.push(...ids(ended));
    }
    assert.deepEqual(done.toSorted(), all.toSorted());
  });

  test(`in a pool ${what}, the items of a full recipient do not hide those of others`, async () => {
    const pool = await own.pool({ strategy: "manual", config });
    const [full, free] = [await own.recipient(pool, { capacity: 1 }), await own.recipient(pool, { capacity: 1 })];
    const all = await route(pool, 4);
    for (const [nth, id] of all.entries()) {
      const recipient_id = nth < 3 ? full : free;
      await own.ok("POST", `/api/queues/${pool}/items/${id}/assign`, { recipient_id });
    }
    assert.deepEqual(ids(await own.lease(pool)), [all[0]]);
    assert.deepEqual(ids(await own.lease(pool)), [all[3]]);
    assert.deepEqual(await own.lease(pool), []);
  });
}

test("an item that no recipient may take is not leased to a worker that names none", async () => {
  const pool = await own.pool({ strategy: "round_robin" });
  await own.recipient(pool, { skills: { law: 1 } });
  await own.rule(pool, { type: "require" }, { condition: "!has(item.attributes.tier) || recipient.name == 'nobody'" });
  const [unskilled] = await route(pool, 1, { requirements: { skills: { law: 3 } } });
  const [excluded] = await route(pool, 1, { attributes: { tier: "gold" } });
  const [given] = await route(pool, 1);
  assert.deepEqual(ids(await own.lease(pool, { max_items: 9 })), [given]);
  const able = await own.recipient(pool, { skills: { law: 3 } });
  const leased = await own.leaseOne(pool);
  assert.deepEqual([leased.queue_item_id, leased.recipient_id], [unskilled, able]);
  assert.equal((await own.item(pool, excluded!)).state, "ready");
});

test("in a pool without recipients, items with requirements wait for a recipient that fulfils them", async () => {
  const pool = await own.pool({ strategy: "round_robin" });
  const [demanding] = await route(pool, 1, { requirements: { skills: { law: 3 } } });
  const [plain] = await route(pool, 1);
  assert.deepEqual(ids(await own.lease(pool, { max_items: 9 })), [plain]);
  await own.recipient(pool, { skills: { law: 5 } });
  assert.equal((await own.leaseOne(pool)).queue_item_id, demanding);
});

test("where an item depends on who takes it, a worker must name its recipient", async () => {
  const accepting = await own.pool({ strategy: "first_accept" });
  await own.recipient(accepting);
  const ruled = await own.pool();
  await own.rule(ruled, { type: "require" }, { name: "Gold", condition: "recipient.attributes.tier == 'gold'" });
  for (const pool of [accepting, ruled]) {
    await route(pool, 1);
    for (const method of ["LeaseItems", "Work"]) {
      for (const { protocol, code } of await inEachProtocol(nodes[0]!, own, `WorkService/${method}`, {
        pool_id: pool,
      })) {
        assert.equal(code, "RECIPIENT_REQUIRED", `${protocol} ${method}`);
      }
    }
  }
  // Reports need no recipient.
  await own.ok("POST", `/api/queues/${accepting}/lease`, { report_only: true });
  const { body } = await own.refused("RECIPIENT_REQUIRED", "POST", `/api/queues/${ruled}/lease`, {});
  assert.match(body.detail, /Gold/);
  const gold = await own.recipient(ruled, { attributes: { tier: "gold" } });
  assert.equal((await own.leaseOne(ruled)).recipient_id, gold);
});
