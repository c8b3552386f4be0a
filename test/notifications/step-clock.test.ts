import assert from "node:assert/strict";
import { after, before, mock, test } from "node:test";
import { systemClock } from "../../src/platform/clock/clock.ts";
import { connect, type TestSql } from "../harness/postgres-server.ts";
import { startService } from "../harness/service.ts";
import { until } from "../harness/until.ts";
import { newSender, type Sender } from "./sender-fixture.ts";
import { contents, outcomesOf, steppedFixture } from "./step-fixture.ts";

const hourMs = 3_600_000;
/** How far the node's clock is ahead of the database's. */
let skewMs = 0;
let sender: Sender;
let sql: TestSql;
let steps: ReturnType<typeof steppedFixture>;
before(async () => {
  mock.method(systemClock, "now", () => Date.now() + skewMs);
  const node = await startService({ "notification.outbox.enabled": "true" });
  sender = await newSender(node);
  sql = connect(node.databaseUrl, 1);
  steps = steppedFixture(sender, sql);
  await sql.unsafe(`
    create table run_claims (run_id text not null);
    create function record_claim() returns trigger language plpgsql as $$
      begin
        insert into run_claims values (new.id);
        return null;
      end $$;
    create trigger record_claim after update on notification_runs for each row
      when (old.status = 'waiting' and new.status = 'running') execute function record_claim()`);
});
after(() => sql.end());

for (const [name, aheadMs] of [
  ["behind", -hourMs],
  ["ahead of", hourMs],
] as const) {
  test(`a wait for the inbox is claimed once, when it is due, by a node whose clock is ${name} the database's`, async () => {
    skewMs = aheadMs;
    const key = await steps.workflow([
      { key: "inbox", send: { channels: ["in_app"] } },
      { key: "unread", await_inbox: { step: "inbox", state: "read", for_s: 1 } },
    ]);
    const { id: subscriber_id } = await sender.subscriber();
    const { run_id } = await sender.trigger({ workflow_key: key, subscriber_id });
    assert.deepEqual(outcomesOf(await steps.runIn(run_id, "completed")), ["inbox sent", "unread timed_out"]);
    const claims = await sql`select from run_claims where run_id = ${run_id}`;
    assert.equal(claims.length, 2, "one claim to start the run, and one to end the wait");
  });

  test(`a batch of triggers is sent at once if the clock of the node that accepts it is ${name} the database's`, async () => {
    skewMs = aheadMs;
    const workflow_key = await sender.workflow({ channels: contents });
    const { id: subscriber_id } = await sender.subscriber({ email: "ada@example.com" });
    const triggers = [{ workflow_key, subscriber_id, channels: ["email"] }];
    const { results } = (await sender.ok("POST", "/api/v2/notifications/trigger:batch", { triggers })).data;
    const settled = await steps.settled(results[0].transaction_id);
    assert.deepEqual(
      settled.map(({ status }) => status),
      ["sent"],
    );
  });

  test(`a broadcast is sent at once by a node whose clock is ${name} the database's`, async () => {
    skewMs = aheadMs;
    const plain = await sender.workflow({ channels: contents });
    const stepped = await steps.workflow([{ key: "mail", send: { channels: ["email"] } }]);
    const topic = await sender.topic([(await sender.subscriber({ email: "ada@example.com" })).id]);
    for (const workflow_key of [plain, stepped]) {
      const { transaction_id } = await sender.trigger({ workflow_key, topic, channels: ["email"] });
      const deliveries = () => sender.deliveries(`transaction_id=${transaction_id}`);
      await until(deliveries, ([mail]) => mail?.status === "sent");
    }
  });
}
