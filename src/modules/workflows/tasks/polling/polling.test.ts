import assert from "node:assert/strict";
import { test } from "node:test";
import { untilBlocked } from "../../../../../test/harness/blocked-statements.ts";
import { failsWith, testDatabase } from "../../../../../test/harness/context.ts";
import { until } from "../../../../../test/harness/until.ts";
import { fail } from "../../../../errors/index.ts";
import { ulid } from "../../../../platform/ids/ulid.ts";
import { addTask, newTenant, startNode, storedTask } from "../testing/task-fixture.ts";

const db = await testDatabase();
const node = await startNode(db);
const otherNode = await startNode(db);

const ids = (tasks: readonly { taskId: string }[]) => tasks.map(({ taskId }) => taskId);

/** Resolves when a poll waits on a node: a task would then be reserved for it. */
async function untilWaiting(tenant: { tenantId: never; production: string }, from = node): Promise<void> {
  const task = {
    tenantId: tenant.tenantId,
    environmentId: tenant.production,
    queue: "q",
    type: "t",
    versionRange: "",
    attemptMs: 1000,
    heartbeatMs: 0,
  };
  const reservation = await until(() => from.tasks.dispatch.reserve(task, Date.now()));
  from.tasks.dispatch.settle([{ token: reservation!.token, committed: false, task: undefined as never }]);
}

test("a poll leases the oldest tasks of its queue, up to its slots", async () => {
  const tenant = await newTenant(db);
  const first = await addTask(db, tenant);
  const second = await addTask(db, tenant);
  await addTask(db, tenant, { queue: "another" });
  const third = await addTask(db, tenant);
  assert.deepEqual(ids(await node.poll(tenant, { slots: 2 })), [first, second]);
  assert.deepEqual(ids(await node.poll(tenant)), [third]);
  assert.deepEqual(await node.poll(tenant), []);
});

test("a poll leases few large tasks, the oldest first, and leaves the rest ready", async () => {
  const tenant = await newTenant(db);
  const input = { text: "x".repeat(250_000) };
  const runId = ulid(Date.now());
  const added: string[] = [];
  for (let n = 0; n < 30; n++) added.push(await addTask(db, tenant, { runId, stepKey: `s[${n}]`, input }));
  const leased: string[] = [];
  for (const stickyRuns of [[], [runId], [], []]) {
    const tasks = ids(await node.poll(tenant, { slots: 100, stickyRuns }));
    assert.ok(tasks.length >= 3 && tasks.length <= 20, `${tasks.length} tasks`);
    leased.push(...tasks);
    if (leased.length === added.length) break;
  }
  assert.deepEqual(leased.toSorted(), added.toSorted());
});

test("a leased task carries its input, its deadline and a key that its attempts share", async () => {
  const tenant = await newTenant(db);
  const runId = ulid(Date.now());
  await addTask(db, tenant, {
    runId,
    stepKey: "ocr[3]",
    attemptMs: 30_000,
    heartbeatMs: 5000,
    input: { a: [1, null] },
  });
  const beforeMs = Date.now();
  const [task] = await node.poll(tenant);
  assert.equal(task!.runId, runId);
  assert.equal(task!.step, "ocr[3]");
  assert.equal(task!.idempotencyKey, `${runId}:ocr[3]`);
  assert.equal(task!.attempt, 1);
  assert.equal(task!.heartbeatS, 5);
  assert.equal(task!.details, undefined);
  assert.equal(task!.input!.kind.case, "structValue");
  const toMs = ({ seconds, nanos }: { seconds: bigint; nanos: number }) => Number(seconds) * 1000 + nanos / 1e6;
  const near = (actualMs: number, expectedMs: number) => Math.abs(actualMs - expectedMs) < 5000;
  assert.ok(near(toMs(task!.deadline!), beforeMs + 30_000));
  assert.ok(toMs(task!.leaseUntil!) < toMs(task!.deadline!));
  assert.ok(near(toMs(task!.leaseUntil!), beforeMs + 5000));
});

test("a worker gets only tasks of its types and versions", async () => {
  const tenant = await newTenant(db);
  const [any, two, three, other] = [
    await addTask(db, tenant),
    await addTask(db, tenant, { versionRange: ">=2 <3" }),
    await addTask(db, tenant, { versionRange: "^3.0.0" }),
    await addTask(db, tenant, { type: "other", versionRange: "^1.0.0" }),
  ];
  const poll = (capabilities: { type: string; versions?: string[] }[]) => node.poll(tenant, { capabilities });
  assert.deepEqual(ids(await poll([{ type: "unknown" }])), []);
  assert.deepEqual(ids(await poll([{ type: "t", versions: ["4.0.0"] }])), [any]);
  assert.deepEqual(ids(await poll([{ type: "t", versions: ["1.0.0", "2.9.9"] }])), [two]);
  assert.deepEqual(ids(await poll([{ type: "other", versions: ["2.0.0"] }, { type: "t" }])), [three]);
  assert.deepEqual(ids(await poll([{ type: "other" }])), [other]);
});

test("a version that is not a semantic version is refused with the name of its field", async () => {
  const tenant = await newTenant(db);
  const capabilities = [{ type: "t" }, { type: "u", versions: ["1.0.0", "latest"] }];
  await assert.rejects(
    node.poll(tenant, { capabilities }),
    failsWith("INVALID_ARGUMENT", /capabilities\[1\]\.versions\[1\].*2\.1\.0/),
  );
});

test("many tasks that a worker cannot run do not keep it from older and newer ones that it can", async () => {
  const tenant = await newTenant(db);
  const before = await addTask(db, tenant);
  for (let i = 0; i < 30; i++) await addTask(db, tenant, { type: `other-${i % 7}`, versionRange: ">=9" });
  const behind = await addTask(db, tenant, { versionRange: ">=1" });
  assert.deepEqual(ids(await node.poll(tenant, { capabilities: [{ type: "t", versions: ["1.0.0"] }] })), [
    before,
    behind,
  ]);
});

test("tasks of preferred runs come first, and others as well", async () => {
  const tenant = await newTenant(db);
  const older = await addTask(db, tenant);
  const runId = ulid(Date.now());
  const preferred = await addTask(db, tenant, { runId });
  const otherQueue = await addTask(db, tenant, { runId, queue: "another" });
  assert.deepEqual(ids(await node.poll(tenant, { slots: 1, stickyRuns: [runId] })), [preferred]);
  assert.deepEqual(ids(await node.poll(tenant, { slots: 1, stickyRuns: [runId] })), [older]);
  assert.equal((await storedTask(db, otherQueue))!.state, "ready");
});

test("polls that share a statement get their own preferred tasks and the names of their own workers", async () => {
  const tenant = await newTenant(db);
  const runs = Array.from({ length: 4 }, () => ulid(Date.now()));
  const tasks = new Map<string, string>();
  for (const runId of runs) tasks.set(runId, await addTask(db, tenant, { runId }));
  const extra = await addTask(db, tenant);
  const polls = await Promise.all(
    runs.map((runId, i) =>
      node.poll(tenant, { workerId: `worker-${i}`, slots: i === 0 ? 2 : 1, stickyRuns: [runId, runs[0]!] }),
    ),
  );
  for (const [i, leased] of polls.entries()) {
    assert.ok(ids(leased).includes(tasks.get(runs[i]!)!));
    for (const { taskId } of leased) assert.equal((await storedTask(db, taskId))!.workerId, `worker-${i}`);
  }
  assert.ok(ids(polls[0]!).includes(extra));
});

test("a task is not leased before it is ready, and as soon as it is", async () => {
  const tenant = await newTenant(db);
  await addTask(db, tenant, { readyInMs: 3_600_000 });
  assert.deepEqual(await node.poll(tenant), []);
  const id = await addTask(db, tenant, { readyInMs: 300 });
  assert.deepEqual(ids(await node.poll(tenant, { waitS: 20 })), [id]);
});

test("tasks of other tenants and environments are never leased", async () => {
  const [tenant, stranger] = [await newTenant(db), await newTenant(db)];
  const inProduction = await addTask(db, tenant);
  const inSandbox = await addTask(db, tenant, { environmentId: tenant.sandbox });
  assert.deepEqual(await node.poll(stranger), []);
  await assert.rejects(node.poll(stranger, { environmentId: tenant.production }), failsWith("NOT_FOUND"));
  assert.deepEqual(ids(await node.poll(tenant, { environmentId: tenant.sandbox })), [inSandbox]);
  assert.deepEqual(ids(await node.poll(tenant)), [inProduction]);
});

test("a caller can only poll environments that its mode allows", async () => {
  const { tenantId, sandbox } = await newTenant(db);
  const inProduction = { tenantId, environmentMode: "production_only" } as const;
  const outside = { tenantId, environmentMode: "non_production_only" } as const;
  await assert.rejects(node.poll(outside), failsWith("PERMISSION_DENIED"));
  await assert.rejects(node.poll(inProduction, { environmentId: sandbox }), failsWith("PERMISSION_DENIED"));
  assert.deepEqual(await node.poll(inProduction), []);
  assert.deepEqual(await node.poll(outside, { environmentId: sandbox }), []);
});

test("many concurrent polls on two nodes never lease a task twice, and lease all of them", async () => {
  const tenant = await newTenant(db);
  const added = new Set<string>();
  for (let i = 0; i < 200; i++)
    added.add(await addTask(db, tenant, { type: i % 3 === 0 ? "u" : "t", versionRange: i % 2 ? "" : "^1.0.0" }));
  const leased: string[] = [];
  const work = async (from: typeof node, worker: number) => {
    const capabilities =
      worker % 2 ? [{ type: "t" }, { type: "u" }] : [{ type: "u", versions: ["1.5.0"] }, { type: "t" }];
    for (;;) {
      const tasks = await from.poll(tenant, { workerId: `w${worker}`, slots: 1 + (worker % 4), capabilities });
      if (tasks.length === 0) return;
      leased.push(...ids(tasks));
    }
  };
  await Promise.all(Array.from({ length: 12 }, (_, i) => work(i % 2 ? node : otherNode, i)));
  assert.equal(new Set(leased).size, leased.length);
  assert.deepEqual(new Set(leased), added);
});

test("a waiting poll gets a task that is committed on another node", async () => {
  const tenant = await newTenant(db);
  const waiting = node.poll(tenant, { waitS: 20 });
  await untilWaiting(tenant as never);
  const id = await addTask(db, tenant, { dispatch: otherNode.tasks.dispatch });
  assert.deepEqual(ids(await waiting), [id]);
});

test("a task that is inserted while a poll waits on the node is inserted with its lease", async () => {
  const tenant = await newTenant(db);
  const runId = ulid(Date.now());
  const waiting = node.poll(tenant, { waitS: 20, workerId: "direct" });
  await untilWaiting(tenant as never);
  const id = await addTask(db, tenant, { dispatch: node.tasks.dispatch, runId });
  const { state, workerId, leaseToken } = (await storedTask(db, id))!;
  assert.deepEqual([state, workerId], ["leased", "direct"]);
  const [task] = await waiting;
  assert.equal(task!.taskId, id);
  assert.equal(task!.token, leaseToken);
  const { results } = await node.complete(tenant, { completions: [{ taskId: id, token: task!.token }] });
  assert.equal(results[0]!.status, "completed");
});

test("a task that was offered without its run can be completed", async () => {
  const tenant = await newTenant(db);
  const waiting = node.poll(tenant, { waitS: 20 });
  await untilWaiting(tenant as never);
  await addTask(db, tenant, { dispatch: node.tasks.dispatch, hidesRun: true });
  const [task] = await waiting;
  const completions = [{ taskId: task!.taskId, token: task!.token }];
  assert.equal((await node.complete(tenant, { completions })).results[0]!.status, "completed");
});

test("a task is only offered to polls that can run it, in its own queue and environment", async () => {
  const tenant = await newTenant(db);
  const caller = new AbortController();
  const waiting = node.poll(
    { ...tenant, signal: caller.signal },
    { waitS: 20, slots: 1, capabilities: [{ type: "t", versions: ["1.0.0"] }] },
  );
  await untilWaiting(tenant as never);
  const { reserve } = node.tasks.dispatch;
  const base = { tenantId: tenant.tenantId, environmentId: tenant.production, queue: "q", type: "t" };
  const task = { ...base, versionRange: "", attemptMs: 1000, heartbeatMs: 0 };
  assert.equal(reserve({ ...task, versionRange: ">=2" }, 0), undefined);
  assert.equal(reserve({ ...task, type: "u" }, 0), undefined);
  assert.equal(reserve({ ...task, queue: "r" }, 0), undefined);
  assert.equal(reserve({ ...task, environmentId: tenant.sandbox }, 0), undefined);
  const reserved = reserve(task, 0);
  assert.ok(reserved);
  assert.equal(reserve(task, 0), undefined, "the only slot is reserved");
  node.tasks.dispatch.settle([{ token: reserved.token, committed: false, task: undefined as never }]);
  caller.abort();
  assert.equal(reserve(task, 0), undefined, "the caller has left");
  assert.deepEqual(await waiting, []);
});

test("a poll whose caller has left leases nothing", async () => {
  const tenant = await newTenant(db);
  const id = await addTask(db, tenant);
  assert.deepEqual(await node.poll({ ...tenant, signal: AbortSignal.abort() }), []);
  assert.equal((await storedTask(db, id))!.state, "ready");
});

test("a task that was leased for a caller that left is ready again, with the same attempt", async () => {
  const tenant = await newTenant(db);
  const id = await addTask(db, tenant);
  const caller = new AbortController();
  // The lock holds the claim back while the caller leaves.
  let polling: Promise<unknown> = Promise.resolve();
  await db.transaction(async (tx) => {
    await tx`lock table workflow_tasks in exclusive mode`;
    polling = node.poll({ ...tenant, signal: caller.signal });
    await untilBlocked(db.sql);
    caller.abort();
  });
  assert.deepEqual(await polling, []);
  await node.tasks.idle();
  const { state, attempt } = (await storedTask(db, id))!;
  assert.deepEqual([state, attempt], ["ready", 1]);
  assert.deepEqual(ids(await node.poll(tenant)), [id]);
});

test("a caller that loses its access during the wait gets nothing, and its task is ready again", async () => {
  const tenant = await newTenant(db);
  let allowed = true;
  const recheckAccess = async () => {
    if (!allowed) throw fail("PERMISSION_DENIED");
  };
  const waiting = node.poll({ ...tenant, recheckAccess }, { waitS: 20 });
  const refused = assert.rejects(waiting, failsWith("PERMISSION_DENIED"));
  await untilWaiting(tenant as never);
  allowed = false;
  const id = await addTask(db, tenant, { dispatch: node.tasks.dispatch });
  await refused;
  await node.tasks.idle();
  assert.equal((await storedTask(db, id))!.state, "ready");
});

test("a stopping node ends its polls and offers nothing to new ones", async () => {
  const tenant = await newTenant(db);
  const stopping = await startNode(db);
  const waiting = stopping.poll(tenant, { waitS: 20 });
  await untilWaiting(tenant as never, stopping);
  stopping.tasks.endWaits();
  assert.deepEqual(await waiting, []);
  assert.deepEqual(await stopping.poll(tenant, { waitS: 20 }), []);
  const id = await addTask(db, tenant, { dispatch: stopping.tasks.dispatch });
  assert.equal((await storedTask(db, id))!.state, "ready");
});

test("a completion gets the task that it creates in the same call, without a scan", async () => {
  const tenant = await newTenant(db);
  await addTask(db, tenant, { stepKey: "one" });
  const [first] = await node.poll(tenant);
  const next: { id?: string } = {};
  const chained = await startNode(db, {
    async apply(tenantId, runId, event) {
      await db.sql`delete from workflow_tasks where tenant_id = ${tenantId} and id = ${event.taskId}`;
      next.id = await addTask(db, tenant, { runId, stepKey: "two", dispatch: chained.tasks.dispatch });
      assert.equal((await storedTask(db, next.id))!.state, "leased");
      return "applied";
    },
  });
  const poll = { queue: "q", workerId: "w", buildId: "b", slots: 1, waitS: 20, capabilities: [{ type: "t" }] };
  const { results, tasks } = await chained.complete(tenant, {
    completions: [{ taskId: first!.taskId, token: first!.token }],
    poll,
  });
  assert.equal(results[0]!.status, "completed");
  assert.deepEqual(ids(tasks), [next.id]);
});

test("whatever callers do, every task is completed exactly once and by the holder of its current lease", async () => {
  const tenant = await newTenant(db);
  const nodes = [node, otherNode];
  const total = 150;
  const completed: string[] = [];
  const held = new Map<string, string>();
  let isOver = false;
  let random = 7;
  const chance = (percent: number) => {
    random = (random * 1_103_515_245 + 12_345) % 2_147_483_648;
    return (random >> 8) % 100 < percent;
  };
  const work = async (nth: number) => {
    const from = nodes[nth % 2]!;
    while (!isOver) {
      const caller = new AbortController();
      if (chance(20)) setImmediate(() => caller.abort());
      const request = {
        workerId: `w${nth}`,
        slots: 1 + (nth % 3),
        waitS: 1,
        capabilities: [{ type: "t" }, { type: "u" }],
      };
      for (const { taskId, token } of await from.poll({ ...tenant, signal: caller.signal }, request)) {
        assert.equal(held.has(taskId), false, "a task has one holder");
        held.set(taskId, token);
        if (chance(30)) {
          held.delete(taskId);
          await from.release(tenant, { tasks: [{ taskId, token }] });
          continue;
        }
        const { results } = await from.complete(tenant, { completions: [{ taskId, token }] });
        assert.equal(results[0]!.status, "completed");
        held.delete(taskId);
        completed.push(taskId);
        isOver = completed.length === total;
      }
    }
  };
  const create = async () => {
    for (let i = 0; i < total; i++) {
      await addTask(db, tenant, { type: i % 2 ? "t" : "u", dispatch: nodes[i % 2]!.tasks.dispatch });
    }
  };
  await Promise.all([create(), ...Array.from({ length: 8 }, (_, nth) => work(nth))]);
  assert.equal(new Set(completed).size, total);
  const [left] = await db.sql<{ count: number }[]>`
    select count(*)::int as count from workflow_tasks where tenant_id = ${tenant.tenantId}`;
  assert.equal(left!.count, 0);
});
