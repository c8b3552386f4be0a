import assert from "node:assert/strict";
import { before, test } from "node:test";
import { afterFile } from "../harness/after-file.ts";
import { connect, type TestSql } from "../harness/postgres-server.ts";
import { startService, type TestService } from "../harness/service.ts";
import { until } from "../harness/until.ts";
import { freshName, newTenant, type ResponseData, type TenantFixture } from "./tenant-fixture.ts";

let service: TestService;
let own: TenantFixture;
let sql: TestSql;
before(async () => {
  service = await startService();
  own = await newTenant(service);
  sql = connect(service.databaseUrl, 2);
  afterFile(() => sql.end({ timeout: 1 }));
});

/** A time of the year at which no test runs. */
const yearly = { cron: "0 3 1 1 *" };

async function createSchedule(poolId: string, timing: object = yearly, item: object = {}): Promise<string> {
  const body = { name: freshName(), timing, item: { pool_id: poolId, type: "report", ...item } };
  return (await own.ok("POST", "/api/schedules", body)).data.id;
}

const get = async (id: string): Promise<ResponseData> => (await own.ok("GET", `/api/schedules/${id}`)).data;
const runsOf = async (id: string, query = ""): Promise<ResponseData[]> =>
  (await own.ok("GET", `/api/schedules/${id}/runs${query}`)).data;

/** Waits until a schedule has this many runs with a final state; returns them, oldest first. */
async function settledRuns(id: string, count: number): Promise<ResponseData[]> {
  const isFinal = ({ state }: ResponseData) => state !== "starting" && state !== "waiting";
  const runs = await until(
    () => runsOf(id),
    (seen) => seen.filter(isFinal).length >= count,
  );
  return runs.filter(isFinal).toReversed();
}

/** Lets the next time of a schedule be some time ago. */
async function comeDue(id: string, agoMs = 0): Promise<void> {
  const at = new Date(Date.now() - agoMs);
  await sql`update routing_schedules set next_at = ${at}, fires_at = ${at}, due_at = ${at} where id = ${id}`;
}

test("a schedule routes an item at each of its times, with the time in the item", async () => {
  const pool = await own.pool();
  const item = { key: "=schedule.name", payload: { at: "=string(schedule.time)", text: "==1" }, priority: 3 };
  const timing = { cron: "* * * * * *", timezone: "Europe/Berlin", overlap: "allow" };
  const id = await createSchedule(pool, timing, item);
  const runs = await settledRuns(id, 2);
  await own.ok("POST", `/api/schedules/${id}/pause`, {});
  for (const { time, state, cause, item_id, decision_id, outcome } of runs) {
    assert.deepEqual([state, cause, outcome, decision_id], ["routed", "schedule", "queued", item_id]);
    const routed = await own.item(pool, item_id);
    assert.deepEqual(routed.payload, { at: time, text: "=1" });
    assert.deepEqual([routed.priority, routed.type, routed.key], [3, "report", (await get(id)).name]);
  }
  const times = runs.map(({ time }) => Date.parse(time));
  for (const time of times) assert.equal(time % 1000, 0);
  assert.equal(new Set(times).size, times.length);
  const all = await until(
    () => runsOf(id),
    (seen) => seen.every(({ state }) => state !== "starting"),
  );
  assert.equal((await own.status(pool)).depth, all.filter(({ state }) => state === "routed").length);
  assert.equal((await get(id)).last_item_id, all.find(({ state }) => state === "routed").item_id);
});

test("while an item is unfinished, skip routes none, and the next time after its end routes one", async () => {
  const pool = await own.pool();
  const id = await createSchedule(pool);
  await comeDue(id);
  const [first] = await settledRuns(id, 1);
  await comeDue(id);
  assert.deepEqual(
    (await settledRuns(id, 2)).map(({ state }) => state),
    ["routed", "skipped"],
  );
  await own.complete(await own.leaseOne(pool));
  await comeDue(id);
  const runs = await settledRuns(id, 3);
  assert.deepEqual(
    runs.map(({ state }) => state),
    ["routed", "skipped", "routed"],
  );
  assert.notEqual(runs[2].item_id, first.item_id);
});

test("cancel_running cancels the unfinished item and routes the next one", async () => {
  const pool = await own.pool();
  const id = await createSchedule(pool, { ...yearly, overlap: "cancel_running" });
  await comeDue(id);
  await settledRuns(id, 1);
  await comeDue(id);
  const [first, second] = await settledRuns(id, 2);
  assert.equal((await own.item(pool, first.item_id)).state, "cancelled");
  assert.equal((await own.item(pool, second.item_id)).state, "ready");
});

test("while the queue is full, cancel_running skips all runs but the newest, which routes its item later", async () => {
  const pool = await own.pool({ config: { queue: { max_depth: 1 } } });
  const { queue_item_id } = await own.route(pool);
  const id = await createSchedule(pool, { ...yearly, overlap: "cancel_running" });
  const starting = async (count: number) => {
    const isPostponed = ({ state, error_code }: ResponseData) => state === "starting" && error_code !== "";
    await until(
      () => runsOf(id),
      (runs) => runs.length === count && isPostponed(runs[0]),
    );
  };
  await comeDue(id);
  await starting(1);
  await comeDue(id);
  await starting(2);
  await own.ok("POST", `/api/queues/${pool}/items/${queue_item_id}/cancel`, {});
  const runs = await settledRuns(id, 2);
  assert.deepEqual(
    runs.map(({ state, error_code }) => [state, error_code]),
    [
      ["skipped", "routing_failed"],
      ["routed", ""],
    ],
  );
  assert.match(runs[0].error_message, /is full/);
  assert.equal((await own.status(pool)).depth, 1);
});

test("queue_one routes one item when the unfinished one has ended, however many times passed", async () => {
  const pool = await own.pool();
  const id = await createSchedule(pool, { ...yearly, overlap: "queue_one" });
  await comeDue(id);
  const [first] = await settledRuns(id, 1);
  await comeDue(id);
  await until(
    () => runsOf(id, "?state=waiting"),
    (runs) => runs.length === 1,
  );
  await comeDue(id);
  await until(
    () => runsOf(id, "?state=skipped"),
    (runs) => runs.length === 1,
  );
  await own.ok("POST", `/api/queues/${pool}/items/${first.item_id}/cancel`, {});
  await until(
    () => runsOf(id, "?state=routed"),
    (runs) => runs.length === 2,
  );
  assert.equal((await own.status(pool)).depth, 1);
});

test("a time that was missed by too long routes nothing, which the schedule and its runs show", async () => {
  const pool = await own.pool();
  const id = await createSchedule(pool, { ...yearly, catch_up_s: 10 });
  await comeDue(id, 3_600_000);
  const [run] = await settledRuns(id, 1);
  assert.deepEqual([run.state, run.error_code, run.item_id], ["missed", "missed", ""]);
  const schedule = await get(id);
  assert.match(schedule.last_error, /missed/);
  assert.equal(schedule.next_at.slice(5, 16), "01-01T03:00");
  assert.equal((await own.status(pool)).depth, 0);
});

test("a paused schedule has no times; resuming it does not catch up", async () => {
  const pool = await own.pool();
  const id = await createSchedule(pool, { cron: "* * * * * *", overlap: "allow", catch_up_s: 3600 });
  const paused = (await own.ok("POST", `/api/schedules/${id}/pause`, {})).data;
  assert.deepEqual([paused.paused, paused.paused_reason, paused.next_at], [true, "manual", undefined]);
  assert.notEqual(paused.paused_by, "");
  assert.deepEqual((await own.ok("GET", `/api/schedules/${id}/times`)).data.times, []);
  const { length } = await runsOf(id);
  const list = async () => (await own.ok("GET", `/api/schedules?pool_id=${pool}&paused_only=true`)).data;
  assert.equal((await list()).length, 1);
  const resumedAtMs = Date.now();
  const resumed = (await own.ok("POST", `/api/schedules/${id}/resume`, {})).data;
  assert.deepEqual([resumed.paused, resumed.paused_reason, resumed.paused_by], [false, "", ""]);
  assert.deepEqual(await list(), []);
  const runs = await settledRuns(id, length + 1);
  for (const { time } of runs.slice(length)) assert.ok(Date.parse(time) >= resumedAtMs - 1000, time);
  await own.ok("DELETE", `/api/schedules/${id}`);
});

test("firing routes an item now, also for a paused schedule and while an item is unfinished", async () => {
  const pool = await own.pool();
  const id = await createSchedule(pool);
  await own.ok("POST", `/api/schedules/${id}/pause`, {});
  const fired = [];
  for (let nth = 0; nth < 2; nth++) fired.push((await own.ok("POST", `/api/schedules/${id}:fire`, {})).data);
  const runs = await settledRuns(id, 2);
  assert.deepEqual(
    runs.map((run) => [run.id, run.state, run.cause]),
    fired.map((run) => [run.id, "routed", "manual"]),
  );
  assert.equal((await own.status(pool)).depth, 2);
  const [{ id: runId, item_id }] = runs;
  assert.equal((await own.ok("GET", `/api/schedules/${id}/runs/${runId}`)).data.item_id, item_id);
});

test("the next times are listed in the time zone of the schedule, across a change of the clocks", async () => {
  const pool = await own.pool();
  const id = await createSchedule(pool, { cron: "0 9 * * *", timezone: "Europe/Berlin" });
  const times = async (query: string) => (await own.ok("GET", `/api/schedules/${id}/times${query}`)).data.times;
  assert.deepEqual(await times("?count=2&after=2027-03-27T00:00:00Z"), [
    "2027-03-27T08:00:00Z",
    "2027-03-28T07:00:00Z",
  ]);
  assert.equal((await times("")).length, 10);
  const preview = await own.ok("POST", "/api/schedules:preview", {
    timing: { cron: "30 2 * * *", timezone: "Europe/Berlin" },
    item: { pool_id: pool, type: "report", payload: { day: "=string(schedule.time)" } },
    after: "2027-03-27T12:00:00Z",
    count: 1,
  });
  assert.deepEqual(preview.data.times, ["2027-03-28T01:00:00Z"]);
  assert.deepEqual(preview.data.item.payload, { day: "2027-03-28T01:00:00Z" });
});

test("an update changes only the given fields, and refuses a version that is not the current one", async () => {
  const pool = await own.pool();
  const id = await createSchedule(pool);
  const path = `/api/schedules/${id}`;
  const renamed = (await own.ok("PATCH", path, { name: freshName(), record_version: 1 })).data;
  assert.deepEqual([renamed.timing.cron, renamed.record_version], [yearly.cron, 2]);
  await own.refused("VERSION_CONFLICT", "PATCH", path, { name: freshName(), record_version: 1 });
  const moved = (await own.ok("PATCH", path, { timing: { cron: "0 4 2 1 *" } })).data;
  assert.equal(moved.next_at.slice(5, 16), "01-02T04:00");
  const other = await own.pool();
  const item = { pool_id: other, type: "other" };
  assert.equal((await own.ok("PATCH", path, { item })).data.item.pool_id, other);
  await own.ok("POST", `${path}:fire`, {});
  const [run] = await settledRuns(id, 1);
  assert.equal((await own.item(other, run.item_id)).type, "other");
});

test("what cannot be scheduled is refused by name", async () => {
  const pool = await own.pool();
  const item = { pool_id: pool, type: "report" };
  const refused = async (body: object) => {
    const { body: problem } = await own.refused("INVALID_ARGUMENT", "POST", "/api/schedules", { name: "x", ...body });
    return problem.violations[0].field;
  };
  assert.equal(await refused({ timing: { cron: "61 * * * *" }, item }), "timing.cron");
  assert.equal(await refused({ timing: { cron: "0 0 * * *", timezone: "Mars/Olympus" }, item }), "timing.timezone");
  assert.equal(await refused({ timing: { ...yearly, overlap: "maybe" }, item }), "timing.overlap");
  assert.equal(await refused({ timing: yearly }), "item");
  assert.equal(await refused({ timing: yearly, item: { type: "report" } }), "item.pool_id");
  assert.equal(await refused({ timing: yearly, item: { ...item, key: "=schedule." } }), "item.key");
  const early = { ...item, not_before: "2100-01-01T00:00:00Z" };
  assert.equal(await refused({ timing: yearly, item: early }), "item.not_before");
  // It would be routed again and again until it is accepted.
  assert.equal(await refused({ timing: yearly, item: { ...item, reject_as_error: true } }), "item.reject_as_error");
  const stranger = await newTenant(service);
  const foreign = { name: "x", timing: yearly, item: { pool_id: await stranger.pool(), type: "report" } };
  await own.refused("NOT_FOUND", "POST", "/api/schedules", foreign);
  const name = freshName();
  await own.ok("POST", "/api/schedules", { name, timing: yearly, item });
  await own.refused("ALREADY_EXISTS", "POST", "/api/schedules", { name, timing: yearly, item });
});

test("a run that a rule rejects says so, and permanent failures in a row pause the schedule", async () => {
  const pool = await own.pool();
  const rule = await own.rule(pool, { type: "reject" });
  const id = await createSchedule(pool);
  await own.ok("POST", `/api/schedules/${id}:fire`, {});
  const [rejected] = await settledRuns(id, 1);
  assert.deepEqual([rejected.state, rejected.error_code, rejected.outcome], ["failed", "rejected", "rejected"]);
  assert.equal((await get(id)).consecutive_failures, 0);
  await own.ok("DELETE", `/api/rules/${rule}`);
  await own.ok("POST", `/api/pools/${pool}:set_enabled`, { enabled: false });
  await sql`update routing_schedules set consecutive_failures = 19 where id = ${id}`;
  await comeDue(id);
  const paused = await until(
    () => get(id),
    (schedule) => schedule.paused,
  );
  assert.deepEqual([paused.paused_reason, paused.consecutive_failures, paused.next_at], ["failing", 20, undefined]);
  assert.match(paused.last_error, /accepts no items/);
  const events = (await own.ok("GET", `/api/events?subject=${id}&limit=100`)).data;
  const types = new Set(events.map(({ type }: ResponseData) => type));
  for (const type of ["schedule.created", "schedule.fired", "schedule.failed", "schedule.paused"]) {
    assert.ok(types.has(type), type);
  }
});
