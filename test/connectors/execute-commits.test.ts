import assert from "node:assert/strict";
import { before, test } from "node:test";
import type { MockProvider } from "../../src/modules/connectors/manifests/testing/mock-provider.ts";
import { afterFile } from "../harness/after-file.ts";
import { connect, type TestSql } from "../harness/postgres-server.ts";
import { startService, type TestService } from "../harness/service.ts";
import { until } from "../harness/until.ts";
import { freshName } from "../routing/tenant-fixture.ts";
import { type AcmeTenant, newAcmeTenant, startAcme } from "./acme.ts";

let service: TestService;
let mock: MockProvider;
let own: AcmeTenant;
let sql: TestSql;
before(async () => {
  service = await startService();
  mock = await startAcme();
  own = await newAcmeTenant(service, mock);
  sql = connect(service.databaseUrl, 1);
  afterFile(() => sql.end({ timeout: 1 }));
  await recordWrites();
});

/** Records which transaction writes a row of which table. */
async function recordWrites(): Promise<void> {
  await sql.unsafe(`
    create table writes (name text not null, xid xid8 not null);
    create function record_write() returns trigger language plpgsql as $$
    begin
      insert into writes values (tg_argv[0], pg_current_xact_id());
      return null;
    end $$`);
  const tables = [
    ...["connector_executions", "connector_rate_limits", "connector_connections", "idempotency_records", "events"],
    ...["quota_usage", "jobs"],
  ];
  for (const table of tables) {
    await sql.unsafe(`
      create trigger record_write after insert or update or delete on ${table}
      for each row execute function record_write('${table}')`);
  }
}

/** The tables that a call writes, by transaction. */
async function writesOf(call: () => Promise<unknown>): Promise<string[][]> {
  await sql`delete from writes`;
  await call();
  const rows = await sql<{ names: string[] }[]>`
    select array_agg(name order by name) as names from writes where name <> 'jobs' group by xid order by min(xid::text::bigint)`;
  return rows.map(({ names }) => names);
}

const began = ["connector_executions", "idempotency_records"];
const ended = ["connector_executions", "events", "idempotency_records"];

test("an execution takes two commits: one before the request and one after it", async () => {
  const key = () => ({ "idempotency-key": freshName() });
  const execute = () => own.execute("note.add", { text: "a" }, {}, key());
  assert.deepEqual(await writesOf(execute), [began, ended]);
  assert.deepEqual(await writesOf(() => own.execute("note.get", { id: "1" }, {}, key())), [began, ended]);
  const unkeyed = await writesOf(() => own.execute("note.add", { text: "a" }));
  assert.deepEqual(unkeyed, [["connector_executions"], ["connector_executions", "events"]]);
});

test("retries and failures take no further commits", async () => {
  mock.fail("charge.create", { kind: "answer", status: 503 }, 2);
  const key = { "idempotency-key": freshName() };
  assert.deepEqual(await writesOf(() => own.execute("charge.create", { text: "a" }, {}, key)), [began, ended]);
  mock.fail("note.add", { kind: "cut" });
  const unknown = { "idempotency-key": freshName() };
  assert.deepEqual(await writesOf(() => own.execute("note.add", { text: "a" }, {}, unknown)), [began, ended]);
  assert.deepEqual(await writesOf(() => own.execute("note.add", { text: "a" }, {}, unknown)), []);
});

test("a limit is stored with the outcome", async () => {
  const connection_id = await own.connect({});
  mock.fail("note.get", { kind: "rate_limited", retryAfterS: 3600 });
  assert.deepEqual(await writesOf(() => own.execute("note.get", { id: "1" }, { connection_id })), [
    ["connector_executions"],
    ["connector_executions", "connector_rate_limits", "events"],
  ]);
  assert.deepEqual(await writesOf(() => own.execute("note.get", { id: "1" }, { connection_id })), []);
});

test("refused calls and dry runs write nothing", async () => {
  assert.deepEqual(await writesOf(() => own.execute("note.add", {})), []);
  assert.deepEqual(await writesOf(() => own.execute("note.add", { text: "a" }, { dry_run: true })), []);
});

test("nothing is open in the database while the provider answers", async () => {
  const reached = mock.requests.length;
  const answered = Promise.withResolvers<void>();
  mock.fail("note.add", { kind: "held", until: answered.promise });
  const call = own.execute("note.add", { text: "a" });
  await until(() => mock.requests.length > reached);
  // Background work has transactions of its own, but only for moments.
  await until(
    async () =>
      (
        await sql`select from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid() and state like 'idle in transaction%'`
      ).count,
    (open) => open === 0,
  );
  answered.resolve();
  assert.equal((await call).status, 200);
});

test("executions that run together share commits", async () => {
  const reached = mock.requests.length;
  const answered = Promise.withResolvers<void>();
  mock.fail("note.add", { kind: "held", until: answered.promise }, 40);
  const writes = await writesOf(async () => {
    const calls = Array.from({ length: 40 }, () => own.execute("note.add", { text: "a" }));
    await until(() => mock.requests.length === reached + calls.length);
    answered.resolve();
    await Promise.all(calls);
  });
  assert.ok(writes.length < 60, `${writes.length} commits`);
});
