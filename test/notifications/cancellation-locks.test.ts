import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { connect, type TestSql } from "../harness/postgres-server.ts";
import { startService, type TestService } from "../harness/service.ts";
import { until } from "../harness/until.ts";
import { newSender, type Sender } from "./sender-fixture.ts";
import { steppedFixture } from "./step-fixture.ts";

let node: TestService;
let sender: Sender;
let sql: TestSql;
let steps: ReturnType<typeof steppedFixture>;
before(async () => {
  node = await startService({ "notification.outbox.enabled": "true" });
  sender = await newSender(node);
  sql = connect(node.databaseUrl, 2);
  steps = steppedFixture(sender, sql);
});
after(() => sql.end());

/** A number that names the lock at which transactions wait. */
const gate = 7_733_001;

/** Resolves when a statement that contains a text waits for a lock. */
async function waits(words: string): Promise<void> {
  await until(
    async () => sql`
      select from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock' and query like ${`%${words}%`}`,
    (rows) => rows.length > 0,
  );
}

test("a cancellation and a run that ends at the same time do not deadlock", async () => {
  await sql.unsafe(`
    create table failed_runs (run_id text not null);
    create function pass_gate() returns trigger language plpgsql as $$
      begin
        if new.status = 'completed' then perform pg_advisory_xact_lock_shared(${gate}); end if;
        if new.failures > old.failures then insert into failed_runs values (new.id); end if;
        return new;
      end $$;
    create trigger pass_gate before update on notification_runs for each row execute function pass_gate()`);
  // The payload of a long run is kept for less time once the run has ended.
  const workflow_key = await steps.workflow([
    { key: "wait", delay: { for_s: 30 * 86_400 } },
    { key: "mail", send: { channels: ["email"] } },
  ]);
  const { id: subscriber_id } = await sender.subscriber({ email: "ada@example.com" });
  const { run_id, transaction_id } = await sender.trigger({ workflow_key, subscriber_id });
  await steps.runIn(run_id, "waiting", "wait");
  let cancelled: ReturnType<typeof steps.cancel> | undefined;
  await sql.begin(async (tx) => {
    await tx`select pg_advisory_xact_lock(${gate}::bigint)`;
    await steps.wake(run_id);
    await waits("update notification_runs set status");
    cancelled = steps.cancel(transaction_id);
    await waits("for update");
  });
  await cancelled;
  await steps.settled(transaction_id);
  assert.deepEqual([...(await sql`select run_id from failed_runs`)], [], "the run ended at its first attempt");
});
