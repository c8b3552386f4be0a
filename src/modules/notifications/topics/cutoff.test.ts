import assert from "node:assert/strict";
import { test } from "node:test";
import { contextFor, freshTenant } from "../../../../test/harness/context.ts";
import { until } from "../../../../test/harness/embedded-owner.ts";
import type { TenantId } from "../../../platform/access/index.ts";
import type { Sql } from "../../../platform/db/index.ts";
import { createSubscribers } from "../subscribers/index.ts";
import type { TopicMember } from "./index.ts";
import { createTopicFixture } from "./testing/topic-fixture.ts";

const { db, topics, createTopic, deleteTopic, add, remove, attach, manySubscribers } =
  await createTopicFixture(createSubscribers);

/** Everyone who was a member at a cutoff, read in pages. */
async function readAll(tenantId: TenantId, cutoff: string, pageSize: number, betweenPages = async () => {}) {
  const all: TopicMember[] = [];
  for (let page: TopicMember[] = [], more = true; more; more = page.length === pageSize) {
    page = await topics.membersAt(db.sql, tenantId, "news", cutoff, all.at(-1)?.id ?? "", pageSize);
    all.push(...page);
    await betweenPages();
  }
  return all;
}

/** A change in a transaction that waits before it ends. */
function underWay(change: (sql: Sql) => Promise<unknown>) {
  const { promise: mayEnd, resolve: end } = Promise.withResolvers<"commit" | "roll back">();
  const { promise: isMade, resolve: made } = Promise.withResolvers<void>();
  const ended = db
    .transaction(async (sql) => {
      await change(sql);
      made();
      if ((await mayEnd) === "roll back") throw new Error("rolled back");
    })
    .catch((error: Error) => assert.equal(error.message, "rolled back"));
  const finish = async (how: "commit" | "roll back") => {
    end(how);
    await ended;
  };
  return { isMade, finish };
}

const onTopics = topics.handlers.topics as unknown as Record<string, (...given: unknown[]) => Promise<unknown>>;

test("what is under way at a cutoff has not happened for it, whether it is committed or rolled back after", async () => {
  const tenantId = freshTenant();
  await createTopic({ tenantId }, "news");
  const ids = await manySubscribers(tenantId, 10);
  const [stays, leaves, wouldLeave, rekeyed, joins, wouldJoin, joinsLater, leavesLater, leftBefore, cameBack] = ids;
  await add(
    { tenantId },
    "news",
    [stays!, leaves!, wouldLeave!, rekeyed!, leavesLater!, leftBefore!, cameBack!],
    ["a"],
  );
  await remove({ tenantId }, "news", [leftBefore!, cameBack!]);
  await add({ tenantId }, "news", [cameBack!], ["b"]);

  const change = (operation: string, subscriberIds: string[], contextKeys: string[] = []) =>
    underWay((sql) =>
      onTopics[operation]!(contextFor(db, { tenantId, sql }), { key: "news", subscriberIds, contextKeys }),
    );
  const committed = [
    change("addTopicSubscribers", [joins!]),
    change("removeTopicSubscribers", [leaves!]),
    change("addTopicSubscribers", [rekeyed!], ["z"]),
  ];
  const undone = [change("addTopicSubscribers", [wouldJoin!]), change("removeTopicSubscribers", [wouldLeave!])];
  await Promise.all([...committed, ...undone].map(({ isMade }) => isMade));

  // Something later is over already: what is under way cannot be told by its number alone.
  await createTopic({ tenantId }, "later");
  const cutoff = await topics.cutoff(db.sql);
  const seen = async () => {
    const members = await readAll(tenantId, cutoff, 2);
    assert.equal(await topics.countAt(db.sql, tenantId, "news", cutoff), members.length);
    return members.map(({ subscriberId, contextKeys }) => [subscriberId, ...contextKeys]);
  };
  const expected = [...[stays, leaves, wouldLeave, rekeyed, leavesLater].map((id) => [id, "a"]), [cameBack, "b"]];
  assert.deepEqual(await seen(), expected, "while it is under way");
  for (const { finish } of committed) await finish("commit");
  for (const { finish } of undone) await finish("roll back");
  assert.deepEqual(await seen(), expected, "when it has ended");

  await add({ tenantId }, "news", [joinsLater!]);
  await remove({ tenantId }, "news", [leavesLater!, stays!]);
  await attach({ tenantId }, stays!, "news", ["back"]);
  assert.deepEqual(await seen(), expected, "when more has happened");
  await deleteTopic({ tenantId }, "news");
  await createTopic({ tenantId }, "news");
  await add({ tenantId }, "news", ids);
  assert.deepEqual(await seen(), expected, "when the topic is another one");

  const now = (await readAll(tenantId, await topics.cutoff(db.sql), 3)).map(({ subscriberId }) => subscriberId);
  assert.deepEqual(now.sort(), [...ids].sort());
});

test("pages of a cutoff are exactly its members, while thousands join, leave and change in any order", async () => {
  const tenantId = freshTenant();
  const choice = { tenantId };
  await createTopic(choice, "news");
  const ids = await manySubscribers(tenantId, 12_000);
  for (let at = 0; at < 10_000; at += 1000) await add(choice, "news", ids.slice(at, at + 1000), ["start"]);

  let commits = 0;
  let stopped = false;
  let serial = 0;
  /** Some of the subscribers, in no order. */
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

  /** A cutoff, and who was a member in its snapshot, as the database itself tells there and then. */
  const newCutoff = () =>
    db.transaction(async (sql) => {
      await sql`set transaction isolation level repeatable read`;
      const cutoff = await topics.cutoff(sql);
      const members = await sql<TopicMember[]>`
        select id, subscriber_id, context_keys from notification_subscriptions
        where tenant_id = ${tenantId} and topic_key = 'news' and left_xid is null order by id`;
      return { cutoff, members: [...members] };
    });
  /** Waits until something was committed, so that no two pages are read in one state. */
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
      assert.equal(subscribers.size, members.length, "nobody is in it twice");
    }
  };

  // A writer that fails, be it for waiting in a ring, fails the test.
  const stop = () => {
    stopped = true;
  };
  await Promise.all([
    Promise.all([0, 1, 2, 3, 4, 5].map(writer)).finally(stop),
    Promise.all([250, 701, 1000].map(reader)).finally(stop),
  ]);
});
