import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { timestampDate, timestampFromDate } from "@bufbuild/protobuf/wkt";
import {
  GetDeadLetterStatsRequestSchema,
  ListDeadLettersRequestSchema,
  PurgeDeadLettersRequestSchema,
  QuarantineDeadLettersRequestSchema,
  RetryAllDeadLettersRequestSchema,
  RetryDeadLettersRequestSchema,
} from "../../../../gen/service/api/dead_letter_pb.ts";
import { announcedChanges } from "../../../../test/harness/changes.ts";
import {
  type ContextChoice,
  failsWith,
  freshTenant,
  perform,
  recordedEvents,
  testDatabase,
} from "../../../../test/harness/context.ts";
import type { TenantId } from "../../../platform/access/index.ts";
import { urlRefusal } from "../../../platform/egress/index.ts";
import { createPools, recipientLoadStore } from "../pools/index.ts";
import { archiveTracked, closeEmptyQueue } from "../queues/index.ts";
import { createDeadLetterFixture } from "./testing/dead-letter-fixture.ts";

const db = await testDatabase();
const pools = createPools({
  db,
  changes: announcedChanges().changes,
  events: recordedEvents(),
  loads: recipientLoadStore,
  closeQueue: closeEmptyQueue,
  urlRefusal,
});
const module = createDeadLetterFixture(db, pools);
const { handlers, events, clock, newPool, newLetters, newLetter, rowsOf, depthOf } = module;
const dayMs = 86_400_000;

const at = (choice: ContextChoice): ContextChoice => ({ nowMs: clock.at, ...choice });
const list = (choice: ContextChoice, request: object) =>
  perform(db, at(choice), handlers.listDeadLetters, ListDeadLettersRequestSchema, request);
const stats = async (choice: ContextChoice, poolId: string) =>
  (await perform(db, at(choice), handlers.getDeadLetterStats, GetDeadLetterStatsRequestSchema, { poolId })).stats!;
const retry = (choice: ContextChoice, poolId: string, queueItemIds: string[]) =>
  perform(db, at(choice), handlers.retryDeadLetters, RetryDeadLettersRequestSchema, { poolId, queueItemIds });
const retryAll = (choice: ContextChoice, poolId: string, maxItems = 0) =>
  perform(db, at(choice), handlers.retryAllDeadLetters, RetryAllDeadLettersRequestSchema, { poolId, maxItems });
const quarantine = (choice: ContextChoice, poolId: string, queueItemIds: string[], more: object = {}) =>
  perform(db, at(choice), handlers.quarantineDeadLetters, QuarantineDeadLettersRequestSchema, {
    poolId,
    queueItemIds,
    ...more,
  });
const purge = (choice: ContextChoice, poolId: string, more: object = {}) =>
  perform(db, at(choice), handlers.purgeDeadLetters, PurgeDeadLettersRequestSchema, { poolId, ...more });

async function newPoolOf(count: number, letter = {}): Promise<{ tenantId: TenantId; poolId: string; ids: string[] }> {
  const tenantId = freshTenant();
  const poolId = await newPool(tenantId);
  const ids = await newLetters(tenantId, poolId, Array(count).fill({ letter }));
  return { tenantId, poolId, ids };
}

test("a letter shows what failed, in which phase and why, and a digest in place of the payload", async () => {
  const tenantId = freshTenant();
  const poolId = await newPool(tenantId);
  const [id] = await newLetters(tenantId, poolId, [{ payload: { card: "4111" }, letter: { phase: "lease" } }]);
  const [letter] = (await list({ tenantId }, { poolId })).deadLetters;
  assert.deepEqual(
    [letter!.queueItemId, letter!.poolId, letter!.tenantId, letter!.state, letter!.reasonCode, letter!.phase],
    [id, poolId, tenantId, "failed", "worker_failed", "lease"],
  );
  assert.deepEqual([letter!.type, letter!.key, letter!.retryCount, letter!.maxRetries], ["lead", `key-${id}`, 0, 3]);
  assert.deepEqual(
    letter!.attempts.map((each) => [each.attempt, each.reason]),
    [[5, "no"]],
  );
  assert.equal(timestampDate(letter!.attempts[0]!.failedAt!).getTime(), clock.at);
  assert.equal(letter!.payloadDigest, createHash("sha256").update('{"card": "4111"}').digest("hex"));
  assert.doesNotMatch(
    JSON.stringify(letter, (_, value) => (typeof value === "bigint" ? `${value}` : value)),
    /4111/,
  );
});

test("letters are listed newest first, page after page, and quarantined ones only on request", async () => {
  const { tenantId, poolId, ids } = await newPoolOf(5);
  await quarantine({ tenantId }, poolId, [ids[2]!]);
  const first = await list({ tenantId }, { poolId, pageSize: 2 });
  const second = await list({ tenantId }, { poolId, pageSize: 2, pageToken: first.nextPageToken });
  assert.deepEqual(
    [...first.deadLetters, ...second.deadLetters].map((letter) => letter.queueItemId),
    [ids[4], ids[3], ids[1], ids[0]],
  );
  assert.deepEqual([first.totalSize, second.totalSize, second.nextPageToken], [4, 4, ""]);
  const aside = await list({ tenantId }, { poolId, state: "quarantined" });
  assert.deepEqual(
    aside.deadLetters.map((letter) => letter.queueItemId),
    [ids[2]],
  );
  await assert.rejects(
    list({ tenantId }, { poolId, state: "quarantined", pageToken: first.nextPageToken }),
    failsWith("INVALID_ARGUMENT", /page_token/),
  );
});

test("the letters of all pools are one list, with each item once, of the environments that the caller may use", async () => {
  const { tenantId, poolId, ids } = await newPoolOf(2);
  const production = await newPool(tenantId, {}, "production");
  const [newest] = await newLetters(tenantId, production, [{}]);
  await newPoolOf(1);
  // A retried item that another pool got can fail there, too.
  await db.transaction((tx) => module.record(tx, tenantId, [newLetter(production, ids[1]!)]));
  const first = await list({ tenantId }, { poolId: "-", pageSize: 2 });
  const second = await list({ tenantId }, { poolId: "-", pageSize: 2, pageToken: first.nextPageToken });
  assert.deepEqual(
    [...first.deadLetters, ...second.deadLetters].map((letter) => [letter.queueItemId, letter.poolId]),
    [
      [newest, production],
      [ids[1], production],
      [ids[0], poolId],
    ],
  );
  assert.deepEqual([first.totalSize, second.nextPageToken], [3, ""]);
  const confined = { tenantId, environmentMode: "production_only" } as const;
  const seen = (await list(confined, { poolId: "-" })).deadLetters;
  assert.deepEqual(
    seen.map((letter) => letter.queueItemId),
    [newest, ids[1]],
  );
  assert.deepEqual([(await stats({ tenantId }, "-")).depth, (await stats(confined, "-")).depth], [4n, 2n]);
});

test("a retried item is ready again like a new item, and its letter stays and counts the retry", async () => {
  const tenantId = freshTenant();
  const poolId = await newPool(tenantId, { queue: { ttlS: 3600, ageingS: 60 } });
  const [id] = await newLetters(tenantId, poolId, [{ priority: 2 }]);
  module.woken.length = 0;
  const answer = await retry({ tenantId }, poolId, [id!]);
  assert.deepEqual([answer.retriedCount, answer.skipped.length], [1n, 0]);
  const { item, letter } = await rowsOf(tenantId, id!);
  assert.deepEqual(
    [item!.state, item!.attempt, item!.failures, item!.leaseToken, item!.leasedAt, item!.endedAt, item!.dueAt],
    ["ready", 0, [], "", null, null, null],
  );
  // The recipient is chosen again, and the item is marked as having a letter.
  assert.deepEqual([item!.recipientId, item!.delivery, item!.revived], ["", "pull", true]);
  // Two points of priority are worth two times 60 s of waiting.
  assert.equal(item!.rank, clock.at - 120_000);
  assert.equal(item!.expiresAt.getTime(), clock.at + 3_600_000);
  assert.deepEqual([letter!.state, letter!.retryCount], ["retrying", 1]);
  assert.equal(await depthOf(tenantId, poolId), 1);
  assert.deepEqual(module.woken, [tenantId + poolId]);
  const last = events.recorded.at(-1)!;
  assert.deepEqual(last, { tenantId, type: "dead_letter.retried", subject: poolId, data: { count: 1, all: false } });
});

test("a retried item inherits no waits from earlier searches for a recipient", async () => {
  const tenantId = freshTenant();
  const poolId = await newPool(tenantId);
  const [id] = await newLetters(tenantId, poolId, [{}]);
  await db.sql`
    update queue_items set assign_tries = 7, assign_reason = 'all_ejected', assign_snapshot = 's',
      assign_after = now() + interval '1 hour'
    where tenant_id = ${tenantId} and id = ${id!}`;
  await retry({ tenantId }, poolId, [id!]);
  const { item } = await rowsOf(tenantId, id!);
  assert.deepEqual(
    [item!.assignTries, item!.assignReason, item!.assignSnapshot, item!.assignAfter],
    [null, null, null, null],
  );
});

test("a retried item of a pool without constraints is in no group", async () => {
  const tenantId = freshTenant();
  const poolId = await newPool(tenantId);
  const [id] = await newLetters(tenantId, poolId, [{ concurrencyGroup: "g" }]);
  await retry({ tenantId }, poolId, [id!]);
  const { item } = await rowsOf(tenantId, id!);
  assert.deepEqual([item!.state, item!.holdReason, item!.concurrencyGroup], ["ready", "", ""]);
  assert.equal(await depthOf(tenantId, poolId), 1);
});

test("each named item that is not retried is reported with the reason, and stays unchanged", async () => {
  const { tenantId, poolId, ids } = await newPoolOf(4);
  const [fine, aside, back, spent] = ids as [string, string, string, string];
  const other = await newPoolOf(1);
  await quarantine({ tenantId }, poolId, [aside]);
  await retry({ tenantId }, poolId, [back]);
  await db.sql`update dead_letters set retry_count = max_retries where tenant_id = ${tenantId} and queue_item_id = ${spent}`;
  const answer = await retry({ tenantId }, poolId, [spent, "nothing", aside, fine, back, other.ids[0]!]);
  assert.equal(answer.retriedCount, 1n);
  assert.deepEqual(
    answer.skipped.map((each) => [each.queueItemId, each.reason]),
    [
      [spent, "max_retries"],
      ["nothing", "not_found"],
      [aside, "quarantined"],
      [back, "retrying"],
      [other.ids[0], "not_found"],
    ],
  );
  assert.equal(await depthOf(tenantId, poolId), 2);
  assert.equal((await rowsOf(tenantId, aside)).item!.state, "dead_lettered");
  assert.equal((await rowsOf(tenantId, spent)).item!.state, "dead_lettered");
  assert.equal((await rowsOf(other.tenantId, other.ids[0]!)).letter!.state, "failed");
});

test("an item that fails again keeps its identity, its count and its earlier attempts", async () => {
  const { tenantId, poolId, ids } = await newPoolOf(1);
  await retry({ tenantId }, poolId, ids);
  const again = newLetter(poolId, ids[0]!, {
    reasonCode: "lease_expired",
    phase: "lease",
    maxRetries: 99,
    failedAt: new Date(clock.at + 5000),
    attempts: [{ attempt: 1, reasonCode: "lease_expired" }],
  });
  await db.transaction((tx) => module.record(tx, tenantId, [again]));
  const { letter } = await rowsOf(tenantId, ids[0]!);
  assert.deepEqual(
    [letter!.state, letter!.reasonCode, letter!.phase, letter!.retryCount, letter!.maxRetries],
    ["failed", "lease_expired", "lease", 1, 3],
  );
  assert.deepEqual([letter!.firstFailedAt.getTime(), letter!.lastFailedAt.getTime()], [clock.at, clock.at + 5000]);
  assert.deepEqual(
    letter!.attempts.map((each: { attempt: number }) => each.attempt),
    [5, 1],
  );
});

test("a letter keeps its last hundred attempts, in their order", async () => {
  const { tenantId, poolId, ids } = await newPoolOf(1);
  const attempts = Array.from({ length: 150 }, (_, n) => ({ attempt: n + 1 }));
  await db.transaction((tx) =>
    module.record(tx, tenantId, [newLetter(poolId, ids[0]!, { attempts: attempts.slice(0, 70) })]),
  );
  await db.transaction((tx) =>
    module.record(tx, tenantId, [newLetter(poolId, ids[0]!, { attempts: attempts.slice(70) })]),
  );
  const { letter } = await rowsOf(tenantId, ids[0]!);
  assert.deepEqual(letter!.attempts, attempts.slice(50));
});

test("many letters are recorded together, one of them twice, each with its last failure", async () => {
  const { tenantId, poolId, ids } = await newPoolOf(3);
  const late = { reasonCode: "late", failedAt: new Date(clock.at + 9) };
  const letters = [...ids].reverse().map((id) => newLetter(poolId, id, { reasonCode: "early" }));
  await db.transaction((tx) => module.record(tx, tenantId, [...letters, newLetter(poolId, ids[1]!, late)]));
  const rows = await db.sql`
    select reason_code from dead_letters where tenant_id = ${tenantId} order by queue_item_id`;
  assert.deepEqual(
    rows.map((row) => row.reasonCode),
    ["early", "late", "early"],
  );
});

test("only the letter of a retried item that ended is deleted", async () => {
  const { tenantId, poolId, ids } = await newPoolOf(3);
  await retry({ tenantId }, poolId, [ids[0]!, ids[1]!]);
  const ended = [ids[0]!, ids[2]!].map((id) => ({ poolId, id }));
  await db.transaction((tx) => module.deleteResolved(tx, tenantId, ended));
  const left = await db.sql`select queue_item_id from dead_letters where tenant_id = ${tenantId} order by 1`;
  assert.deepEqual(
    left.map((row) => row.queueItemId),
    [ids[1], ids[2]],
  );
});

test("letters change their pool with their items, unless the other pool has a letter of the item already", async () => {
  const { tenantId, poolId, ids } = await newPoolOf(3);
  const [moved, known, other] = ids as [string, string, string];
  const targetId = await newPool(tenantId);
  await db.transaction((tx) => module.record(tx, tenantId, [newLetter(targetId, known)]));
  await db.transaction((tx) => module.changePool(tx, tenantId, [moved, known], poolId, targetId));
  const letters = await db.sql`
    select queue_item_id, pool_id from dead_letters where tenant_id = ${tenantId} order by pool_id, queue_item_id`;
  assert.deepEqual(
    letters.map((letter) => [letter.queueItemId, letter.poolId]),
    [
      [known, poolId],
      [other, poolId],
      [moved, targetId],
      [known, targetId],
    ],
  );
});

test("retry-all requeues the oldest failures first, up to the requested number, and counts the rest", async () => {
  const { tenantId, poolId, ids } = await newPoolOf(6);
  const [aside, spent] = ids as [string, string];
  for (const [n, id] of ids.entries())
    await db.sql`update dead_letters set last_failed_at = ${new Date(clock.at - n * 1000)} where queue_item_id = ${id}`;
  await quarantine({ tenantId }, poolId, [aside]);
  await db.sql`update dead_letters set retry_count = 3 where queue_item_id = ${spent}`;
  const some = await retryAll({ tenantId }, poolId, 3);
  assert.deepEqual([some.retriedCount, some.skippedCount, some.remainingCount], [3n, 1n, 1n]);
  const back = await list({ tenantId }, { poolId, state: "retrying" });
  assert.deepEqual(
    back.deadLetters.map((letter) => letter.queueItemId),
    [ids[5], ids[4], ids[3]],
  );
  const rest = await retryAll({ tenantId }, poolId);
  assert.deepEqual([rest.retriedCount, rest.skippedCount, rest.remainingCount], [1n, 1n, 0n]);
  const none = await retryAll({ tenantId }, poolId);
  assert.deepEqual([none.retriedCount, none.skippedCount], [0n, 1n]);
  assert.equal((await rowsOf(tenantId, aside)).letter!.state, "quarantined");
  assert.equal(await depthOf(tenantId, poolId), 4);
  const retriedEvents = events.recorded.filter(
    (event) => event.subject === poolId && event.type === "dead_letter.retried",
  );
  assert.deepEqual(
    retriedEvents.map((event) => event.data),
    [
      { count: 3, all: true },
      { count: 1, all: true },
    ],
  );
});

test("retry-all uses several batches, and stops at ten thousand", async () => {
  const { tenantId, poolId } = await newPoolOf(10_001);
  const answer = await retryAll({ tenantId }, poolId);
  assert.deepEqual([answer.retriedCount, answer.remainingCount], [10_000n, 1n]);
  assert.equal(await depthOf(tenantId, poolId), 10_000);
});

test("a quarantined item is not retried until it is released", async () => {
  const { tenantId, poolId, ids } = await newPoolOf(2);
  const set = await quarantine({ tenantId }, poolId, [ids[0]!, "nothing"], { reason: "looks odd" });
  assert.deepEqual([set.changedCount, set.skipped.map((each) => each.reason)], [1n, ["not_found"]]);
  assert.deepEqual(events.recorded.at(-1)!.data, { count: 1, reason: "looks odd" });
  const again = await quarantine({ tenantId }, poolId, [ids[0]!]);
  assert.deepEqual([again.changedCount, again.skipped[0]!.reason], [0n, "quarantined"]);
  const freed = await quarantine({ tenantId }, poolId, ids, { release: true });
  assert.deepEqual([freed.changedCount, freed.skipped[0]!.reason], [1n, "not_quarantined"]);
  assert.equal(events.recorded.at(-1)!.type, "dead_letter.released");
  assert.equal((await retry({ tenantId }, poolId, [ids[0]!])).retriedCount, 1n);
});

test("the stats count failed, quarantined and exhausted letters, and name the oldest failure", async () => {
  const { tenantId, poolId, ids } = await newPoolOf(5);
  await quarantine({ tenantId }, poolId, [ids[0]!]);
  await retry({ tenantId }, poolId, [ids[1]!]);
  await db.sql`update dead_letters set retry_count = 3 where queue_item_id = ${ids[2]!}`;
  const oldest = new Date(clock.at - 77_000);
  await db.sql`update dead_letters set last_failed_at = ${oldest} where queue_item_id = ${ids[3]!}`;
  const found = await stats({ tenantId }, poolId);
  assert.deepEqual([found.depth, found.quarantinedCount, found.exhaustedCount], [3n, 1n, 1n]);
  assert.deepEqual(timestampDate(found.oldestFailureAt!), oldest);
  const empty = await stats({ tenantId }, await newPool(tenantId));
  assert.deepEqual([empty.depth, empty.oldestFailureAt], [0n, undefined]);
});

test("a purge deletes letter, item and decision of failures before a given time", async () => {
  const { tenantId, poolId, ids } = await newPoolOf(3);
  const neighbour = await newLetters(tenantId, await newPool(tenantId), [{}]);
  await db.sql`update dead_letters set last_failed_at = ${new Date(clock.at - dayMs)} where queue_item_id = ${ids[1]!}`;
  const olderThan = timestampFromDate(new Date(clock.at));
  const answer = await purge({ tenantId }, poolId, { olderThan });
  assert.deepEqual([answer.purgedCount, answer.remainingCount], [1n, 0n]);
  assert.deepEqual(await rowsOf(tenantId, ids[1]!), { item: undefined, letter: undefined, decision: undefined });
  assert.deepEqual(events.recorded.at(-1)!.data, {
    count: 1,
    older_than: new Date(clock.at).toISOString(),
    quarantined: false,
  });
  const rest = await purge({ tenantId }, poolId);
  assert.equal(rest.purgedCount, 2n);
  const { item, letter, decision } = await rowsOf(tenantId, neighbour[0]!);
  assert.ok(item && letter && decision);
});

test("a purge deletes quarantined letters only on request, and retried ones never", async () => {
  const { tenantId, poolId, ids } = await newPoolOf(3);
  await quarantine({ tenantId }, poolId, [ids[0]!]);
  await retry({ tenantId }, poolId, [ids[1]!]);
  assert.equal((await purge({ tenantId }, poolId)).purgedCount, 1n);
  assert.equal((await rowsOf(tenantId, ids[0]!)).letter!.state, "quarantined");
  assert.equal((await purge({ tenantId }, poolId, { includeQuarantined: true })).purgedCount, 1n);
  assert.equal((await rowsOf(tenantId, ids[0]!)).item, undefined);
  const { item, letter, decision } = await rowsOf(tenantId, ids[1]!);
  assert.ok(decision);
  assert.deepEqual([item!.state, letter!.state], ["ready", "retrying"]);
});

test("a purge uses several batches", async () => {
  const { tenantId, poolId } = await newPoolOf(5001);
  assert.equal((await purge({ tenantId }, poolId)).purgedCount, 5001n);
  assert.equal((await list({ tenantId }, { poolId })).totalSize, 0);
});

test("another tenant's pool is not found, and one in an environment that is not the caller's is refused", async () => {
  const tenantId = freshTenant();
  const poolId = await newPool(tenantId, {}, "production");
  const sandbox = await newPool(tenantId, {}, "staging");
  const ids = await newLetters(tenantId, poolId, [{}]);
  const refused = async (choice: ContextChoice, pool: string, refusal: (error: unknown) => boolean) => {
    await assert.rejects(list(choice, { poolId: pool }), refusal);
    await assert.rejects(stats(choice, pool), refusal);
    await assert.rejects(retry(choice, pool, ids), refusal);
    await assert.rejects(retryAll(choice, pool), refusal);
    await assert.rejects(quarantine(choice, pool, ids), refusal);
    await assert.rejects(purge(choice, pool, { includeQuarantined: true }), refusal);
  };
  await refused({ tenantId: freshTenant() }, poolId, failsWith("NOT_FOUND", /pool/));
  await refused({ tenantId, environmentMode: "non_production_only" }, poolId, failsWith("PERMISSION_DENIED"));
  await refused({ tenantId, environmentMode: "production_only" }, sandbox, failsWith("PERMISSION_DENIED"));
  assert.equal((await stats({ tenantId, environmentMode: "production_only" }, poolId)).depth, 1n);
  assert.equal((await rowsOf(tenantId, ids[0]!)).letter!.retryCount, 0);
});

test("letters are retained as long as their pool is configured, quarantined ones longer, and ended ones are deleted", async () => {
  const tenantId = freshTenant();
  const short = await newPool(tenantId, { dlq: { retentionDays: 2 } });
  const usual = await newPool(tenantId);
  const aged = (days: number) => ({ letter: { failedAt: new Date(clock.at - days * dayMs - 1) } });
  const [gone, kept] = await newLetters(tenantId, short, [aged(2), aged(1)]);
  const [old, young, aside, done, waits] = await newLetters(tenantId, usual, [
    aged(14),
    aged(13),
    aged(99),
    aged(15),
    aged(15),
  ]);
  await quarantine({ tenantId }, usual, [aside!]);
  await retry({ tenantId }, usual, [done!, waits!]);
  await db.sql`
    with ended as (
      delete from queue_items where tenant_id = ${tenantId} and id = ${done!} returning *
    ), ${archiveTracked(db.sql, new Date(clock.at))}
    select`;
  const signal = new AbortController().signal;
  await module.jobs[0]!.handler({ tenantId, id: "", payload: {}, attempt: 1, signal });
  const left = await db.sql`select queue_item_id from dead_letters where tenant_id = ${tenantId}`;
  assert.deepEqual(new Set(left.map((row) => row.queueItemId)), new Set([kept, young, aside, waits]));
  for (const id of [gone!, old!]) assert.deepEqual((await rowsOf(tenantId, id)).item, undefined);
  assert.equal((await rowsOf(tenantId, old!)).decision, undefined);
  assert.ok((await rowsOf(tenantId, done!)).decision);
});
