import assert from "node:assert/strict";
import { before, test } from "node:test";
import { startService } from "../harness/service.ts";
import { until } from "../harness/until.ts";
import { newTenant, type TenantFixture } from "./tenant-fixture.ts";

let own: TenantFixture;
before(async () => {
  own = await newTenant(await startService());
});

/** The letters of a pool in a state, with the number of their retries. */
async function lettersIn(pool: string, state: string) {
  const { data } = await own.ok("GET", `/api/dlq/${pool}?state=${state}`);
  return data.map(({ queue_item_id, pool_id, retry_count }: Record<string, unknown>) => ({
    queue_item_id,
    pool_id,
    retry_count,
  }));
}

/** Retries dead letters of a pool that now redirects its items; returns the items and both pools. */
async function redirectLetters(count: number, admission: object = {}) {
  const pool = await own.pool({ strategy: "round_robin", config: { dlq: { max_retries: 2 } } });
  const target = await own.pool({ config: { dlq: { max_retries: 9 }, admission } });
  await own.recipient(pool);
  const ids: string[] = [];
  for (let nth = 0; nth < count; nth++) {
    ids.push((await own.route(pool)).queue_item_id);
    await own.fail(await own.leaseOne(pool), { retryable: false });
  }
  for (const id of ids) await own.itemIn(pool, id, "dead_lettered");
  await own.rule(pool, { type: "redirect_pool", pool_id: target });
  const { data } = await own.ok("POST", `/api/dlq/${pool}/retry`, { queue_item_ids: ids });
  assert.equal(data.retried_count, count);
  return { ids, pool, target };
}

test("the letter of a redirected item follows it, counts its retries there, and is deleted when it completes", async () => {
  const { ids, pool, target } = await redirectLetters(1);
  const [id] = ids as [string];
  const leased = await own.leaseOne(target);
  assert.equal(leased.queue_item_id, id);
  assert.deepEqual(await lettersIn(pool, "retrying"), []);
  assert.deepEqual(await lettersIn(target, "retrying"), [{ queue_item_id: id, pool_id: target, retry_count: 1 }]);

  await own.fail(leased, { retryable: false });
  await own.itemIn(target, id, "dead_lettered");
  assert.deepEqual(await lettersIn(target, "failed"), [{ queue_item_id: id, pool_id: target, retry_count: 1 }]);
  const [letter] = await own.deadLetters(target);
  assert.deepEqual([letter.attempts.length, letter.max_retries], [2, 2]);

  await own.ok("POST", `/api/dlq/${target}/retry`, { queue_item_ids: [id] });
  await own.complete(await own.leaseOne(target));
  for (const state of ["failed", "retrying"]) {
    assert.deepEqual([await lettersIn(pool, state), await lettersIn(target, state)], [[], []]);
  }
});

test("a redirected item that the target pool rejects keeps its letter and the number of its retries", async () => {
  // One item takes the only token.
  const throttle = { key: "item.type", limit: 1, period_s: 3600, on_limit: "reject" };
  const { ids, pool, target } = await redirectLetters(2, { throttle });
  const [rejected] = await until(
    () => lettersIn(target, "failed"),
    (letters) => letters.length > 0,
  );
  const accepted = ids.find((id) => id !== rejected.queue_item_id)!;
  assert.deepEqual(rejected, { queue_item_id: rejected.queue_item_id, pool_id: target, retry_count: 1 });
  assert.deepEqual(await lettersIn(target, "retrying"), [{ queue_item_id: accepted, pool_id: target, retry_count: 1 }]);
  assert.deepEqual(await lettersIn(pool, "retrying"), []);
});
