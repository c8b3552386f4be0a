import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Sql } from "../../src/platform/db/index.ts";
import { avoidMidnight } from "../harness/midnight.ts";
import { connect, type TestSql } from "../harness/postgres-server.ts";
import { restClient } from "../harness/rest.ts";
import { startService, type TestService } from "../harness/service.ts";
import { until } from "../harness/until.ts";
import { freshName, newSender, type Sender } from "./sender-fixture.ts";

let node: TestService;
let sql: TestSql;
before(async () => {
  node = await startService({ "database.max_connections": "4" });
  sql = connect(node.databaseUrl, 2);
});
after(() => sql.end());

const path = "/api/v2/notifications/trigger";

/** Runs a function while a statement of the test holds its locks. */
async function whileHolding(statement: (tx: Sql) => Promise<unknown>, work: () => Promise<void>) {
  await sql.begin(async (tx) => {
    await statement(tx);
    await work();
  });
}

/** Resolves when a number of statements that contain a text wait for a lock. */
async function lockWaiters(words: string, count: number): Promise<void> {
  const waiting = async () => {
    const rows = await sql`
      select 1 from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock' and query like ${`%${words}%`}`;
    return rows.length;
  };
  await until(waiting, (found) => found >= count);
}

async function limitTriggers({ id }: Sender, limit: number): Promise<void> {
  await avoidMidnight();
  const quotas = { "notification.trigger": { limit_per_day: limit } };
  const changed = await restClient(node.baseUrl, node.adminKey).call("PATCH", `/api/tenants/${id}`, { quotas });
  assert.equal(changed.status, 200, changed.text);
}

test("triggers with inline profiles that wait for rendering do not block other calls", async () => {
  const sender = await newSender(node);
  const workflow_key = await sender.workflow();
  const bystander = await newSender(node);
  const { id } = await bystander.subscriber();
  let triggers: ReturnType<Sender["rest"]["call"]>[] = [];
  // A tenant's first message is rendered after its integrations are read.
  await whileHolding(
    (tx) => tx`lock table notification_integrations in access exclusive mode`,
    async () => {
      triggers = Array.from({ length: 8 }, () =>
        sender.rest.call("POST", path, {
          workflow_key,
          subscriber_external_id: freshName(),
          subscriber: { first_name: "Lin" },
          payload: { order: 1 },
        }),
      );
      await lockWaiters("notification_integrations", 1);
      const found = await bystander.rest.call("GET", `/api/v2/notification/subscribers/${id}`);
      assert.equal(found.status, 200, found.text);
    },
  );
  for (const { status, text } of await Promise.all(triggers)) assert.equal(status, 200, text);
});

test("two concurrent triggers with the same new subscriber create and reach one subscriber", async () => {
  const sender = await newSender(node);
  const workflow_key = await sender.workflow();
  const subscriber_external_id = freshName();
  const request = { workflow_key, subscriber_external_id, subscriber: { first_name: "Lin" }, payload: { order: 1 } };
  let triggers: ReturnType<Sender["trigger"]>[] = [];
  await whileHolding(
    (tx) => tx`lock table notification_subscribers in exclusive mode`,
    async () => {
      triggers = [sender.trigger(request), sender.trigger(request)];
      await lockWaiters("notification_subscribers", 2);
    },
  );
  for (const { outcomes } of await Promise.all(triggers)) assert.equal(outcomes[0].outcome, "sent");
  const found = await sender.rest.call("GET", `/api/v2/notification/subscribers?external_id=${subscriber_external_id}`);
  assert.equal(found.body.data.length, 1);
  const titles = (await sender.inbox(found.body.data[0].id)).map(({ title }) => title);
  assert.deepEqual(titles, ["Hello Lin", "Hello Lin"]);
});

test("calls with one key never deadlock, with an inline profile, a topic or neither", async () => {
  const sender = await newSender(node);
  await limitTriggers(sender, 100);
  const workflow_key = await sender.workflow();
  const { id: subscriber_id } = await sender.subscriber();
  const topic = await sender.topic([subscriber_id]);
  const plain = { workflow_key, subscriber_id };
  await sender.trigger(plain);
  const inline = { workflow_key, subscriber_external_id: freshName(), subscriber: { first_name: "Lin" } };
  for (const other of [inline, { workflow_key, topic }]) {
    const headers = { "idempotency-key": freshName() };
    let calls: ReturnType<Sender["rest"]["call"]>[] = [];
    await whileHolding(
      (tx) => tx`select 1 from quota_usage where tenant_id = ${sender.id} for update`,
      async () => {
        calls = [sender.rest.call("POST", path, plain, headers)];
        await lockWaiters("quota_usage", 1);
        calls.push(sender.rest.call("POST", path, other, headers));
        await lockWaiters("quota_usage", 2);
      },
    );
    const answers = await Promise.all(calls);
    const codes = answers.map(({ status, body }) => (status === 200 ? "OK" : body.errorCode));
    assert.deepEqual(codes, ["OK", "IDEMPOTENCY_KEY_REUSED"]);
  }
  const quota = await sender.ok("GET", `/api/tenants/${sender.id}/quota/notification.trigger`);
  assert.equal(quota.data.used, 3);
});

test("a repeated trigger with an inline profile or a topic gets the same response after the quota is used up", async () => {
  const sender = await newSender(node);
  const workflow_key = await sender.workflow();
  const topic = await sender.topic();
  const inline = { workflow_key, subscriber_external_id: freshName(), subscriber: { first_name: "Lin" } };
  const requests = [inline, { workflow_key, topic }].map((body) => ({ body, key: freshName() }));
  await limitTriggers(sender, requests.length);
  const send = () => Promise.all(requests.map(({ body, key }) => sender.trigger(body, { "idempotency-key": key })));
  const ids = (answers: Awaited<ReturnType<typeof send>>) => answers.map(({ transaction_id }) => transaction_id);
  const first = ids(await send());
  assert.deepEqual(ids(await send()), first);
  await sender.refused("QUOTA_EXCEEDED", "POST", path, inline);
  assert.deepEqual(ids(await send()), first);
});
