import assert from "node:assert/strict";
import { before, test } from "node:test";
import { startService, type TestService } from "../harness/service.ts";
import { newTenant, type TenantFixture } from "./tenant-fixture.ts";

let service: TestService;
let own: TenantFixture;
before(async () => {
  service = await startService();
  own = await newTenant(service);
});

/** Deletes a pool that has dead letters; returns the ids of their items. */
async function deletePoolWithLetters(count: number) {
  const pool = await own.pool();
  const ids: string[] = [];
  for (let nth = 0; nth < count; nth++) {
    ids.push((await own.route(pool, { payload: { nth } })).queue_item_id);
    await own.fail(await own.leaseOne(pool), { retryable: false, reason_code: "smtp_550" });
  }
  for (const id of ids) await own.itemIn(pool, id, "dead_lettered");
  await own.ok("DELETE", `/api/pools/${pool}`);
  return { pool, ids };
}

const statsOf = async (pool: string) => (await own.ok("GET", `/api/dlq/${pool}/stats`)).data;

test("the dead letters of a deleted pool and their items can be read", async () => {
  const { pool, ids } = await deletePoolWithLetters(2);
  const letters = await own.deadLetters(pool);
  assert.deepEqual(
    letters.map(({ queue_item_id, state, reason_code }: Record<string, string>) => [queue_item_id, state, reason_code]),
    [
      [ids[1], "failed", "smtp_550"],
      [ids[0], "failed", "smtp_550"],
    ],
  );
  assert.equal((await statsOf(pool)).depth, 2);
  const { state, payload, failures } = await own.item(pool, ids[0]!);
  assert.deepEqual([state, payload, failures[0].reason_code], ["dead_lettered", { nth: 0 }, "smtp_550"]);
  const { data: items } = await own.ok("GET", `/api/queues/${pool}/items?state=dead_lettered`);
  assert.equal(items.length, 2);
  const { data: admission } = await own.ok("GET", `/api/queues/${pool}/items/${ids[0]}/admission-explanation`);
  assert.equal(admission.status, "dead_lettered");
  const { data: explanation } = await own.ok("GET", `/api/explain/${ids[0]}`);
  assert.match(JSON.stringify(explanation), /Its pool was deleted/);
});

test("the dead letters of a deleted pool are not retried, and the refusal says why", async () => {
  const { pool, ids } = await deletePoolWithLetters(1);
  const another = await own.pool();
  for (const [path, body] of [
    ["retry", { queue_item_ids: ids }],
    ["retry-all", {}],
    ["bulk-operations", {}],
    ["bulk-operations:preview", {}],
  ] as const) {
    const refused = await own.refused("FAILED_PRECONDITION", "POST", `/api/dlq/${pool}/${path}`, body);
    assert.match(refused.body.detail, /pool was deleted.*purged/, path);
  }
  assert.equal((await own.item(pool, ids[0]!)).state, "dead_lettered");
  const [letter] = await own.deadLetters(pool);
  assert.deepEqual([letter.state, letter.retry_count], ["failed", 0]);
  assert.deepEqual(await own.deadLetters(another), []);
});

test("the dead letters of a deleted pool can be quarantined, released and purged", async () => {
  const { pool, ids } = await deletePoolWithLetters(3);
  const quarantine = (body: object) =>
    own.ok("POST", `/api/dlq/${pool}/quarantine`, { queue_item_ids: ids.slice(0, 2), ...body });
  assert.equal((await quarantine({})).data.changed_count, 2);
  assert.equal((await quarantine({ queue_item_ids: [ids[0]], release: true })).data.changed_count, 1);
  assert.equal((await own.ok("POST", `/api/dlq/${pool}/purge`, {})).data.purged_count, 2);
  assert.equal((await statsOf(pool)).quarantined_count, 1);
  const { data } = await own.ok("POST", `/api/dlq/${pool}/purge`, { include_quarantined: true });
  assert.equal(data.purged_count, 1);
  await own.refused("NOT_FOUND", "GET", `/api/queues/${pool}/items/${ids[1]}`);
});

test("only callers that might use the environment of a deleted pool reach its dead letters", async () => {
  const { pool } = await deletePoolWithLetters(1);
  const roles = ["admin"];
  const bound = await own.caller({ roles, environment_mode: "production_only" });
  assert.equal((await bound.call("GET", `/api/dlq/${pool}`)).status, 200);
  const other = await own.caller({ roles, environment_mode: "non_production_only" });
  const foreign = await newTenant(service);
  for (const [method, path] of [
    ["GET", ""],
    ["GET", "/stats"],
    ["POST", "/retry-all"],
    ["POST", "/purge"],
  ] as const) {
    const body = method === "POST" ? {} : undefined;
    assert.equal((await other.call(method, `/api/dlq/${pool}${path}`, body)).status, 403, path);
    assert.equal((await foreign.rest.call(method, `/api/dlq/${pool}${path}`, body)).status, 404, path);
  }
});
