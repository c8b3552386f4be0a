import assert from "node:assert/strict";
import { before, test } from "node:test";
import { startService } from "../harness/service.ts";
import { until } from "../harness/until.ts";
import { freshName, newTenant, type ResponseData, type TenantFixture } from "../routing/tenant-fixture.ts";

let tenant: TenantFixture;
before(async () => {
  tenant = await newTenant(await startService());
});

test("the steps of many runs that route work for one key are worked on one at a time, those of other keys beside them", async () => {
  const pool = freshName();
  const config = { admission: { concurrency: { key: "item.key", limit: 1 } } };
  const poolId = await tenant.pool({ name: pool, config });
  const key = freshName();
  const work = { id: "work", route: { pool, type: "sync", key: "=input.account", payload: { run: "=run.id" } } };
  const done = { id: "done", wait_event: { event: "synced", timeout: "1h" } };
  const document = { dsl: "1", key, timeout: "1h", steps: [work, done] };
  const { id } = (await tenant.ok("POST", "/api/workflow-definitions", { document })).data;
  await tenant.ok("POST", `/api/workflow-definitions/${id}/publish`, {});
  const accounts = ["acme", "acme", "acme", "zenith"];
  for (const account of accounts) {
    await tenant.ok("POST", "/api/workflow-runs", { definition: key, input: { account } });
  }
  await until(async () => (await tenant.status(poolId)).ready_count === accounts.length);
  const worked: string[] = [];
  for (let rest = accounts.length; rest > 0; ) {
    const items = await tenant.lease(poolId, { max_items: 10 });
    const keys = items.map((item: ResponseData) => item.key);
    assert.equal(new Set(keys).size, keys.length, `at once: ${keys}`);
    for (const item of items) {
      await tenant.complete(item);
      await tenant.ok("POST", `/api/workflow-runs/${item.payload.run}/signal`, { event: "synced" });
    }
    worked.push(...keys);
    rest -= items.length;
  }
  assert.deepEqual(worked.sort(), accounts);
  const runs = (await tenant.ok("GET", `/api/workflow-runs?definition_id=${key}&status=succeeded`)).data;
  assert.equal(runs.length, accounts.length);
});
