// Own process: it kills a node.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { startNodeProcess } from "../harness/node-process.ts";
import { freshDatabase, type TestDatabase } from "../harness/postgres.ts";
import { connect, type TestSql } from "../harness/postgres-server.ts";
import { startService } from "../harness/service.ts";
import { until } from "../harness/until.ts";
import { newTenant, type ResponseData, tenantAt } from "../routing/tenant-fixture.ts";

let database: TestDatabase;
let sql: TestSql;
before(async () => {
  database = await freshDatabase();
  sql = connect(database.url, 1);
});
after(async () => {
  await sql.end({ timeout: 1 });
  await database.drop();
});

test("another node executes the run of a killed node from the beginning, and nothing of the first one is left", async (t) => {
  const settings = { "database.url": database.url, "auth.api_key_enabled": "true" };
  const victim = await startNodeProcess({
    ...settings,
    "auth.bootstrap_api_key": "sk_test_conformance_0123456789abcdef",
  });
  const tenant = await newTenant(victim);
  const base = "/api/runtime-conformance";
  const { data: environments } = await tenant.ok("GET", "/api/v2/environments");
  const { id: environment_id } = environments.find(({ key }: ResponseData) => key === "staging");
  const { data: started } = await tenant.ok("POST", `${base}/suites/runtime:run`, { environment_id });
  const path = `${base}/runs/${environment_id}/${started.run.id}`;
  await until(
    async () => (await tenant.ok("GET", path)).data,
    ({ cases_done }) => cases_done > 0,
  );
  await victim.kill();
  const [before] = await sql`select attempt, state from conformance_runs where id = ${started.run.id}`;
  assert.deepEqual([before!.attempt, before!.state], [1, "running"]);

  const service = await startService({}, database.url);
  t.after(() => service.stop());
  const survivor = tenantAt(service, tenant);
  // The lease of the dead node ends.
  await sql`update jobs set lease_until = now() where kind = 'conformance.execute_run' and state = 'leased'`;
  const run = await until(
    async () => (await survivor.ok("GET", `${path}?wait_s=20`)).data,
    ({ ended_at }) => ended_at !== undefined,
    120_000,
  );
  assert.deepEqual([run.state, run.verdict], ["completed", "passed"], JSON.stringify(run));
  const { data: reports } = await survivor.ok("GET", `${base}/reports?environment_id=${environment_id}`);
  assert.equal(reports.length, 1);
  await until(
    async () => (await sql`select from tenants where plan = 'scratch' and status = 'active'`).count,
    (count) => count === 0,
  );
});
