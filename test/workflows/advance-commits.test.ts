import assert from "node:assert/strict";
import { before, test } from "node:test";
import { type Database, openDatabase } from "../../src/platform/db/index.ts";
import { afterFile } from "../harness/after-file.ts";
import { startService, type TestService } from "../harness/service.ts";

// biome-ignore lint/suspicious/noExplicitAny: responses have many shapes.
type Json = any;

let service: TestService;
let db: Database;
before(async () => {
  service = await startService();
  db = openDatabase(service.databaseUrl, { maxConnections: 1 });
  afterFile(() => db.close());
  await recordWrites();
});

/** Records which statement of which transaction writes a row of a run. */
async function recordWrites(): Promise<void> {
  await db.sql`create table writes (run_id text not null, xid xid8 not null, statement_at timestamptz not null)`;
  await db.sql`
    create function record_write() returns trigger language plpgsql as $$
    begin
      insert into writes values (
        to_jsonb(coalesce(new, old)) ->> tg_argv[0], pg_current_xact_id(), statement_timestamp());
      return null;
    end $$`;
  const tables = [
    ["workflow_runs", "id"],
    ["workflow_run_archive", "id"],
    ["workflow_history", "run_id"],
    ["workflow_tasks", "run_id"],
    ["workflow_mailbox", "run_id"],
    ["workflow_approvals", "run_id"],
    ["workflow_dead_letters", "run_id"],
    ["events", "subject"],
  ];
  for (const [table, column] of tables) {
    await db.sql.unsafe(`
      create trigger record_write after insert or update or delete on ${table}
      for each row execute function record_write('${column}')`);
  }
}

/** The transactions and the statements that have written rows of a run. */
async function writesOf(runId: string): Promise<{ transactions: number; statements: number }> {
  const [row] = await db.sql<{ transactions: number; statements: number }[]>`
    select count(distinct xid)::int as transactions, count(distinct (xid, statement_at))::int as statements
    from writes where run_id = ${runId}`;
  return row!;
}

/** The writes of a number of advances, each of which is stored by one statement. */
const advances = (count: number) => ({ transactions: count, statements: count });

async function call(method: string, path: string, body?: object): Promise<Json> {
  const response = await fetch(`${service.baseUrl}${path}`, {
    method,
    headers: { "x-api-key": service.adminKey, "content-type": "application/json" },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const received: Json = await response.json();
  assert.ok(response.ok, `${method} ${path}: ${JSON.stringify(received)}`);
  return received.data;
}

async function publish(key: string, steps: readonly object[]): Promise<void> {
  await call("POST", "/api/workflow-definitions", { document: { dsl: "1", key, timeout: "1h", steps } });
  await call("POST", `/api/workflow-definitions/${key}/publish`, {});
}
const start = async (definition: string, fields: object = {}) =>
  (await call("POST", "/api/workflow-runs", { definition, input: { n: 1 }, ...fields })).run;

const note = (id: string) => ({ id, transform: { n: "=input.n" } });
const task = (id: string, queue: string) => ({ id, task: { queue, type: "work" } });
const worker = (queue: string) => ({
  ...{ queue, worker_id: "w", build_id: "b", slots: 1, wait_s: 20 },
  capabilities: [{ type: "work", versions: ["1.0.0"] }],
});

test("a run that needs nobody else is stored by one statement, with its end, history and events", async () => {
  await publish("three.notes", [note("one"), note("two"), note("three")]);
  const run = await start("three.notes");
  assert.equal(run.status, "succeeded");
  assert.deepEqual(await writesOf(run.id), advances(1));
});

test("a completion, the next task and its lease are stored by one statement", async () => {
  await publish("two.tasks", [task("one", "pair"), note("between"), task("two", "pair")]);
  const run = await start("two.tasks");
  const [first] = (await call("POST", "/api/workflow-tasks:poll", worker("pair"))).tasks;
  // The start, and the lease of the poll.
  assert.deepEqual(await writesOf(run.id), advances(2));

  const complete = (leased: Json, more: object = {}) =>
    call("POST", "/api/workflow-tasks:complete", {
      completions: [{ task_id: leased.task_id, token: leased.token, output: {} }],
      ...more,
    });
  const { tasks } = await complete(first, { poll: worker("pair") });
  assert.equal(tasks[0].step, "two");
  assert.deepEqual(await writesOf(run.id), advances(3));

  await complete(tasks[0]);
  assert.equal((await call("GET", `/api/workflow-runs/${run.id}`)).status, "succeeded");
  assert.deepEqual(await writesOf(run.id), advances(4));
});

test("an event and the steps that follow it are stored by one statement", async () => {
  const wait = { id: "signed", wait_event: { event: "signed", timeout: "1h" } };
  await publish("one.event", [wait, note("after"), { ...wait, id: "again" }]);
  const run = await start("one.event");
  const signal = () => call("POST", `/api/workflow-runs/${run.id}/signal`, { event: "signed" });
  await signal();
  assert.deepEqual(await writesOf(run.id), advances(2));
  await signal();
  assert.equal((await call("GET", `/api/workflow-runs/${run.id}`)).status, "succeeded");
  assert.deepEqual(await writesOf(run.id), advances(3));
});

test("a timer and the steps that follow it are stored by one statement", async () => {
  await publish("one.timer", [{ id: "nap", wait_timer: { for: "10ms" } }, note("after")]);
  const run = await start("one.timer", { wait_s: 20 });
  assert.equal(run.status, "succeeded");
  assert.deepEqual(await writesOf(run.id), advances(2));
});

test("an approval, a decision on it and its end are each stored by the statement of the run", async () => {
  await publish("one.approval", [
    { id: "ask", approval: { by: ["role:admin", "role:workflow_approver"], quorum: 2, timeout: "1h" } },
    note("after"),
  ]);
  const open = async () => (await call("GET", "/api/workflow-approvals?definition=one.approval")).length;
  const run = await start("one.approval");
  assert.deepEqual([await open(), await writesOf(run.id)], [1, advances(1)]);
  await call("POST", `/api/workflow-runs/${run.id}/approvals/ask/decide`, { approved: true });
  assert.deepEqual([await open(), await writesOf(run.id)], [1, advances(2)]);
  await call("POST", `/api/workflow-runs/${run.id}/cancel`, {});
  assert.deepEqual([await open(), await writesOf(run.id)], [0, advances(3)]);
});
