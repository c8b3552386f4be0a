import assert from "node:assert/strict";
import { test } from "node:test";
import { contextFor, freshTenant } from "../../../../test/harness/context.ts";
import { until } from "../../../../test/harness/until.ts";
import type { TenantId } from "../../../platform/access/index.ts";
import type { Sql } from "../../../platform/db/index.ts";
import { createSubscribers } from "../subscribers/index.ts";
import type { TopicMember } from "./index.ts";
import { createTopicFixture } from "./testing/topic-fixture.ts";

const { db, topics, createTopic, deleteTopic, add, remove, subscribe, manySubscribers } =
  await createTopicFixture(createSubscribers);

/** All members at a cutoff, read in pages. */
async function readAll(tenantId: TenantId, cutoff: string, pageSize: number, betweenPages = async () => {}) {
  const all: TopicMember[] = [];
  for (let page: TopicMember[] = [], more = true; more; more = page.length === pageSize) {
    page = await topics.membersAt(db.sql, tenantId, "news", cutoff, all.at(-1)?.id ?? "", pageSize);
    all.push(...page);
    await betweenPages();
  }
  return all;
}

/** A change in a transaction that stays open until it is told to commit or roll back. */
function openTransaction(change: (sql: Sql) => Promise<unknown>) {
  const { promise: mayEnd, resolve: end } = Promise.withResolvers<"commit" | "roll back">();
  const { promise: isChanged, resolve: changed } = Promise.withResolvers<void>();
  const ended = db
    .transaction(async (sql) => {
      await change(sql);
      changed();
      if ((await mayEnd) === "roll back") throw new Error("rolled back");
    })
    .catch((error: Error) => assert.equal(error.message, "rolled back"));
  const finish = async (how: "commit" | "roll back") => {
    end(how);
    await ended;
  };
  return { isChanged, finish };
}

const onTopics = topics.handlers.topics as unknown as Record<string, (...given: unknown[]) => Promise<unknown>>;

test("an open transaction at a cutoff does not count, whether it commits or rolls back later", async () => {
  const tenantId = freshTenant();
  await createTopic({ tenantId }, "news");
  const ids = await manySubscribers(tenantId, 10);
  const [remaining, leaves, wouldLeave, rekeyed, joins, wouldJoin, joinsLater, leavesLater, leftBefore, cameBack] = ids;
  await add(
    { tenantId },
    "news",
    [remaining!, leaves!, wouldLeave!, rekeyed!, leavesLater!, leftBefore!, cameBack!],
    ["a"],
  );
  await remove({ tenantId }, "news", [leftBefore!, cameBack!]);
  await add({ tenantId }, "news", [cameBack!], ["b"]);

  const change = (operation: string, subscriberIds: string[], contextKeys: string[] = []) =>
    openTransaction((sql) =>
      onTopics[operation]!(contextFor(db, { tenantId, sql }), { key: "news", subscriberIds, contextKeys }),
    );
  const committed = [
    change("addTopicSubscribers", [joins!]),
    change("removeTopicSubscribers", [leaves!]),
    change("addTopicSubscribers", [rekeyed!], ["z"]),
  ];
  const undone = [change("addTopicSubscribers", [wouldJoin!]), change("removeTopicSubscribers", [wouldLeave!])];
  await Promise.all([...committed, ...undone].map(({ isChanged }) => isChanged));

  // A later transaction has already committed, so transaction ids alone cannot identify the open ones.
  await createTopic({ tenantId }, "later");
  const cutoff = await topics.cutoff(db.sql);
  const seen = async () => {
    const members = await readAll(tenantId, cutoff, 2);
    assert.equal(await topics.countAt(db.sql, tenantId, "news", cutoff), members.length);
    return members.map(({ subscriberId, contextKeys }) => [subscriberId, ...contextKeys]);
  };
  const expected = [...[remaining, leaves, wouldLeave, rekeyed, leavesLater].map((id) => [id, "a"]), [cameBack, "b"]];
  assert.deepEqual(await seen(), expected, "while it is under way");
  for (const { finish } of committed) await finish("commit");
  for (const { finish } of undone) await finish("roll back");
  assert.deepEqual(await seen(), expected, "when it has ended");

  await add({ tenantId }, "news", [joinsLater!]);
  await remove({ tenantId }, "news", [leavesLater!, remaining!]);
  await subscribe({ tenantId }, remaining!, "news", ["back"]);
  assert.deepEqual(await seen(), expected, "when more has happened");
  await deleteTopic({ tenantId }, "news");
  await createTopic({ tenantId }, "news");
  await add({ tenantId }, "news", ids);
  assert.deepEqual(await seen(), expected, "when the topic is another one");

  const now = (await readAll(tenantId, await topics.cutoff(db.sql), 3)).map(({ subscriberId }) => subscriberId);
  assert.deepEqual(now.sort(), [...ids].sort());
});

test("the pages of a cutoff are exactly its members, while thousands join, leave and change concurrently", async () => {
  const tenantId = freshTenant();
  const choice = { tenantId };
  await createTopic(choice, "news");
  const ids = await manySubscribers(tenantId, 12_000);
  for (let at = 0; at < 10_000; at += 1000) await add(choice, "news", ids.slice(at, at + 1000), ["start"]);

  let commits = 0;
  let stopped = false;
  let serial = 0;
  /** Some of the subscribers, in random order. */
  const some = () => {
    serial++;
    return Array.from({ length: 1 + (serial % 60) }, (_, n) => ids[(serial * 7919 + n * 104_729) % ids.length]!);
  };
  const writer = async (number: number) => {
    for (let turn = number; !stopped; turn++) {
      if (turn % 2 === 0) await add(choice, "news", some(), [["start"], ["a", "b"], []][turn % 3]);
      else await remove(choice, "news", some());
      commits++;
    }
  };

  /** A cutoff and the members that the database reports in the same snapshot. */
  const newCutoff = () =>
    db.transaction(async (sql) => {
      await sql`set transaction isolation level repeatable read`;
      const cutoff = await topics.cutoff(sql);
      const members = await sql<TopicMember[]>`
        select id, subscriber_id, context_keys from notification_subscriptions
        where tenant_id = ${tenantId} and topic_key = 'news' and left_stamp is null order by id`;
      return { cutoff, members: [...members] };
    });
  /** Waits for a commit, so that no two pages are read in the same state. */
  const aChange = async () => {
    const before = commits;
    await until(async () => commits > before || stopped);
  };
  const reader = async (pageSize: number) => {
    for (let round = 0; round < 2; round++) {
      const { cutoff, members } = await newCutoff();
      const began = commits;
      assert.ok(members.length > 1000);
      assert.deepEqual(await readAll(tenantId, cutoff, pageSize, aChange), members);
      assert.equal(await topics.countAt(db.sql, tenantId, "news", cutoff), members.length);
      assert.ok(commits > began + members.length / pageSize - 2, "others changed the topic meanwhile");
      assert.deepEqual(await readAll(tenantId, cutoff, 5000), members, "read once more");
      const subscribers = new Set(members.map(({ subscriberId }) => subscriberId));
      assert.equal(subscribers.size, members.length, "no subscriber is listed twice");
    }
  };

  // A writer that fails, for example with a deadlock, fails the test.
  const stop = () => {
    stopped = true;
  };
  await Promise.all([
    Promise.all([0, 1, 2, 3, 4, 5].map(writer)).finally(stop),
    Promise.all([250, 701, 1000].map(reader)).finally(stop),
  ]);
});
