import assert from "node:assert/strict";
import { test } from "node:test";
import { supervise } from "../chaos/supervised-node.ts";
import { freshDatabase } from "../harness/postgres.ts";
import { connect } from "../harness/postgres-server.ts";
import { sized } from "../harness/run-size.ts";
import { until } from "../harness/until.ts";
import { freshName, type ResponseData, tenantAt } from "./tenant-fixture.ts";

const scheduleCount = 10;
const itemCount = sized(3000, 30_000);
const crashCount = sized(2, 10);

test("when nodes are killed, no time of a schedule routes two items, and bulk operations finish with exact counts", async (t) => {
  const database = await freshDatabase();
  const settings = { "database.url": database.url, "auth.bootstrap_api_key": "sk_test_control_0123456789abcdef" };
  const nodes = await Promise.all([supervise(settings, crashCount / 2), supervise(settings, crashCount / 2)]);
  const sql = connect(database.url, 2);
  t.after(async () => {
    await sql.end({ timeout: 1 });
    await Promise.all(nodes.map((node) => node.stop()));
    await database.drop();
  });
  const own = async (nth = 0) => {
    const current = await nodes[nth]!.current;
    return tenantAt(current, { id: "", key: current.adminKey });
  };
  const [scheduled, bulk] = [await (await own()).pool(), await (await own()).pool()];
  const ids: string[] = [];
  for (let nth = 0; nth < scheduleCount; nth++) {
    const timing = { cron: "* * * * * *", overlap: "allow", catch_up: "all", catch_up_s: 600 };
    const item = { pool_id: scheduled, type: "tick", key: "=schedule.id + string(schedule.time)" };
    ids.push((await (await own()).ok("POST", "/api/schedules", { name: freshName(), timing, item })).data.id);
  }
  for (let left = itemCount; left > 0; left -= 1000) {
    await (await own()).routeAll(Array.from({ length: 1000 }, () => ({ pool_id: bulk, type: "task" })));
  }
  const path = `/api/queues/${bulk}/bulk-operations`;
  const { id } = (await (await own()).ok("POST", path, { action: "cancel" })).data;

  for (let crash = 0; crash < crashCount; crash++) await nodes[crash % 2]!.crash();
  // The lease of the dead node would expire after half a minute.
  await sql`update jobs set lease_until = now() - interval '1 second' where kind = 'queues.bulk_operation'`;

  const tenant = await own(crashCount % 2);
  const done = await until(
    async () => (await tenant.ok("GET", `/api/bulk-operations/${id}`)).data as ResponseData,
    ({ state }) => state === "completed",
    120_000,
  );
  assert.deepEqual([done.changed_count, done.skipped_count], [itemCount, 0]);
  assert.equal((await tenant.status(bulk)).depth, 0);

  for (const each of ids) await tenant.ok("POST", `/api/schedules/${each}/pause`, {});
  const settled = async () => {
    const [row] = await sql<{ count: number }[]>`
      select count(*)::int as count from routing_schedule_runs where state in ('starting', 'waiting')`;
    return row!.count;
  };
  await until(settled, (count) => count === 0);
  const runs = await sql<{ time: Date; itemId: string; scheduleId: string; state: string }[]>`
    select time, item_id as "itemId", schedule_id as "scheduleId", state from routing_schedule_runs
    order by schedule_id, time`;
  const items = await sql<{ id: string; key: string }[]>`select id, key from queue_items where pool_id = ${scheduled}`;
  assert.equal(new Set(items.map(({ key }) => key)).size, items.length, "no time has two items");
  assert.deepEqual(
    runs.map(({ itemId }) => itemId).sort(),
    items.map((item) => item.id).sort(),
    "every item is the item of one run",
  );
  for (const each of ids) {
    const seconds = runs.filter(({ scheduleId }) => scheduleId === each).map(({ time }) => time.getTime() / 1000);
    for (const [nth, second] of seconds.entries()) assert.equal(second, seconds[0]! + nth, "no time was lost");
  }
});
