import assert from "node:assert/strict";
import { before, test } from "node:test";
import { startService } from "../harness/service.ts";
import { until } from "../harness/until.ts";
import { newTenant, type ResponseData, type TenantFixture } from "./tenant-fixture.ts";

let own: TenantFixture;
/** A pool whose only rule uses the full evaluation budget for every recipient. */
let costly: string;
before(async () => {
  own = await newTenant(await startService());
  costly = await own.pool({ strategy: "round_robin" });
  for (let nth = 0; nth < 20; nth++) await own.recipient(costly);
  const condition = "item.attributes.l.all(a, item.attributes.l.all(b, a + b >= 0)) && recipient.weight < 0";
  await own.rule(costly, { type: "require" }, { condition });
});

/** Routes items in a call without time to decide them; returns their ids. */
async function routeUndecided(poolIds: readonly string[], fields: object = {}): Promise<string[]> {
  const attributes = { l: Array.from({ length: 300 }, (_, nth) => nth) };
  const first = Array.from({ length: 80 }, () => ({ pool_id: costly, type: "task", attributes }));
  const last = poolIds.map((pool_id) => ({ pool_id, type: "task", ...fields }));
  const results = (await own.routeAll([...first, ...last])).slice(first.length);
  const undecided = ["decided_later", "debounce_debounced"];
  for (const { decision } of results) assert.ok(undecided.includes(decision.reason), decision.reason);
  return results.map(({ decision }) => decision.queue_item_id);
}

/** Polls until an item reaches a state while a worker of the whole pool keeps leasing; returns what the worker got. */
async function leasedUntil(pool: string, isRight: () => Promise<boolean>): Promise<ResponseData[]> {
  const leased: ResponseData[] = [];
  await until(async () => {
    leased.push(...(await own.lease(pool, { max_items: 10 })));
    return isRight();
  });
  return leased;
}

const strategies = ["round_robin", "first_accept", "manual"];

test("an item that a rule later rejects is never leased before, whatever the pool's strategy", async () => {
  const pools: string[] = [];
  for (const strategy of strategies) {
    const pool = await own.pool({ strategy });
    await own.rule(pool, { type: "reject" });
    pools.push(pool);
  }
  const debounce = { key: "item.key", period_s: 1, max_delay_s: 1 };
  const debounced = await own.pool({ strategy: "round_robin", config: { admission: { debounce } } });
  await own.rule(debounced, { type: "reject" });
  pools.push(debounced);
  const ids = await routeUndecided(pools, { key: "k" });
  for (const [nth, pool] of pools.entries()) {
    const id = ids[nth]!;
    const leased = await leasedUntil(pool, async () => {
      const { state } = await own.item(pool, id);
      return state === "dead_lettered" || state === "leased";
    });
    assert.deepEqual(leased, []);
    assert.equal((await own.deadLetters(pool))[0].reason_code, "rule_reject");
  }
});

test("a rule that rejected an item is evaluated again on retry, before the item is leased", async () => {
  const pool = await own.pool({ strategy: "round_robin" });
  const rule = await own.rule(pool, { type: "reject" });
  const [id] = await routeUndecided([pool]);
  await own.itemIn(pool, id!, "dead_lettered");
  await own.ok("POST", `/api/dlq/${pool}/retry-all`, {});
  const leased = await leasedUntil(pool, async () => (await own.deadLetters(pool))[0]?.retry_count === 1);
  assert.deepEqual(leased, []);
  await own.ok("DELETE", `/api/rules/${rule}`);
  await own.ok("POST", `/api/dlq/${pool}/retry-all`, {});
  assert.equal((await own.leaseOne(pool)).queue_item_id, id);
});

test("an item that a rule later holds is held, and a redirected one is leased only in the other pool", async () => {
  const held: string[] = [];
  const sent: string[] = [];
  const other = await own.pool();
  for (const strategy of strategies) {
    const holding = await own.pool({ strategy });
    await own.rule(holding, { type: "hold", hold_s: 600 });
    held.push(holding);
    const redirecting = await own.pool({ strategy });
    await own.rule(redirecting, { type: "redirect_pool", pool_id: other });
    sent.push(redirecting);
  }
  const ids = await routeUndecided([...held, ...sent]);
  for (const [nth, pool] of held.entries()) {
    const leased = await leasedUntil(pool, async () => (await own.item(pool, ids[nth]!)).state === "held");
    assert.deepEqual(leased, []);
    assert.equal((await own.item(pool, ids[nth]!)).hold_reason, "rule");
  }
  const got: string[] = [];
  while (got.length < sent.length) got.push((await own.leaseOne(other)).queue_item_id);
  assert.deepEqual(got.sort(), ids.slice(held.length).sort());
  for (const pool of sent) assert.equal((await own.status(pool)).depth, 0);
});

test("an item that no rule blocks is leased after its decision, with and without recipients", async () => {
  const pools: string[] = [];
  for (const strategy of strategies) pools.push(await own.pool({ strategy }));
  const [alone, first, manual] = pools as [string, string, string];
  const recipientId = await own.recipient(first);
  const chosen = await own.recipient(manual);
  const ids = await routeUndecided(pools);
  assert.equal((await own.leaseOne(alone)).queue_item_id, ids[0]);
  assert.equal((await own.leaseOne(first, { recipient_id: recipientId })).queue_item_id, ids[1]);
  await own.ok("POST", `/api/queues/${manual}/items/${ids[2]}/assign`, { recipient_id: chosen });
  assert.equal((await own.leaseOne(manual, { recipient_id: chosen })).queue_item_id, ids[2]);
});
