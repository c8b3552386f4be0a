import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { timestampDate, timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { WorkflowTrigger } from "../../../../gen/service/api/workflow_trigger_pb.ts";
import { until } from "../../../../test/harness/until.ts";
import {
  dies,
  instant,
  type StageTenant,
  startTriggerFixture,
  value,
  waiting,
} from "../../../../test/workflows/trigger-fixture.ts";

const fixture = await startTriggerFixture();
const node = await fixture.manualNode();
const { sweep } = node.schedules;
const minuteMs = 60_000;

// The clock runs on during a test. Each test starts with a minute, so that none sees one more minute pass.
beforeEach(() => fixture.advance(minuteMs - (fixture.clock.now() % minuteMs)));

async function tenantWith(...documents: { key: string }[]): Promise<StageTenant> {
  const tenant = await fixture.tenant();
  for (const document of documents) await fixture.publish(tenant.tenantId, document);
  return tenant;
}

/** Ends the runs of a tenant that are in progress. */
async function endRuns({ tenantId }: StageTenant): Promise<void> {
  for (const { id } of await fixture.runsOf(tenantId)) await fixture.runs.cancelFor(tenantId, id, "test", "over");
}

const statuses = async ({ tenantId }: StageTenant) => (await fixture.runsOf(tenantId)).map(({ status }) => status);

test("a run starts at each time of a schedule, with the time in its input and run key", async () => {
  const { tenantId } = await tenantWith(instant);
  const { id, nextAt } = await fixture.create(tenantId, {
    schedule: { cron: "* * * * *" },
    input: value({ at: "=schedule.time", text: "==x" }),
    runKey: "=string(schedule.time)",
  });
  await sweep();
  assert.equal((await fixture.runsOf(tenantId)).length, 0);
  const first = timestampDate(nextAt!).toISOString();
  fixture.advance(minuteMs);
  await sweep();
  await sweep();
  const [run, ...others] = await fixture.runsOf(tenantId);
  assert.equal(others.length, 0);
  assert.deepEqual(run!.state.input, { at: first, text: "=x" });
  assert.equal(run!.runKey, first.replace(".000Z", "Z"));
  assert.deepEqual(
    { by: run!.origin.by, via: run!.origin.via, trigger: run!.origin.trigger },
    { by: `trigger:${id}`, via: "schedule", trigger: { id, depth: 1 } },
  );
  const trigger = await fixture.get(tenantId, id);
  assert.equal(trigger.lastRunId, run!.id);
  assert.equal(trigger.lastError, "");
  assert.equal(timestampDate(trigger.nextAt!).getTime(), timestampDate(nextAt!).getTime() + minuteMs);
  assert.ok(trigger.lastFiredAt !== undefined);
  fixture.advance(minuteMs);
  await sweep();
  assert.equal((await fixture.runsOf(tenantId)).length, 2);
});

test("missed times start one run, for the last of them, if it is not too late", async () => {
  const { tenantId } = await tenantWith(instant);
  const { id, nextAt } = await fixture.create(tenantId, {
    schedule: { cron: "*/10 * * * *", catchUpS: 900 },
    input: value("=schedule.time"),
  });
  fixture.advance(50 * minuteMs);
  await sweep();
  const [run, ...others] = await fixture.runsOf(tenantId);
  assert.equal(others.length, 0);
  const lastMs = timestampDate(nextAt!).getTime() + 40 * minuteMs;
  const expectedMs = lastMs <= fixture.clock.now() ? lastMs : lastMs - 10 * minuteMs;
  assert.equal(run!.state.input, new Date(expectedMs).toISOString());
  assert.ok(timestampDate((await fixture.get(tenantId, id)).nextAt!).getTime() > fixture.clock.now());
});

test("a time that was missed by too long starts nothing, which the trigger shows", async () => {
  const { tenantId } = await tenantWith(instant);
  const { id } = await fixture.create(tenantId, { schedule: { cron: "0 0 1 * *", catchUpS: 10 } });
  const nextMs = timestampDate((await fixture.get(tenantId, id)).nextAt!).getTime();
  const missedAt = new Date(fixture.clock.now() - 60 * minuteMs);
  await fixture.db.sql`update workflow_triggers set next_at = ${missedAt}, due_at = ${missedAt} where id = ${id}`;
  await sweep();
  assert.equal((await fixture.runsOf(tenantId)).length, 0);
  const trigger = await fixture.get(tenantId, id);
  assert.match(trigger.lastError, /missed/);
  assert.equal(trigger.consecutiveFailures, 0);
  assert.ok(timestampDate(trigger.nextAt!).getTime() >= nextMs);
});

test("no run starts before start_at and after end_at", async () => {
  const { tenantId } = await tenantWith(instant);
  const startMs = Math.ceil(fixture.clock.now() / minuteMs) * minuteMs + 10 * minuteMs;
  const { id, nextAt } = await fixture.create(tenantId, {
    schedule: {
      cron: "* * * * *",
      startAt: timestampFromMs(startMs),
      endAt: timestampFromMs(startMs + minuteMs),
    },
  });
  assert.equal(timestampDate(nextAt!).getTime(), startMs);
  for (let minute = 0; minute < 14; minute++) {
    fixture.advance(minuteMs);
    await sweep();
  }
  assert.equal((await fixture.runsOf(tenantId)).length, 2);
  assert.equal((await fixture.get(tenantId, id)).nextAt, undefined);
});

test("jitter delays all starts of a trigger by the same part of it", async () => {
  const { tenantId } = await tenantWith(instant);
  const { id } = await fixture.create(tenantId, { schedule: { cron: "0 * * * *", jitterS: 3600 } });
  const read = async () => {
    const [row] = await fixture.db.sql<{ delay: number }[]>`
      select extract(epoch from due_at - next_at)::float8 as delay from workflow_triggers where id = ${id}`;
    return row!.delay;
  };
  const delay = await read();
  assert.ok(delay > 0 && delay < 3600);
  const fromTimeMs = timestampDate((await fixture.get(tenantId, id)).nextAt!).getTime() - fixture.clock.now();
  fixture.advance(fromTimeMs + 1000 * delay - 5000);
  await sweep();
  assert.equal((await fixture.runsOf(tenantId)).length, 0);
  fixture.advance(5001);
  await sweep();
  assert.equal((await fixture.runsOf(tenantId)).length, 1);
  assert.equal(await read(), delay);
});

test("overlap skip: no run starts while one is in progress", async () => {
  const tenant = await tenantWith(waiting);
  const { id } = await fixture.create(tenant.tenantId, { definition: "waiting", schedule: { cron: "* * * * *" } });
  for (let minute = 0; minute < 3; minute++) {
    fixture.advance(minuteMs);
    await sweep();
  }
  assert.deepEqual(await statuses(tenant), ["waiting"]);
  assert.ok((await fixture.get(tenant.tenantId, id)).lastSkippedAt !== undefined);
  await endRuns(tenant);
  fixture.advance(minuteMs);
  await sweep();
  assert.deepEqual((await statuses(tenant)).sort(), ["cancelled", "waiting"]);
});

test("overlap allow: a run starts at every time", async () => {
  const tenant = await tenantWith(waiting);
  await fixture.create(tenant.tenantId, { definition: "waiting", schedule: { cron: "* * * * *", overlap: "allow" } });
  for (let minute = 0; minute < 3; minute++) {
    fixture.advance(minuteMs);
    await sweep();
  }
  assert.deepEqual(await statuses(tenant), ["waiting", "waiting", "waiting"]);
});

test("overlap cancel_running: the run in progress is cancelled, and the next one starts", async () => {
  const tenant = await tenantWith(waiting);
  const schedule = { cron: "* * * * *", overlap: "cancel_running" };
  await fixture.create(tenant.tenantId, { definition: "waiting", schedule });
  for (let minute = 0; minute < 3; minute++) {
    fixture.advance(minuteMs);
    await sweep();
  }
  assert.deepEqual((await statuses(tenant)).sort(), ["cancelled", "cancelled", "waiting"]);
});

test("overlap queue_one: one run starts when the run in progress has ended, however many times passed", async () => {
  const tenant = await tenantWith(waiting);
  const { nextAt } = await fixture.create(tenant.tenantId, {
    definition: "waiting",
    input: value("=schedule.time"),
    schedule: { cron: "* * * * *", overlap: "queue_one" },
  });
  for (let minute = 0; minute < 4; minute++) {
    fixture.advance(minuteMs);
    await sweep();
  }
  assert.deepEqual(await statuses(tenant), ["waiting"]);
  await endRuns(tenant);
  await sweep();
  await sweep();
  assert.deepEqual((await statuses(tenant)).sort(), ["cancelled", "waiting"]);
  // The first time that had to wait is the one that is kept.
  const queued = (await fixture.runsOf(tenant.tenantId)).find(({ status }) => status === "waiting")!;
  assert.equal(queued.state.input, new Date(timestampDate(nextAt!).getTime() + minuteMs).toISOString());
  await endRuns(tenant);
  await sweep();
  assert.deepEqual(await statuses(tenant), ["cancelled", "cancelled"]);
});

test("a node that dies between the start and the new position does not start the run twice, and tracks it", async () => {
  for (const overlap of ["skip", "allow", "cancel_running", "queue_one"]) {
    const tenant = await tenantWith(waiting);
    const { id, nextAt } = await fixture.create(tenant.tenantId, {
      definition: "waiting",
      schedule: { cron: "*/5 * * * *", overlap, catchUpS: 600 },
    });
    fixture.advance(timestampDate(nextAt!).getTime() - fixture.clock.now() + 1);
    await node.shards.stop();
    const dying = await fixture.manualNode({ beforeWrite: dies });
    await until(() => dying.shards.owned().size === 16);
    await dying.schedules.sweep();
    assert.deepEqual(await statuses(tenant), ["waiting"], overlap);
    await dying.shards.stop();
    node.shards.start();
    await until(() => node.shards.owned().size === 16);
    await sweep();
    await sweep();
    assert.deepEqual(await statuses(tenant), ["waiting"], overlap);
    const [run] = await fixture.runsOf(tenant.tenantId);
    assert.equal((await fixture.get(tenant.tenantId, id)).lastRunId, run!.id);
  }
});

test("a run that a dead node started counts as in progress at the next time", async () => {
  const tenant = await tenantWith(waiting);
  const { nextAt } = await fixture.create(tenant.tenantId, { definition: "waiting", schedule: { cron: "* * * * *" } });
  await node.shards.stop();
  const dying = await fixture.manualNode({ beforeWrite: dies });
  await until(() => dying.shards.owned().size === 16);
  fixture.advance(timestampDate(nextAt!).getTime() - fixture.clock.now() + 1);
  await dying.schedules.sweep();
  assert.deepEqual(await statuses(tenant), ["waiting"]);
  await dying.shards.stop();
  node.shards.start();
  await until(() => node.shards.owned().size === 16);
  // The next node comes after the next time, which is skipped because of the run that nobody recorded.
  fixture.advance(minuteMs);
  await sweep();
  assert.deepEqual(await statuses(tenant), ["waiting"]);
});

test("a schedule of a suspended tenant starts nothing until the tenant is active again", async () => {
  const { tenantId } = await tenantWith(instant);
  await fixture.create(tenantId, { schedule: { cron: "* * * * *", catchUpS: 300 } });
  await fixture.db.sql`update tenants set status = 'suspended' where id = ${tenantId}`;
  fixture.advance(minuteMs);
  await sweep();
  assert.equal((await fixture.runsOf(tenantId)).length, 0);
  await fixture.db.sql`update tenants set status = 'active' where id = ${tenantId}`;
  await sweep();
  assert.equal((await fixture.runsOf(tenantId)).length, 1);
});

test("a disabled schedule starts nothing, and misses what passed meanwhile when it is enabled", async () => {
  const { tenantId } = await tenantWith(instant);
  const { id } = await fixture.create(tenantId, { schedule: { cron: "* * * * *", catchUpS: 3600 } });
  const disabled = await fixture.update(tenantId, { triggerId: id, enabled: false });
  assert.equal(disabled.disabledReason, "manual");
  assert.equal(disabled.nextAt, undefined);
  fixture.advance(10 * minuteMs);
  await sweep();
  const enabled = await fixture.update(tenantId, { triggerId: id, enabled: true });
  assert.ok(timestampDate(enabled.nextAt!).getTime() > fixture.clock.now());
  await sweep();
  assert.equal((await fixture.runsOf(tenantId)).length, 0);
  fixture.advance(minuteMs);
  await sweep();
  assert.equal((await fixture.runsOf(tenantId)).length, 1);
});

test("a change of the schedule while a run starts keeps the new times", async () => {
  const { tenantId } = await tenantWith(instant);
  const { id } = await fixture.create(tenantId, { schedule: { cron: "* * * * *" } });
  fixture.advance(minuteMs);
  await node.shards.stop();
  let changed: Promise<WorkflowTrigger> | undefined;
  const change = () => {
    changed ??= fixture.update(tenantId, { triggerId: id, schedule: { cron: "0 0 1 1 *" } });
    return changed;
  };
  const slow = await fixture.manualNode({ beforeWrite: change });
  await until(() => slow.shards.owned().size === 16);
  await slow.schedules.sweep();
  const trigger = await fixture.get(tenantId, id);
  assert.deepEqual(trigger.nextAt, (await changed!).nextAt);
  assert.equal((await fixture.runsOf(tenantId)).length, 1);
  assert.notEqual(trigger.lastRunId, "");
});
