import assert from "node:assert/strict";
import { test } from "node:test";
import { freshDatabase } from "../harness/postgres.ts";
import { startRedis, whyNoRedis } from "../harness/redis.ts";
import { startService } from "../harness/service.ts";
import { until } from "../harness/until.ts";
import { newTenant, type TenantFixture, tenantAt } from "../routing/tenant-fixture.ts";

const peer = await startRedis();
test.after(() => peer?.stop());

test("items routed on one node are all leased on another, however often the Redis of their signals is killed", {
  skip: peer === undefined ? whyNoRedis() : false,
}, async (t) => {
  const database = await freshDatabase();
  t.after(database.drop);
  const settings = {
    "signals.backend": "redis",
    "cache.redis_url": peer!.url,
    "auth.bootstrap_api_key": "sk_test_signals_0123456789abcdef",
  };
  const nodes = [await startService(settings, database.url), await startService(settings, database.url)] as const;
  t.after(() => Promise.all(nodes.map((node) => node.stop())));
  const listeners = await database.sql`
    select from pg_stat_activity where datname = current_database() and query like 'listen %'`;
  assert.equal(listeners.length, 0, "no node listens to PostgreSQL");
  const here = await newTenant(nodes[0]);
  const there: TenantFixture = tenantAt(nodes[1], here);
  const pool = await here.pool();
  const routed = new Set<string>();
  const leased: string[] = [];
  let isOver = false;
  const work = async () => {
    while (!isOver || leased.length < routed.size) {
      for (const item of await there.lease(pool, { max_items: 10, wait_s: 1 })) {
        leased.push(item.queue_item_id);
        await there.complete(item);
      }
    }
  };
  const route = async () => {
    while (!isOver) routed.add((await here.route(pool)).queue_item_id);
  };
  const callers = Promise.all([work(), work(), route(), route()]);
  const untilMoreLeased = () => {
    const before = leased.length;
    return until(() => leased.length > before + 50);
  };
  for (let nth = 0; nth < 3; nth++) {
    await untilMoreLeased();
    await peer!.kill();
    await untilMoreLeased();
    await peer!.start();
  }
  await untilMoreLeased();
  isOver = true;
  await callers;
  assert.deepEqual(leased.toSorted(), [...routed].sort());
});
