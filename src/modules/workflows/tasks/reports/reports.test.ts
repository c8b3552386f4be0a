import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import type { Message } from "@bufbuild/protobuf";
import { testDatabase } from "../../../../../test/harness/context.ts";
import { until } from "../../../../../test/harness/until.ts";
import { fail } from "../../../../errors/index.ts";
import type { KeyedCall } from "../../../../platform/idempotency/index.ts";
import { jsonToValue, valueToJson } from "../../../../platform/protojson/index.ts";
import {
  addTask,
  newTenant,
  standInEngine,
  startNode,
  storedTask,
  type TestTenant,
  workerDefaults,
} from "../testing/task-fixture.ts";

const db = await testDatabase();
const { engine, events } = standInEngine(db);
const node = await startNode(db, engine);

/** Adds a task and leases it. */
async function leaseOne(tenant: TestTenant, choice = {}, worker = {}) {
  const id = await addTask(db, tenant, choice);
  const [task] = await node.poll(tenant, worker);
  assert.equal(task!.taskId, id);
  return { taskId: id, token: task!.token };
}

/** Ends a lease by the database's clock. */
async function expire(id: string): Promise<void> {
  await db.sql`update workflow_tasks set lease_until = now() - interval '1 millisecond' where id = ${id}`;
}

async function beat(tenant: TestTenant, lease: { taskId: string; token: string }, details?: unknown) {
  const task = details === undefined ? lease : { ...lease, details: jsonToValue(details) };
  const { results } = await node.heartbeat(tenant, { tasks: [task] });
  return results[0]!;
}

test("a completion gives its output to the engine, and null without one", async () => {
  const tenant = await newTenant(db);
  const [first, second] = [await leaseOne(tenant), await leaseOne(tenant)];
  const { results, tasks } = await node.complete(tenant, {
    completions: [{ ...first, output: jsonToValue({ a: [1, null, { __proto__: 1 }], b: "x" }) }, second],
  });
  assert.deepEqual(
    results.map(({ taskId, status }) => [taskId, status]),
    [
      [first.taskId, "completed"],
      [second.taskId, "completed"],
    ],
  );
  assert.deepEqual(tasks, []);
  const outputs = events.flatMap((event) => (event.kind === "attempt_succeeded" ? [[event.taskId, event.output]] : []));
  assert.deepEqual(
    new Map(outputs as [string, unknown][]),
    new Map<string, unknown>([
      [first.taskId, { a: [1, null, {}], b: "x" }],
      [second.taskId, null],
    ]),
  );
});

test("the late completion of a worker that lost its lease has no effect", async () => {
  const tenant = await newTenant(db);
  const zombie = await leaseOne(tenant, { heartbeatMs: 30_000 });
  await expire(zombie.taskId);
  await node.tasks.sweeper.sweep();
  const [current] = await node.poll(tenant, { workerId: "worker-2" });
  assert.equal(current!.taskId, zombie.taskId);
  assert.equal(current!.attempt, 2);
  const { results } = await node.complete(tenant, { completions: [zombie] });
  assert.equal(results[0]!.status, "stale");
  assert.equal(results[0]!.errorCode, "LEASE_LOST");
  assert.equal((await node.fail(tenant, { failures: [zombie] })).results[0]!.status, "stale");
  assert.equal((await node.release(tenant, { tasks: [zombie] })).results[0]!.status, "stale");
  const before = await storedTask(db, zombie.taskId);
  assert.equal((await beat(tenant, zombie, { from: "zombie" })).status, "lost");
  assert.deepEqual(await storedTask(db, zombie.taskId), before);
  assert.equal(before!.leaseToken, current!.token);
  const done = await node.complete(tenant, { completions: [{ taskId: current!.taskId, token: current!.token }] });
  assert.equal(done.results[0]!.status, "completed");
});

test("a repeated completion is answered as the first time; a failure of the same attempt is stale", async () => {
  const tenant = await newTenant(db);
  const lease = await leaseOne(tenant);
  for (let i = 0; i < 2; i++) {
    assert.equal((await node.complete(tenant, { completions: [lease] })).results[0]!.status, "completed");
  }
  assert.equal((await node.fail(tenant, { failures: [lease] })).results[0]!.status, "stale");
  assert.equal(events.filter((event) => event.taskId === lease.taskId).length, 1);
});

test("another tenant cannot report anything, even with the token", async () => {
  const [tenant, stranger] = [await newTenant(db), await newTenant(db)];
  const lease = await leaseOne(tenant, { heartbeatMs: 10_000 });
  assert.equal((await node.complete(stranger, { completions: [lease] })).results[0]!.status, "stale");
  assert.equal(
    (await node.fail(stranger, { failures: [{ ...lease, code: "incompatible" }] })).results[0]!.status,
    "stale",
  );
  assert.equal((await node.release(stranger, { tasks: [lease] })).results[0]!.status, "stale");
  assert.equal((await beat(stranger, lease)).status, "cancel");
  assert.equal((await beat(tenant, lease)).status, "ok");
});

test("a caller cannot report about tasks of environments that its mode does not allow", async () => {
  const tenant = await newTenant(db);
  const lease = await leaseOne(tenant);
  const outside = { ...tenant, environmentMode: "non_production_only" } as const;
  const { results } = await node.complete(outside, { completions: [lease] });
  assert.deepEqual([results[0]!.status, results[0]!.errorCode], ["", "PERMISSION_DENIED"]);
  assert.equal((await beat(outside, lease)).errorCode, "PERMISSION_DENIED");
  assert.equal((await node.complete(tenant, { completions: [lease] })).results[0]!.status, "completed");
});

test("an invalid entry has its own error, and the others are applied", async () => {
  const tenant = await newTenant(db);
  const [large, empty, good] = [await leaseOne(tenant), await leaseOne(tenant), await leaseOne(tenant)];
  const { results } = await node.complete(tenant, {
    completions: [{ ...large, output: jsonToValue("x".repeat(128 * 1024)) }, { ...empty, token: "" }, good],
  });
  assert.deepEqual(
    results.map(({ status, errorCode, violations }) => [status, errorCode, violations.map(({ field }) => field)]),
    [
      ["", "INVALID_ARGUMENT", ["output"]],
      ["", "INVALID_ARGUMENT", ["token"]],
      ["completed", "", []],
    ],
  );
  const allowed = { ...large, output: jsonToValue("x".repeat(128 * 1024 - 2)) };
  assert.equal((await node.complete(tenant, { completions: [allowed] })).results[0]!.status, "completed");
  assert.equal((await beat(tenant, empty, "x".repeat(20_000))).errorCode, "INVALID_ARGUMENT");
});

test("an error of the engine is the result of its entry only", async () => {
  const tenant = await newTenant(db);
  const [bad, worse, good] = [await leaseOne(tenant), await leaseOne(tenant), await leaseOne(tenant)];
  const failing = await startNode(db, {
    apply: async (tenantId, runId, event) => {
      if (event.taskId === bad.taskId) throw fail("UNAVAILABLE", { public: "Try again." });
      if (event.taskId === worse.taskId) throw new Error("broken");
      return engine.apply(tenantId, runId, event);
    },
  });
  const { results } = await failing.complete(tenant, { completions: [bad, worse, good] });
  assert.deepEqual(
    results.map(({ status, errorCode }) => [status, errorCode]),
    [
      ["", "UNAVAILABLE"],
      ["", "INTERNAL"],
      ["completed", ""],
    ],
  );
});

test("a failure tells the engine code, message, details and whether to retry", async () => {
  const tenant = await newTenant(db);
  const [plain, detailed] = [await leaseOne(tenant), await leaseOne(tenant)];
  const { results } = await node.fail(tenant, {
    failures: [
      plain,
      {
        ...detailed,
        code: "quota",
        message: "Too many.",
        details: jsonToValue({ used: 5 }),
        retryable: false,
        retryAfterS: 1.5,
      },
    ],
  });
  assert.deepEqual(
    results.map(({ status }) => status),
    ["failed", "failed"],
  );
  const reported = events.filter(({ taskId }) => taskId === plain.taskId || taskId === detailed.taskId);
  assert.deepEqual(
    new Set(reported),
    new Set([
      {
        kind: "attempt_failed",
        ...plain,
        code: "task_failed",
        message: "",
        details: null,
        retryable: true,
        retryAfterMs: undefined,
      },
      {
        kind: "attempt_failed",
        ...detailed,
        code: "quota",
        message: "Too many.",
        details: { used: 5 },
        retryable: false,
        retryAfterMs: 1500,
      },
    ]),
  );
});

test("a released task is ready at once with the same attempt, and its token is worthless", async () => {
  const tenant = await newTenant(db);
  const lease = await leaseOne(tenant);
  assert.equal((await node.release(tenant, { tasks: [lease] })).results[0]!.status, "released");
  assert.equal((await node.release(tenant, { tasks: [lease] })).results[0]!.status, "stale");
  const [again] = await node.poll(tenant, { workerId: "worker-2" });
  assert.deepEqual([again!.taskId, again!.attempt], [lease.taskId, 1]);
  assert.notEqual(again!.token, lease.token);
  assert.equal((await node.complete(tenant, { completions: [lease] })).results[0]!.status, "stale");
});

test("a refused task burns no attempt and is leased by a worker of another build that waits", async () => {
  const tenant = await newTenant(db);
  const lease = await leaseOne(tenant);
  const waiting = node.poll(tenant, { buildId: "build-2", waitS: 20 });
  const { results } = await node.fail(tenant, {
    failures: [{ ...lease, code: "incompatible", message: "No schema." }],
  });
  assert.equal(results[0]!.status, "incompatible");
  const [task] = await waiting;
  assert.deepEqual([task!.taskId, task!.attempt], [lease.taskId, 1]);
  assert.deepEqual((await storedTask(db, lease.taskId))!.refusedBy, ["build-1"]);
  assert.equal(
    events.some(({ taskId }) => taskId === lease.taskId),
    false,
  );
});

test("a task never goes back to a build that refused it, and remembers several", async () => {
  const tenant = await newTenant(db);
  let lease = await leaseOne(tenant);
  for (const buildId of ["build-0", "build-2", ...Array.from({ length: 12 }, (_, i) => `b${i}`)]) {
    await node.fail(tenant, { failures: [{ ...lease, code: "incompatible" }] });
    assert.equal((await storedTask(db, lease.taskId))!.state, "incompatible");
    const [task] = await node.poll(tenant, { buildId });
    assert.equal(task!.taskId, lease.taskId);
    lease = { taskId: task!.taskId, token: task!.token };
  }
  await node.fail(tenant, { failures: [{ ...lease, code: "incompatible" }] });
  const { refusedBy } = (await storedTask(db, lease.taskId))!;
  assert.equal(refusedBy.length, 8);
  assert.deepEqual(refusedBy, refusedBy.toSorted());
  assert.deepEqual(await node.poll(tenant, { buildId: "b11" }), []);
  // Giving it back keeps it parked.
  const [parked] = await node.poll(tenant, { buildId: "new" });
  await node.release(tenant, { tasks: [{ taskId: parked!.taskId, token: parked!.token }] });
  assert.equal((await storedTask(db, lease.taskId))!.state, "incompatible");
});

test("a heartbeat extends the lease, never beyond the attempt, and its details reach the next attempt", async () => {
  const tenant = await newTenant(db);
  const lease = await leaseOne(tenant, { heartbeatMs: 30_000, attemptMs: 60_000 });
  await db.sql`update workflow_tasks set lease_until = now() + interval '10 seconds' where id = ${lease.taskId}`;
  const before = (await storedTask(db, lease.taskId))!;
  const first = await beat(tenant, lease, { page: 3 });
  assert.equal(first.status, "ok");
  const after = (await storedTask(db, lease.taskId))!;
  assert.ok(after.leaseUntil! > before.leaseUntil!);
  assert.equal(Number(first.leaseUntil!.seconds), Math.floor(after.leaseUntil!.getTime() / 1000));
  await db.sql`update workflow_tasks set attempt_until = now() + interval '20 seconds' where id = ${lease.taskId}`;
  assert.equal((await beat(tenant, lease)).status, "ok");
  const last = (await storedTask(db, lease.taskId))!;
  assert.deepEqual(last.leaseUntil, last.attemptUntil);
  assert.deepEqual(last.details, { page: 3 });
  await node.fail(tenant, { failures: [lease] });
  const [again] = await node.poll(tenant);
  assert.equal(again!.attempt, 2);
  assert.deepEqual(valueToJson(again!.details!), { page: 3 });
});

test("a heartbeat learns that its task has ended, that its lease has passed on, or that its run is paused", async () => {
  const tenant = await newTenant(db);
  const [ok, gone, passed, ended, paused, held] = await Promise.all(
    Array.from({ length: 6 }, () => addTask(db, tenant, { heartbeatMs: 10_000 })),
  );
  const leases = new Map((await node.poll(tenant)).map(({ taskId, token }) => [taskId, { taskId, token }]));
  await db.sql`delete from workflow_tasks where id = ${gone!}`;
  await node.release(tenant, { tasks: [leases.get(passed!)!] });
  await expire(ended!);
  await db.sql`
    insert into workflow_runs (tenant_id, id, environment_id, definition_id, version, run_key, status, state, revision,
      shard, unread, origin, parent_run_id, created_at)
    select tenant_id, run_id, environment_id, run_id, 1, '', 'paused', '{}', 1, 0, 0, '{}', '', now()
    from workflow_tasks where id = ${paused!}`;
  await db.sql`update workflow_tasks set state = 'held' where id = ${held!}`;
  const order = [ok, gone, passed, ended, paused, held].map((id) => leases.get(id!)!);
  const { results } = await node.heartbeat(tenant, { tasks: order });
  assert.deepEqual(
    results.map(({ status, leaseUntil }) => [status, leaseUntil !== undefined]),
    [
      ["ok", true],
      ["cancel", false],
      ["lost", false],
      ["lost", false],
      ["paused", true],
      ["paused", false],
    ],
  );
});

test("a call with an idempotency key takes effect once", async () => {
  const tenant = await newTenant(db);
  const { tenantId } = tenant;
  const keyedCall = (operation: string): KeyedCall => {
    const claim = {
      ...{ tenantId, principal: "p", operation, key: "k" },
      fingerprint: randomBytes(8),
      createdAt: new Date(),
    };
    return { claim, record: (response: Message) => ({ ...claim, response: response.$typeName }) };
  };
  const id = await addTask(db, tenant);
  const polled = await node.pollCall(tenant, workerDefaults, keyedCall("poll"));
  assert.equal(polled.tasks[0]!.taskId, id);
  await addTask(db, tenant);
  assert.equal(await node.pollCall(tenant, workerDefaults, keyedCall("poll")), "duplicate");
  const completions = [{ taskId: id, token: polled.tasks[0]!.token }];
  const done = await node.complete(tenant, { completions }, keyedCall("complete"));
  assert.equal(done.results[0]!.status, "completed");
  assert.equal(await node.complete(tenant, { completions }, keyedCall("complete")), "duplicate");
  assert.equal(events.filter(({ taskId }) => taskId === id).length, 1);
});

test("concurrent polls with one idempotency key leave no task leased for nobody", async () => {
  const tenant = await newTenant(db);
  const claim = {
    ...{ tenantId: tenant.tenantId, principal: "p", operation: "poll", key: "k" },
    fingerprint: randomBytes(8),
    createdAt: new Date(),
  };
  const keyed: KeyedCall = { claim, record: () => ({ ...claim, response: "" }) };
  for (let i = 0; i < 4; i++) await addTask(db, tenant);
  const polls = await Promise.allSettled(
    Array.from({ length: 4 }, () => node.pollCall(tenant, { ...workerDefaults, slots: 1 }, keyed)),
  );
  await node.tasks.idle();
  const received = polls.flatMap((poll) => {
    if (poll.status === "fulfilled") return (poll.value as unknown) === "duplicate" ? [] : poll.value.tasks;
    assert.equal(poll.reason.code, "IDEMPOTENCY_IN_PROGRESS");
    return [];
  });
  const leased = await db.sql<{ id: string }[]>`
    select id from workflow_tasks where tenant_id = ${tenant.tenantId} and state = 'leased'`;
  assert.equal(received.length, 1);
  assert.deepEqual(
    leased.map(({ id }) => id),
    received.map(({ taskId }) => taskId),
  );
});

test("a poll that fails after completions does not hide their results", async () => {
  const tenant = await newTenant(db);
  const lease = await leaseOne(tenant);
  let calls = 0;
  const recheckAccess = async () => {
    calls++;
    throw fail("PERMISSION_DENIED");
  };
  const { results, tasks } = await node.complete(
    { ...tenant, recheckAccess },
    { completions: [lease], poll: { ...workerDefaults, waitS: 2 } },
  );
  assert.equal(results[0]!.status, "completed");
  assert.deepEqual(tasks, []);
  assert.equal(calls, 1);
});

test("reports of tasks that another statement has locked do not wait for it with locks of their own", async () => {
  const tenant = await newTenant(db);
  const [first, second, third] = [
    await leaseOne(tenant, { heartbeatMs: 30_000 }),
    await leaseOne(tenant),
    await leaseOne(tenant),
  ];
  let released: Promise<unknown> = Promise.resolve();
  await db.transaction(async (tx) => {
    // Runs lock their tasks in any order.
    await tx`select from workflow_tasks where id = ${third.taskId} for update`;
    assert.equal((await beat(tenant, third)).status, "ok");
    released = node.release(tenant, { tasks: [first, second, third] }).then(({ results }) => {
      assert.deepEqual(
        results.map(({ status }) => status),
        ["released", "released", "released"],
      );
    });
    await until(async () => (await storedTask(db, second.taskId))!.state === "ready");
    await tx`select from workflow_tasks where id in (${first.taskId}, ${second.taskId}) for update`;
  });
  await released;
  assert.equal((await storedTask(db, third.taskId))!.state, "ready");
});
