import assert from "node:assert/strict";
import { after, beforeEach, test } from "node:test";
import type { DescMethod } from "@bufbuild/protobuf";
import { freshTenant, recordedEvents, testDatabase } from "../../../../test/harness/context.ts";
import { until } from "../../../../test/harness/until.ts";
import type { OperationCaller } from "../../../chain/operation-caller.ts";
import { fail } from "../../../errors/index.ts";
import type { TenantId } from "../../../platform/access/index.ts";
import { createSignals } from "../../../platform/db/index.ts";
import { lowestUlid, ulid } from "../../../platform/ids/ulid.ts";
import { createLog } from "../../../platform/log/log.ts";
import { createShards, shardOf } from "../../../platform/shards/index.ts";
import { type ScheduleRun, shardCount, type Timing } from "./domain/schedule.ts";
import { createRunRouter, type RunAttempt, type RunRouter } from "./run-router.ts";
import { type RunResult, runStore, type UnsettledRun } from "./run-store.ts";
import { scheduleStore } from "./schedule-store.ts";
import { createItemScheduleWorker } from "./schedule-worker.ts";

const db = await testDatabase();
const signals = createSignals(db);
await signals.start();
after(() => signals.stop());
const log = createLog("silent");
const minuteMs = 60_000;
// Only the tests move the clock. Each starts with a minute.
let nowMs = Date.now();
beforeEach(() => {
  nowMs += minuteMs - (nowMs % minuteMs);
});
const clock = { now: () => nowMs };
// Longer than all tests.
const shards = createShards({ db, clock, log, signals, kind: "schedules", count: shardCount, leaseMs: 86_400_000 });
shards.start();
after(() => shards.stop());
await until(() => shards.owned().size === shardCount);

const routed: RunResult = {
  ...{ state: "routed", itemId: "item", decisionId: "item", outcome: "queued", errorCode: "", errorMessage: "" },
  permanent: false,
};

const full: RunAttempt = { state: "postponed", errorCode: "routing_failed", errorMessage: "The queue is full." };
/** An attempt that may have routed the item. */
const undecided: RunAttempt = { state: "postponed", errorCode: "", errorMessage: "" };

/** A node whose router answers as given. Returns the runs it was asked to route, the items it cancelled and the states it counted. */
function nodeWith(route: (run: ScheduleRun) => Promise<RunAttempt>) {
  const seen: ScheduleRun[] = [];
  const cancelled: string[] = [];
  const router: RunRouter = {
    route: (run, { replaced }) => {
      seen.push(run);
      cancelled.push(...replaced.map(({ id }) => id));
      return route(run);
    },
  };
  return { seen, cancelled, ...workerWith(router) };
}

/** A node that calls operations as given. */
const nodeCalling = (call: (method: DescMethod) => Promise<unknown>) =>
  workerWith(createRunRouter(call as OperationCaller));

function workerWith(router: RunRouter) {
  const counted: string[] = [];
  const events = recordedEvents() as never;
  const countRun = (_tenantId: string, state: string) => void counted.push(state);
  const parts = { db, signals, clock, log, shards, events, router, countRun, topic: "schedules" };
  return { counted, ...createItemScheduleWorker(parts) };
}

/** Stores a schedule that is due now. It is the only one. */
async function storeSchedule(timing: Partial<Timing> = {}) {
  await db.sql`delete from routing_schedules`;
  const tenantId = freshTenant();
  const now = new Date(clock.now());
  await db.sql`
    insert into tenants (id, name, slug, status, created_at, updated_at)
    values (${tenantId}, 'test', ${tenantId.toLowerCase()}, 'active', ${now}, ${now})`;
  const id = ulid(now.getTime());
  const nextAt = new Date(Math.floor(now.getTime() / minuteMs) * minuteMs);
  const times = { cron: "* * * * *", timezone: "UTC", catchUpS: 60, jitterS: 0 };
  const schedule = {
    ...{ tenantId, id, environmentId: ulid(0), environmentKey: "production", poolId: ulid(0), name: "tick" },
    timing: { ...times, overlap: "allow", catchUp: "latest", ...timing } as const,
    item: { pool_id: "pool", type: "tick", key: "=string(schedule.time)" },
    paused: false,
    pausedReason: "" as const,
    pausedBy: "",
    createdAt: now,
  };
  await scheduleStore(db.sql).insert(schedule, shardOf(tenantId, shardCount), { nextAt, firesAt: nextAt });
  const runs = async () =>
    db.sql<UnsettledRun[]>`select * from routing_schedule_runs where schedule_id = ${id} order by id`;
  return { tenantId, id, runs };
}

test("a node that takes over repeats the same run with the same request, even if the schedule was changed", async () => {
  const { tenantId, id, runs } = await storeSchedule();
  const dying = nodeWith(() => Promise.reject(new Error("The node died.")));
  await dying.sweep();
  assert.equal((await runs())[0]!.state, "starting");
  const changed = { item: { pool_id: "pool", type: "other" } };
  await scheduleStore(db.sql).update(tenantId, id, changed, undefined, new Date());
  const next = nodeWith(async () => routed);
  await next.sweep();
  assert.deepEqual(
    next.seen.map((run) => [run.id, run.request]),
    dying.seen.map((run) => [run.id, run.request]),
  );
  const [run, ...others] = await runs();
  assert.deepEqual([run!.state, run!.itemId, run!.request, others.length], ["routed", "item", null, 0]);
});

test("a run that cannot be routed now is attempted again later, and keeps its place", async () => {
  const { runs } = await storeSchedule({ overlap: "skip" });
  const busy = nodeWith(async () => full);
  await busy.sweep();
  await busy.sweep();
  assert.equal(busy.seen.length, 1, "it is not attempted before its back-off has passed");
  nowMs += 3000;
  const free = nodeWith(async () => routed);
  await free.sweep();
  assert.equal(free.seen.length, 1);
  assert.deepEqual(
    (await runs()).map(({ state }) => state),
    ["routed"],
  );
});

test("a run that is given up after 30 minutes ends with the error of its last attempt", async () => {
  const { id, runs } = await storeSchedule({ catchUpS: 7200, cron: "0 3 1 1 *" });
  const busy = nodeCalling(() => Promise.reject(fail("ROUTING_FAILED", { public: "The queue is full." })));
  await busy.sweep();
  nowMs += 29 * minuteMs;
  await busy.sweep();
  assert.equal((await runs())[0]!.state, "starting");
  nowMs += 2 * minuteMs;
  await busy.sweep();
  const [run] = await runs();
  assert.deepEqual([run!.state, run!.errorCode, run!.errorMessage], ["failed", "routing_failed", "The queue is full."]);
  const [schedule] = await db.sql<{ lastError: string }[]>`select last_error from routing_schedules where id = ${id}`;
  assert.equal(schedule!.lastError, "The queue is full.");
});

test("a run that may have routed its item and is given up after 30 minutes says that the outcome is unknown", async () => {
  const { runs } = await storeSchedule({ catchUpS: 7200, cron: "0 3 1 1 *" });
  const busy = nodeCalling(() => Promise.reject(fail("IDEMPOTENCY_IN_PROGRESS", { public: "In progress." })));
  await busy.sweep();
  nowMs += 31 * minuteMs;
  await busy.sweep();
  const [run] = await runs();
  assert.deepEqual([run!.state, run!.errorCode], ["failed", "outcome_unknown"]);
  assert.match(run!.errorMessage, /^It is unknown whether the item was routed/);
});

/** Stores an unfinished item. */
async function storeItem(tenantId: TenantId): Promise<string> {
  const id = ulid(clock.now());
  await db.sql`
    insert into queue_items (tenant_id, id, pool_id, state, priority, rank, expires_at, type, key, attributes,
      requirements, payload, decided_priority, outcome, decided_for, snapshot_digest, seed, evidence)
    values (${tenantId}, ${id}, ${id}, 'ready', 0, 0, now() + interval '1 hour', 't', '', '{}', '{}', '{}', 0, 'queued',
      '', '00', 0, '{}')`;
  return id;
}

/** Stores a run that somebody fired after all runs so far. */
async function fireByHand(tenantId: TenantId, scheduleId: string): Promise<void> {
  nowMs++;
  const time = new Date(clock.now());
  const fired = { tenantId, scheduleId, id: ulid(clock.now()), time, cause: "manual", state: "starting" } as const;
  await runStore(db.sql).insertRuns([{ ...fired, request: {}, dueAt: time, errorCode: "", errorMessage: "" }], time);
  await scheduleStore(db.sql).refreshDue(tenantId, scheduleId);
}

test("with cancel_running, a run whose item could not be routed is skipped when the next time comes", async () => {
  const { id, runs } = await storeSchedule({ overlap: "cancel_running" });
  const busy = nodeWith(async () => full);
  for (let nth = 0; nth < 3; nth++) {
    await busy.sweep();
    nowMs += nth < 2 ? minuteMs : 3000;
  }
  const free = nodeWith(async () => routed);
  await free.sweep();
  assert.equal(free.seen.length, 1, "only the newest run routes its item");
  const states = (await runs()).map(({ state, errorCode, request }) => [state, errorCode, request]);
  const skipped = ["skipped", "routing_failed", null];
  assert.deepEqual(states, [skipped, skipped, ["routed", "", null]]);
  assert.deepEqual([busy.counted, free.counted], [["skipped", "skipped"], ["routed"]]);
  nowMs += minuteMs;
  await busy.sweep();
  nowMs += minuteMs;
  await busy.sweep();
  const [schedule] = await db.sql<{ lastError: string }[]>`select last_error from routing_schedules where id = ${id}`;
  assert.equal(schedule!.lastError, full.errorMessage);
});

test("with cancel_running, a run that was postponed never cancels the item of a newer run", async () => {
  const { tenantId, runs } = await storeSchedule({ overlap: "cancel_running" });
  // It is attempted again, because only its idempotency key tells whether it has an item.
  await nodeWith(async () => undecided).sweep();
  const [first] = await runs();
  nowMs += minuteMs;
  const newer = await storeItem(tenantId);
  await nodeWith(async ({ id }) => (id === first!.id ? undecided : { ...routed, itemId: newer })).sweep();
  nowMs += 3000;
  const older = await storeItem(tenantId);
  const late = nodeWith(async () => ({ ...routed, itemId: older }));
  await late.sweep();
  assert.deepEqual([late.seen.map(({ id }) => id), late.cancelled], [[first!.id], []]);
  nowMs += minuteMs;
  const next = nodeWith(async () => routed);
  await next.sweep();
  assert.deepEqual(next.cancelled.toSorted(), [newer, older].toSorted(), "the next time replaces both");
});

/** A node that cannot cancel items now. It could route them. */
function nodeUnableToCancel() {
  const calls: string[] = [];
  const worker = nodeCalling(async ({ name }) => {
    calls.push(name);
    if (name === "CancelQueueItem") throw fail("UNAVAILABLE", { public: "The node is busy." });
    return { decision: { decisionId: "d", outcome: "queued", reason: "", queueItemId: "own", existingItemId: "" } };
  });
  return { calls, ...worker };
}

test("with cancel_running, an item that cannot be cancelled now holds up only its run, which is attempted later", async () => {
  const { tenantId, id, runs } = await storeSchedule({ overlap: "cancel_running", catchUpS: 300 });
  const item = await storeItem(tenantId);
  await nodeWith(async () => ({ ...routed, itemId: item })).sweep();
  nowMs += minuteMs;
  const busy = nodeUnableToCancel();
  await busy.sweep();
  assert.deepEqual(busy.calls, ["CancelQueueItem"]);
  const [, postponed] = await runs();
  assert.ok(postponed!.dueAt!.getTime() >= postponed!.createdAt.getTime() + 2000, "it is attempted after a back-off");
  assert.deepEqual([postponed!.state, postponed!.errorCode], ["starting", "unavailable"]);
  assert.equal(postponed!.errorMessage, "An earlier item could not be cancelled: The node is busy.");

  await fireByHand(tenantId, id);
  nowMs += 3000;
  await busy.sweep();
  assert.deepEqual(busy.calls, ["CancelQueueItem", "CancelQueueItem", "Route"], "the run fired by hand is routed");

  nowMs += minuteMs;
  await busy.sweep();
  nowMs += 3000;
  const free = nodeWith(async () => routed);
  await free.sweep();
  const [newest] = (await runs()).filter(({ cause }) => cause === "schedule").toReversed();
  assert.deepEqual([free.seen.map((run) => run.id), free.cancelled], [[newest!.id], [item]]);
  assert.deepEqual(
    (await runs()).filter(({ cause }) => cause === "schedule").map(({ state }) => state),
    ["routed", "skipped", "routed"],
  );
});

test("with cancel_running, a run that could not cancel an earlier item until the limit fails", async () => {
  const { tenantId, id, runs } = await storeSchedule({ overlap: "cancel_running" });
  const item = await storeItem(tenantId);
  await nodeWith(async () => ({ ...routed, itemId: item })).sweep();
  nowMs += minuteMs;
  const busy = nodeUnableToCancel();
  await busy.sweep();
  // No further time, so that none supersedes the run.
  await db.sql`update routing_schedules set next_at = null, fires_at = null where id = ${id}`;
  nowMs += 2 * minuteMs;
  await busy.sweep();
  assert.deepEqual(busy.calls, ["CancelQueueItem", "CancelQueueItem"]);
  const [, run] = await runs();
  assert.deepEqual([run!.state, run!.errorCode, busy.counted], ["failed", "unavailable", ["failed"]]);
});

test("with cancel_running, a run whose expression fails leaves the earlier item alone", async () => {
  const { tenantId, id, runs } = await storeSchedule({ overlap: "cancel_running" });
  const item = await storeItem(tenantId);
  await nodeWith(async () => ({ ...routed, itemId: item })).sweep();
  const broken = { item: { pool_id: "pool", type: "tick", key: "=schedule.nothing" } };
  await scheduleStore(db.sql).update(tenantId, id, broken, undefined, new Date());
  nowMs += minuteMs;
  const node = nodeUnableToCancel();
  await node.sweep();
  const [, run] = await runs();
  assert.deepEqual([run!.state, run!.errorCode, node.calls], ["failed", "expression_error", []]);
});

test("with cancel_running, a run that may have an item is never skipped because an older item cannot be cancelled", async () => {
  const { tenantId, runs } = await storeSchedule({ overlap: "cancel_running", catchUpS: 300 });
  await nodeWith(async () => undecided).sweep();
  nowMs += minuteMs;
  const [first] = await runs();
  const older = await storeItem(tenantId);
  // The newer run has no result yet when the older one routes its item late.
  await nodeWith(async ({ id }) => (id === first!.id ? { ...routed, itemId: older } : undecided)).sweep();
  const busy = nodeUnableToCancel();
  nowMs += minuteMs;
  await busy.sweep();
  assert.deepEqual(busy.calls, ["CancelQueueItem", "CancelQueueItem"], "by the second and by the third run");
  const states = (await runs()).map(({ state }) => state);
  assert.deepEqual(states, ["routed", "starting", "starting"]);
});

test("with cancel_running, a run that was postponed leaves an item that was fired by hand since then", async () => {
  const { tenantId, id } = await storeSchedule({ overlap: "cancel_running" });
  await nodeWith(async () => full).sweep();
  nowMs += 1000;
  await fireByHand(tenantId, id);
  const item = await storeItem(tenantId);
  await nodeWith(async () => ({ ...routed, itemId: item })).sweep();
  nowMs += 3000;
  const late = nodeWith(async () => routed);
  await late.sweep();
  assert.deepEqual([late.seen.length, late.cancelled], [1, []]);
});

test("a node that lost its shard stores nothing", async () => {
  const { runs } = await storeSchedule();
  const slow = nodeWith(async () => {
    await db.sql`update shards set epoch = epoch + 1 where kind = 'schedules'`;
    return routed;
  });
  await slow.sweep();
  assert.equal((await runs())[0]!.state, "starting");
  await db.sql`update shards set epoch = epoch - 1 where kind = 'schedules'`;
  await nodeWith(async () => routed).sweep();
  assert.equal((await runs())[0]!.state, "routed");
});

/** Records runs of the past. */
async function storeOldRuns(tenantId: TenantId, scheduleId: string): Promise<void> {
  const skipped = Array.from({ length: 220 }, (_, nth) => ({
    ...{ tenantId, scheduleId, id: lowestUlid(nth + 1), time: new Date(nth), cause: "schedule" as const },
    ...{ state: "skipped" as const, request: null, dueAt: null, errorCode: "", errorMessage: "" },
  }));
  await runStore(db.sql).insertRuns(skipped, new Date(0));
}

test("the last 200 runs with a final state are kept", async () => {
  const { tenantId, id, runs } = await storeSchedule();
  await storeOldRuns(tenantId, id);
  await nodeWith(async () => routed).sweep();
  const kept = await runs();
  assert.equal(kept.length, 200);
  assert.equal(kept.at(-1)!.state, "routed");
});

test("old runs are forgotten also while every time is skipped", async () => {
  const { tenantId, id, runs } = await storeSchedule({ overlap: "skip" });
  await storeOldRuns(tenantId, id);
  const busy = nodeWith(async () => full);
  await busy.sweep();
  nowMs += minuteMs;
  await busy.sweep();
  const kept = await runs();
  assert.deepEqual([kept.length, kept.at(-2)!.state, kept.at(-1)!.state], [201, "starting", "skipped"]);
});
