import assert from "node:assert/strict";
import { before, test } from "node:test";
import { connect } from "../harness/postgres-server.ts";
import { startService, type TestService } from "../harness/service.ts";
import { newTenant, type TenantFixture } from "./tenant-fixture.ts";

let service: TestService;
let own: TenantFixture;
before(async () => {
  service = await startService();
  own = await newTenant(service);
});

/** A pool of 2,000 recipients and the id of one of them. */
async function largePool(): Promise<{ pool: string; recipient: string }> {
  const pool = await own.pool({ strategy: "weighted_random" });
  const names = Array.from({ length: 1000 }, (_, n) => n);
  for (const half of ["a", "b"]) {
    const recipients = names.map((n) => ({ name: `${half} ${n}`, delivery: { mode: "MODE_DECISION_ONLY" } }));
    await own.ok("POST", `/api/pools/${pool}/recipients:batch`, { recipients });
  }
  const { data } = await own.ok("GET", `/api/pools/${pool}/recipients?limit=1`);
  return { pool, recipient: data[0].id };
}

test("a change of one recipient stores a small part of a large pool, and decisions before and after it replay", async (t) => {
  const { pool, recipient } = await largePool();
  const sql = connect(service.databaseUrl, 1);
  t.after(() => sql.end());
  const stored = async () => {
    const [row] = await sql<{ parts: number; recipients: number; largest: number }[]>`
      select count(*)::int as parts, sum(json_array_length(recipients))::int as recipients,
        max(json_array_length(recipients))::int as largest
      from routing_snapshot_parts where tenant_id = ${own.id}`;
    return row!;
  };
  const early = await own.route(pool);
  const first = await stored();
  assert.equal(first.recipients, 2000);
  await own.ok("POST", `/api/recipients/${recipient}/pause`, {});
  const late = await own.route(pool);
  assert.notEqual(late.snapshot_digest, early.snapshot_digest);
  const second = await stored();
  assert.equal(second.parts, first.parts + 1);
  assert.ok(second.recipients - first.recipients <= first.largest);
  for (const { decision_id } of [early, late]) {
    const { data } = await own.ok("POST", `/api/decisions/${decision_id}:replay`, {});
    assert.deepEqual(data.differences, []);
  }
});

test("a paused recipient is never chosen after the pause call returns", async () => {
  const pool = await own.pool({ strategy: "priority" });
  const first = await own.recipient(pool, { priority: 1 });
  const second = await own.recipient(pool, { priority: 2 });
  for (let n = 0; n < 10; n++) {
    assert.equal((await own.route(pool)).recipient_id, first);
    await own.ok("POST", `/api/recipients/${first}/pause`, {});
    assert.equal((await own.route(pool)).recipient_id, second);
    await own.ok("POST", `/api/recipients/${first}/resume`, {});
  }
});
