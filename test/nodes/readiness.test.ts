import assert from "node:assert/strict";
import { test } from "node:test";
import { connect } from "../harness/postgres-server.ts";
import { startService } from "../harness/service.ts";
import type { ResponseData } from "../routing/tenant-fixture.ts";

test("a node whose queue cannot be read is not ready, although its database responds", async (t) => {
  const service = await startService();
  const sql = connect(service.databaseUrl, 1);
  t.after(() => sql.end());
  const ready = async () => {
    const response = await fetch(`${service.baseUrl}/ready`);
    return { status: response.status, components: ((await response.json()) as ResponseData).components };
  };
  assert.equal((await ready()).status, 200);
  await sql`alter table jobs rename to jobs_elsewhere`;
  const { status, components } = await ready();
  assert.deepEqual([status, components.database.status, components.queue.status], [503, "ok", "unhealthy"]);
  await sql`alter table jobs_elsewhere rename to jobs`;
  assert.equal((await ready()).status, 200);
});
