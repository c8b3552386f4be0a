import assert from "node:assert/strict";
import { cp, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { addressOf, startTcpProxy } from "../../src/cli/prove/nodes/database-proxy.ts";
import { inboxStore } from "../../src/modules/notifications/dispatch/inbox/inbox-store.ts";
import { eventStore } from "../../src/modules/operations/events/store.ts";
import type { TenantId } from "../../src/platform/access/index.ts";
import { openDatabase } from "../../src/platform/db/index.ts";
import { ulid } from "../../src/platform/ids/ulid.ts";
import { scratch } from "../harness/embedded-owner.ts";
import { connect } from "../harness/postgres-server.ts";
import { restClient } from "../harness/rest.ts";
import { sized } from "../harness/run-size.ts";
import { startService } from "../harness/service.ts";
import { until } from "../harness/until.ts";
import { startOrderWork, workSettings } from "./order-work.ts";

const count = sized(60, 10_000);
const environments = "/api/v2/environments";

/** A primary and its asynchronous standby. `promote` kills the primary and returns the URL of the new one. */
async function startReplicas(t: TestContext) {
  const [first, second] = [await scratch(t, { initialised: true }), await scratch(t)];
  await cp(join(first.dataDir, "postgres"), join(second.dataDir, "postgres"), {
    recursive: true,
    preserveTimestamps: true,
  });
  const cluster = join(second.dataDir, "postgres", "cluster");
  await writeFile(join(cluster, "standby.signal"), "");
  const primary = await first.start();
  const replication = await startTcpProxy(addressOf(primary.url));
  t.after(() => replication.close());
  // A standby that serves no reads is ready when it is promoted.
  const promoted = second.start({
    settings: {
      hot_standby: "off",
      primary_conninfo: `host=127.0.0.1 port=${replication.port} user=switchyard`,
    },
  });
  promoted.catch(() => {});
  const sql = connect(primary.url, 2);
  return {
    sql,
    url: primary.url,
    replication,
    async untilReplicated() {
      const [row] = await sql`select pg_current_wal_lsn()::text as now`;
      await until(
        async () => (await sql`select from pg_stat_replication where flush_lsn >= ${row!.now}::pg_lsn`).count > 0,
      );
    },
    async promote(): Promise<string> {
      await sql.end({ timeout: 1 });
      process.kill(primary.pid, "SIGKILL");
      await primary.exited;
      await writeFile(join(cluster, "promote"), "");
      process.kill(Number((await readFile(join(cluster, "postmaster.pid"), "utf8")).split("\n")[0]), "SIGUSR1");
      return (await promoted).url;
    },
  };
}

test("after a failover to a standby without the newest transactions, no cache is stale and nothing is skipped", async (t) => {
  const replicas = await startReplicas(t);
  const proxy = await startTcpProxy(addressOf(replicas.url));
  t.after(() => proxy.close());
  const url = `postgres://switchyard@127.0.0.1:${proxy.port}/switchyard`;
  const settings = { ...workSettings, "tenant.purge_after_days": "0" };
  const nodes = [await startService(settings, url), await startService(settings, url)] as const;
  const db = openDatabase(url, { maxConnections: 2 });
  t.after(async () => {
    await db.close();
    for (const node of nodes) await node.stop();
  });
  const [onA, onB] = nodes.map(({ baseUrl, adminKey }) => restClient(baseUrl, adminKey)) as [Client, Client];
  const work = await startOrderWork(() => nodes[0].baseUrl);
  const created = await onA.call("POST", "/api/tenants", { name: "shared", issue_admin_key: true });
  const { admin_key: key } = created.body.data;
  const tenantId = created.body.data.id as TenantId;
  const ownOnA = restClient(nodes[0].baseUrl, key);
  const ownOnB = restClient(nodes[1].baseUrl, key);
  await work.write(count);
  await work.assertWhole(replicas.url);
  await replicas.untilReplicated();

  // Acknowledged by the primary only, known to both nodes, and then lost.
  replicas.replication.freeze();
  await onA.call("PATCH", `/api/tenants/${tenantId}`, { status: "STATUS_SUSPENDED" });
  await until(async () => (await ownOnB.call("GET", environments)).status === 403);
  assert.equal((await ownOnA.call("GET", environments)).status, 403);
  for (let n = 0; n < 300; n++) await replicas.sql`select pg_current_xact_id()`;
  // Where readers are that keep their place in memory.
  const [events, inbox] = [eventStore(db.sql), inboxStore(db.sql)];
  const eventsEnd = await events.endPosition(tenantId);
  const inboxEnd = await inbox.endPosition(tenantId, "someone", 0);
  const [old] = await replicas.sql`select pg_snapshot_xmin(pg_current_snapshot())::text::int as xmin`;

  const promoted = await replicas.promote();
  proxy.lead(addressOf(promoted));
  for (const own of [ownOnA, ownOnB]) await until(async () => (await answered(own)).status === 200);
  const short = await until(
    () => ownOnA.call("POST", "/api/v2/api-keys", { name: "short", roles: ["viewer"] }, { "idempotency-key": "short" }),
    ({ status }) => status === 200,
  );
  const caller = restClient(nodes[1].baseUrl, short.body.data.secret);
  await until(async () => (await answered(caller)).status === 200);
  const id = ulid(Date.now());
  await db.sql`insert into events (tenant_id, id, type, source, time) values (${tenantId}, ${id}, 'order.new', '/', now())`;
  await db.sql`
    insert into notification_inbox (tenant_id, subscriber_id, id, workflow_key, body, created_at)
    values (${tenantId}, 'someone', ${id}, 'w', 'b', now())`;
  assert.equal((await ownOnA.call("POST", `/api/v2/api-keys/${short.body.data.id}/revoke`, {})).status, 200);
  const [now] = await db.sql<{ xmin: number }[]>`select pg_snapshot_xmin(pg_current_snapshot())::text::int as xmin`;
  assert.ok(now!.xmin < old!.xmin, "transaction ids have gone back");
  await until(async () => (await answered(caller)).status === 401);

  const heard = await until(
    () => events.after(tenantId, eventsEnd, 10),
    (found) => found.length > 0,
  );
  assert.ok(heard.some((event) => event.id === id));
  const messages = await until(
    () => inbox.after(tenantId, "someone", inboxEnd, true, 10),
    (found) => found.length > 0,
  );
  assert.deepEqual(
    messages.map((message) => message.id),
    [id],
  );

  // Webhooks and triggers go on after their stored positions.
  await work.write(count);
  await work.assertWhole(promoted);
  assert.equal((await onB.call("GET", environments)).status, 200);
});

type Client = ReturnType<typeof restClient>;

/** The response to a call; a call without one has the status 0. */
function answered(client: Client) {
  return client.call("GET", environments).catch(() => ({ status: 0 }));
}
