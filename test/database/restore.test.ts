import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { promisify } from "node:util";
import { socketHost } from "../../src/platform/db/embedded/socket-host.ts";
import { cli } from "../cli/cli-run.ts";
import { connect, installedPostgres, newServerFolder, startInstalled } from "../harness/postgres-server.ts";
import { restClient } from "../harness/rest.ts";
import { sized } from "../harness/run-size.ts";
import { startService } from "../harness/service.ts";
import { until } from "../harness/until.ts";
import { openEvents } from "../wire/event-source.ts";
import { startOrderWork, workSettings } from "./order-work.ts";

const count = sized(60, 10_000);
const run = promisify(execFile);

/** An installed PostgreSQL has pg_dump and psql; the embedded one has neither. */
const folder = installedPostgres();
const skip = folder === undefined ? "pg_dump is not installed here (on Debian: apt-get install postgresql)" : false;

/** Starts an installed server, whose transaction ids have gone at least this far. */
async function startServer(t: TestContext, transactions: number): Promise<string> {
  const dataDir = await newServerFolder();
  const server = await startInstalled(folder!, join(dataDir, "cluster"));
  t.after(async () => {
    await server.stop();
    await rm(dataDir, { recursive: true, force: true });
  });
  const sql = connect(server.url, 1);
  await sql.unsafe(
    "create procedure burn(n int) language plpgsql as $$ begin for i in 1..n loop perform pg_current_xact_id(); commit; end loop; end $$",
  );
  await sql.unsafe(`call burn(${transactions})`);
  await sql.unsafe("drop procedure burn");
  await sql.end();
  return server.url;
}

/** Copies a database the ordinary way: pg_dump into a file, and the file into psql. */
async function dumpAndRestore(from: string, to: string): Promise<void> {
  const bin = (name: string) => join(folder!, "bin", name);
  const at = (url: string) => ["-h", socketHost(url)!, "-U", "switchyard", "-d", "postgres"];
  const { stdout } = await run(bin("pg_dump"), at(from), { maxBuffer: 2 ** 30 });
  const file = join(socketHost(to)!, "dump.sql");
  await writeFile(file, stdout);
  await run(bin("psql"), [...at(to), "-q", "-v", "ON_ERROR_STOP=1", "-f", file]);
}

test("after a dump is restored on a server whose transaction ids are lower, all followers go on and skip nothing", {
  skip,
}, async (t) => {
  const [source, target] = await Promise.all([startServer(t, 20_000), startServer(t, 0)]);
  let node = await startService(workSettings, source);
  const work = await startOrderWork(() => node.baseUrl);
  await work.write(count);
  await until(() => work.receiver.received().length > 0);
  const [last] = [...work.events.values()].slice(-1);
  await node.stop();
  await dumpAndRestore(source, target);
  const sql = connect(target, 2);
  t.after(() => sql.end());
  const [xid] = await sql`select pg_current_xact_id()::text::int as now`;
  assert.ok(xid!.now < 20_000, "transaction ids have gone back");

  node = await startService(workSettings, target);
  const stream = await openEvents(`${node.baseUrl}/api/events/subscribe?cursor=${last}&types=order.paid`, {
    "x-api-key": workSettings["auth.bootstrap_api_key"],
  });
  await work.write(count);
  // The stream goes on after the caller's last event of the old server.
  const [row] = await sql`select count(*)::int as n from events where type = 'order.paid' and (stamp, id) >
    (select stamp, id from events where id = ${last!})`;
  const streamed = await stream.take(row!.n);
  stream.close();
  assert.ok(row!.n >= count);
  assert.equal(new Set(streamed.map(({ id }) => id)).size, row!.n);
  // A change that this node makes is known to others, although its transaction id is lower than those of earlier changes.
  const other = await startService(workSettings, target);
  const [here, there] = [node, other].map(({ baseUrl }) => restClient(baseUrl, workSettings["auth.bootstrap_api_key"]));
  const created = await here!.call("POST", "/api/v2/api-keys", { name: "short", roles: ["viewer"] });
  const caller = restClient(other.baseUrl, created.body.data.secret);
  assert.equal((await caller.call("GET", "/api/v2/environments")).status, 200);
  await there!.call("GET", "/api/v2/environments");
  await here!.call("POST", `/api/v2/api-keys/${created.body.data.id}/revoke`, {});
  await until(async () => (await caller.call("GET", "/api/v2/environments")).status === 401);
  await other.stop();
  await work.assertWhole(target);
  await node.stop();
});

test("repair continues the order of events after restored rows, and raises sequences that are behind them", {
  skip,
}, async (t) => {
  const url = await startServer(t, 0);
  const words = [
    "--set",
    `database.url=${url}`,
    "--set",
    "log.level=silent",
    "--set",
    "server.internal_addr=127.0.0.1:0",
  ];
  const healthy = await cli(["database", "repair", ...words]);
  assert.equal(healthy.exitCode, 0, healthy.err);
  assert.equal(healthy.out, "order of events: continues\nsequences: complete\npartitions: complete\n");
  const sql = connect(url, 1);
  t.after(() => sql.end());
  // Rows of another server that were copied into tables of this one.
  await sql`
    insert into events (tenant_id, id, stamp, type, source, time)
    values ('a', 'e', ${String((3n << 44n) + 5n)}::bigint, 'order.paid', '/', now())`;
  await sql`
    insert into webhook_deliveries (tenant_id, endpoint_id, event_id, event_type, sequence, next_attempt_at, created_at, status)
    values ('a', 'w', 'e', 'order.paid', 7, now(), now(), 'pending')`;
  await sql`drop table workflow_history_default`;
  const repaired = await cli(["database", "repair", ...words]);
  assert.equal(
    repaired.out,
    "order of events: the rows came from another server; it continues after them\n" +
      "sequences: raised webhook_delivery_order\npartitions: created workflow_history_default\n",
  );
  const [row] = await sql`
    select current_stamp() > (select max(stamp) from events) as is_above, nextval('webhook_delivery_order')::int as next`;
  assert.deepEqual(row, { is_above: true, next: 8 });
  assert.equal((await cli(["database", "repair", ...words])).out, healthy.out);
});
