import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { ulidFrom } from "../../src/platform/ids/ulid.ts";
import { startNodeProcess } from "../harness/node-process.ts";
import { freshDatabase } from "../harness/postgres.ts";
import { startService } from "../harness/service.ts";
import { until } from "../harness/until.ts";

const windowMs = 300_000;
const dayMs = 86_400_000;
const meterKey = "service.executions";
/** A transaction counts a day at most, so that a node is killed between two of several. */
const days = 4;
const executions = 400;

test("the service's own usage counts once when nodes are killed while they count, and two nodes count at once", async (t) => {
  const database = await freshDatabase();
  t.after(() => {
    clearInterval(releases);
    return database.drop();
  });
  const { sql } = database;
  const settings = {
    "auth.bootstrap_api_key": "sk_test_collection_0123456789abcdef0123",
    "database.url": database.url,
  };
  const start = () => startService(settings, database.url);
  const progress = async () => {
    const [row] = await sql<{ counted: Date; settled: Date }[]>`
      select counted_until as counted, settled_until as settled from billing_collections where meter_key = ${meterKey}`;
    return row;
  };
  // The job of counting is due all the time, as if the leases of nodes had ended: several nodes count at once.
  const release = async () => {
    await sql`
      update jobs set state = 'ready', run_at = now(), lease_token = null, lease_until = null
      where kind = 'billing.collect_usage'`;
  };
  const releases = setInterval(release, 100);

  const first = await start();
  await until(async () => (await progress()) !== undefined);
  await first.stop();

  const endMs = Math.floor(Date.now() / windowMs) * windowMs;
  const beginMs = endMs - days * dayMs;
  const [tenant] = await sql<{ id: string }[]>`select id from tenants`;
  const times = Array.from({ length: executions }, (_, n) => beginMs + Math.floor((n * days * dayMs) / executions));
  await sql`
    insert into connector_executions (tenant_id, id, action_key, provider_key, manifest_version, connection_id, status, request,
      idempotency_key, origin, origin_id, safety, claim_principal, claim_key, started_at)
    select ${tenant!.id}, id, 'a', 'p', '1', '', 'succeeded', '{}', '', 'api', '', 'read', '', '', at
    from unnest(${times.map((atMs) => ulidFrom(atMs, randomBytes(16)))}::text[],
      ${times.map((atMs) => new Date(atMs).toISOString())}::timestamptz[]) as made(id, at)`;
  const begin = new Date(beginMs);
  await sql`
    update billing_collections set counted_until = ${begin}, settled_until = ${begin} where meter_key = ${meterKey}`;

  // Kills a node that has begun to count.
  const second = await startNodeProcess(settings);
  t.after(() => second.kill());
  await until(async () => (await progress())!.counted > begin);
  await second.kill();

  // A node that lost its lease still counts while another one does.
  const others = await Promise.all([start(), start()]);
  const settledMs = endMs - 15 * 60_000;
  await until(async () => (await progress())!.settled.getTime() >= settledMs);
  clearInterval(releases);
  await Promise.all(others.map((node) => node.stop()));

  const [row] = await sql<{ total: number; windows: number }[]>`
    select sum(quantity)::int as total, count(*)::int as windows from billing_service_usage
    where tenant_id = ${tenant!.id} and meter_key = ${meterKey} and window_start < ${new Date(settledMs)}`;
  const counted = times.filter((atMs) => atMs < settledMs);
  assert.equal(row!.total, counted.length);
  assert.equal(row!.windows, new Set(counted.map((atMs) => Math.floor(atMs / windowMs))).size);
});
