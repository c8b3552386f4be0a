import assert from "node:assert/strict";
import { test } from "node:test";
import { freshTenant, testDatabase } from "../../../test/harness/context.ts";
import { enqueueJobs, leaseJobs } from "./store.ts";

test("the jobs of a suspended tenant wait until it is active, and those of a deleted one run", async () => {
  const { sql } = await testDatabase();
  const tenantId = freshTenant();
  const now = new Date();
  await sql`
    insert into tenants (id, name, slug, status, created_at, updated_at)
    values (${tenantId}, 'Acme', ${tenantId}, 'suspended', ${now}, ${now})`;
  const lease = () => leaseJobs(sql, { kinds: ["test"], limit: 10, token: "t", leaseMs: 60_000 });
  const become = (status: string) => sql`update tenants set status = ${status} where id = ${tenantId}`;
  for (const status of ["active", "deleted"]) {
    await become("suspended");
    await enqueueJobs(sql, [{ tenantId, kind: "test", runAt: new Date(0) }], now.getTime());
    assert.equal((await lease()).length, 0);
    await become(status);
    assert.equal((await lease()).length, 1);
  }
});
