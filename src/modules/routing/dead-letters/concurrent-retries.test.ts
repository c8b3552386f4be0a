import assert from "node:assert/strict";
import { test } from "node:test";
import {
  PurgeDeadLettersRequestSchema,
  QuarantineDeadLettersRequestSchema,
  RetryAllDeadLettersRequestSchema,
  RetryDeadLettersRequestSchema,
} from "../../../../gen/service/api/dead_letter_pb.ts";
import { announcedChanges } from "../../../../test/harness/changes.ts";
import { freshTenant, perform, recordedEvents, testDatabase } from "../../../../test/harness/context.ts";
import type { TenantId } from "../../../platform/access/index.ts";
import { urlRefusal } from "../../../platform/egress/index.ts";
import { createPools, recipientLoadStore } from "../pools/index.ts";
import { closeEmptyQueue } from "../queues/index.ts";
import { createDeadLetterFixture } from "./testing/dead-letter-fixture.ts";

const callers = 32;
// One more connection than callers: the first caller reads the pool while all are in a transaction.
const db = await testDatabase(callers + 1);
const pools = createPools({
  db,
  changes: announcedChanges().changes,
  events: recordedEvents(),
  loads: recipientLoadStore,
  closeQueue: closeEmptyQueue,
  urlRefusal,
});
const { handlers, newPool, newLetters, newLetter, depthOf, ...module } = createDeadLetterFixture(db, pools);

const retryAll = (tenantId: TenantId, poolId: string) =>
  perform(db, { tenantId }, handlers.retryAllDeadLetters, RetryAllDeadLettersRequestSchema, { poolId });
const retry = (tenantId: TenantId, poolId: string, queueItemIds: string[]) =>
  perform(db, { tenantId }, handlers.retryDeadLetters, RetryDeadLettersRequestSchema, { poolId, queueItemIds });

/** Fails every waiting item, as the queue does after the last attempt. */
async function failAgain(tenantId: TenantId, poolId: string): Promise<number> {
  return db.transaction(async (tx) => {
    const failed = await tx<{ id: string }[]>`
      update queue_items set state = 'dead_lettered' where tenant_id = ${tenantId} and id = any(array(
        select id from queue_items
        where tenant_id = ${tenantId} and pool_id = ${poolId} and state = 'ready' order by id for update))
      returning id`;
    await module.record(
      tx,
      tenantId,
      failed.map(({ id }) => newLetter(poolId, id)),
    );
    return failed.length;
  });
}

async function lettersOf(tenantId: TenantId) {
  return db.sql<{ queueItemId: string; state: string; itemState: string; retryCount: number; maxRetries: number }[]>`
    select queue_item_id, letter.state, item.state as item_state, retry_count, max_retries
    from dead_letters letter
    join queue_items item on item.tenant_id = letter.tenant_id and item.id = letter.queue_item_id
    where letter.tenant_id = ${tenantId} order by queue_item_id`;
}

test("concurrent retries requeue each item once, never past its maximum, and quarantined ones never", async () => {
  const tenantId = freshTenant();
  const poolId = await newPool(tenantId);
  const ids = await newLetters(tenantId, poolId, Array(300).fill({ letter: { maxRetries: 2 } }));
  const aside = ids.filter((_, n) => n % 10 === 0);
  await perform(db, { tenantId }, handlers.quarantineDeadLetters, QuarantineDeadLettersRequestSchema, {
    poolId,
    queueItemIds: aside,
  });
  const free = ids.length - aside.length;
  let depth = 0;
  for (const expected of [free, free, 0]) {
    const answers = await Promise.all(
      Array.from({ length: callers }, (_, n) =>
        // Half of the callers name items, each in a different order.
        n % 2 === 0 ? retryAll(tenantId, poolId) : retry(tenantId, poolId, [...ids.slice(n), ...ids.slice(0, n)]),
      ),
    );
    const retried = answers.reduce((sum, answer) => sum + Number(answer.retriedCount), 0);
    assert.equal(retried, expected);
    depth += retried;
    assert.equal(await depthOf(tenantId, poolId), depth);
    assert.equal(await failAgain(tenantId, poolId), expected);
  }
  for (const letter of await lettersOf(tenantId)) {
    const isAside = aside.includes(letter.queueItemId);
    assert.deepEqual(
      [letter.state, letter.itemState, letter.retryCount],
      [isAside ? "quarantined" : "failed", "dead_lettered", isAside ? 0 : 2],
    );
  }
});

test("retries, failures, quarantines and purges at the same time leave every item either waiting, dead-lettered or deleted", async () => {
  const tenantId = freshTenant();
  const poolId = await newPool(tenantId);
  const ids = await newLetters(tenantId, poolId, Array(400).fill({ letter: { maxRetries: 3 } }));
  const quarantine = (queueItemIds: string[], release: boolean) =>
    perform(db, { tenantId }, handlers.quarantineDeadLetters, QuarantineDeadLettersRequestSchema, {
      poolId,
      queueItemIds,
      release,
    });
  const counts = { retried: 0, failed: 0 };
  const work = Array.from({ length: callers }, async (_, n) => {
    for (let round = 0; round < 6; round++) {
      const from = (n * 10 + round * 40) % 300;
      const some = ids.slice(from, from + 50).reverse();
      const answer =
        n % 4 === 0
          ? await retryAll(tenantId, poolId)
          : n % 4 === 1
            ? await retry(tenantId, poolId, some)
            : n % 4 === 2
              ? { failed: await failAgain(tenantId, poolId) }
              : await quarantine(some, round % 2 === 1);
      if ("retriedCount" in answer) counts.retried += Number(answer.retriedCount);
      if ("failed" in answer) counts.failed += answer.failed;
    }
  });
  await Promise.all(work);
  const { retried, failed } = counts;
  const letters = await lettersOf(tenantId);
  assert.equal(letters.length, ids.length);
  for (const { state, itemState, retryCount, maxRetries } of letters) {
    assert.ok(retryCount <= maxRetries);
    assert.equal(itemState, state === "retrying" ? "ready" : "dead_lettered");
  }
  const waiting = letters.filter((letter) => letter.state === "retrying").length;
  assert.equal(retried - failed, waiting);
  assert.equal(
    letters.reduce((sum, letter) => sum + letter.retryCount, 0),
    retried,
  );
  assert.equal(await depthOf(tenantId, poolId), retried);

  // Some callers purge the remaining failed letters while others retry them: each item is either purged or retried.
  const before = letters.filter((letter) => letter.state === "failed");
  const removals = await Promise.all(
    Array.from({ length: callers }, async (_, n) => {
      if (n % 2 === 0) {
        const { retriedCount } = await retryAll(tenantId, poolId);
        return { back: Number(retriedCount), gone: 0 };
      }
      const { purgedCount } = await perform(
        db,
        { tenantId },
        handlers.purgeDeadLetters,
        PurgeDeadLettersRequestSchema,
        { poolId },
      );
      return { back: 0, gone: Number(purgedCount) };
    }),
  );
  const back = removals.reduce((sum, each) => sum + each.back, 0);
  const gone = removals.reduce((sum, each) => sum + each.gone, 0);
  assert.equal(back + gone, before.length);
  const [items] = await db.sql<{ count: number }[]>`
    select count(*) from queue_items where tenant_id = ${tenantId}`;
  assert.equal(items!.count, ids.length - gone);
});
