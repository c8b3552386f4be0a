import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { post, postUntilAnswered, type SupervisedNode, supervise } from "../chaos/supervised-node.ts";
import { freshDatabase } from "../harness/postgres.ts";
import type { TestSql } from "../harness/postgres-server.ts";
import { sized } from "../harness/run-size.ts";
import { until } from "../harness/until.ts";
import { createRandom } from "../routing/lease-checks.ts";

const memberCount = sized(10_000, 100_000);
const crashesMax = sized(3, 5);
const churned = 300;
const topic = "everyone";

/** Creates subscribers of a topic, and some outside of it. */
async function fill(sql: TestSql, tenantId: string): Promise<void> {
  const total = memberCount + churned;
  await sql`
    insert into notification_subscribers (tenant_id, id, external_id, first_name, created_at, updated_at)
    select ${tenantId}, '01K' || lpad(n::text, 23, '0'), 'e' || n, 'N' || n, now(), now()
    from generate_series(1, ${total}::int) as n`;
  await sql`
    insert into notification_subscriptions (tenant_id, topic_key, id, subscriber_id, created_at)
    select ${tenantId}, ${topic}, '01M' || lpad(n::text, 23, '0'), '01K' || lpad(n::text, 23, '0'), now()
    from generate_series(1, ${memberCount}::int) as n`;
}

const subscriberId = (n: number) => `01K${String(n).padStart(23, "0")}`;

async function startFixture(t: TestContext) {
  const database = await freshDatabase();
  const settings = { "database.url": database.url, "auth.bootstrap_api_key": "sk_test_crash_0123456789abcdef" };
  const nodes = await Promise.all([
    supervise(settings, Math.ceil(crashesMax / 2)),
    supervise(settings, Math.floor(crashesMax / 2)),
  ]);
  t.after(async () => {
    await Promise.all(nodes.map((node) => node.stop()));
    await database.drop();
  });
  const [tenant] = await database.sql<{ id: string }[]>`select id from tenants limit 1`;
  return { nodes, sql: database.sql, tenantId: tenant!.id };
}

/** Removes and adds members repeatedly until stopped. */
async function churn(nodes: readonly SupervisedNode[], isOver: () => boolean, chance: () => number): Promise<void> {
  const path = `/api/v2/notification/topics/${topic}/subscribers`;
  for (let n = 1; !isOver(); n = (n % churned) + 1) {
    const node = await nodes[chance() < 0.5 ? 0 : 1]!.current;
    await Promise.all([
      post(node, path, { subscriber_ids: [subscriberId(memberCount + n)] }),
      post(node, `${path}:remove`, { subscriber_ids: [subscriberId(n)] }),
    ]).catch(() => undefined);
    await delay(5);
  }
}

test(`a broadcast to ${memberCount} members, with random node crashes and membership changes, reaches exactly the members at its cutoff`, async (t) => {
  const { nodes, sql, tenantId } = await startFixture(t);
  const chance = createRandom(11);
  const first = await nodes[0]!.current;
  await post(first, "/api/v2/notification/topics", { key: topic });
  await fill(sql, tenantId);
  const workflow = { channels: { in_app: { title: "Hello {{ subscriber.first_name }}", body: "{{ payload.text }}" } } };
  const put = await fetch(`${first.baseUrl}/api/v2/notification/workflows/news`, {
    method: "PUT",
    headers: { "x-api-key": first.adminKey, "content-type": "application/json" },
    body: JSON.stringify(workflow),
  });
  assert.equal(put.status, 200);

  let over = false;
  const churning = churn(nodes, () => over, chance);
  const trigger = { workflow_key: "news", topic, payload: { text: "It is here." } };
  const response = await postUntilAnswered(nodes[0]!, "/api/v2/notifications/trigger", trigger, "once");
  assert.equal(response.status, 200);
  const { transaction_id: transactionId } = response.body.data;
  const status = async () => {
    const [row] = await sql<{ status: string; expanded: number; cutoff: string }[]>`
      select status, expanded::int as expanded, cutoff from notification_broadcasts
      where tenant_id = ${tenantId} and transaction_id = ${transactionId}`;
    return row!;
  };
  let crashes = 0;
  await until(
    async () => {
      const now = await status();
      assert.notEqual(now.status, "failed");
      if (now.status === "completed") return true;
      await delay(chance() * 300);
      if (crashes === 0) {
        // Both at once: otherwise one node could complete the broadcast while the other one starts.
        crashes = nodes.length;
        await Promise.all(nodes.map((node) => node.crash()));
      } else if (crashes < crashesMax) await nodes[crashes++ % 2]!.crash();
      return false;
    },
    Boolean,
    300_000,
  );
  over = true;
  await churning;
  assert.ok(crashes > 0, "the broadcast ended before a crash");
  t.diagnostic(`${crashes} crashes`);

  const { cutoff, expanded } = await status();
  const [compared] = await sql<Record<string, number>[]>`
    with wanted as (
      select subscriber_id from notification_subscriptions
      where tenant_id = ${tenantId} and topic_key = ${topic}
        and txid_visible_in_snapshot(joined_stamp, ${cutoff}::txid_snapshot)
        and (left_stamp is null or not txid_visible_in_snapshot(left_stamp, ${cutoff}::txid_snapshot))
    ), got as (
      select subscriber_id, count(*) as rows from notification_deliveries
      where tenant_id = ${tenantId} and transaction_id = ${transactionId} and status = 'sent' and channel = 'in_app'
      group by subscriber_id
    ), inbox as (
      select subscriber_id, count(*) as rows from notification_inbox where tenant_id = ${tenantId} group by subscriber_id
    )
    select
      (select count(*)::int from wanted) as wanted,
      (select count(*)::int from got) as got,
      (select count(*)::int from got where rows > 1) as twice,
      (select count(*)::int from inbox where rows > 1) as shown_twice,
      (select count(*)::int from wanted full join got using (subscriber_id) full join inbox using (subscriber_id)
        where wanted is null or got is null or inbox is null) as different`;
  assert.deepEqual([compared!.twice, compared!.shown_twice, compared!.different], [0, 0, 0]);
  assert.equal(compared!.got, compared!.wanted);
  assert.equal(expanded, compared!.wanted);
  // Members that never changed are certainly included.
  const [steady] = await sql<{ count: number }[]>`
    select count(*)::int as count from notification_deliveries
    where tenant_id = ${tenantId} and transaction_id = ${transactionId} and subscriber_id > ${subscriberId(churned)}
      and subscriber_id <= ${subscriberId(memberCount)}`;
  assert.equal(steady!.count, memberCount - churned);
});
