import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { type TestContext, test } from "node:test";
import { freshTenant, testDatabase } from "../../../test/harness/context.ts";
import { until } from "../../../test/harness/embedded-owner.ts";
import { systemClock } from "../clock/clock.ts";
import type { Signals } from "../db/index.ts";
import { createLog } from "../log/log.ts";
import { createJobRunner, type Job, type JobKind } from "./index.ts";
import { enqueueJobs, leaseJobs, type NewJob } from "./store.ts";

const db = await testDatabase(30);
const log = createLog("silent");
const signals: Signals = {
  wake() {},
  onWake: () => () => {},
  onWakeUnder: () => () => {},
  start: async () => {},
  stop: async () => {},
};

/** A kind that no other test runs, and how its jobs are written, run and looked at. */
function scratch(t: TestContext) {
  const kind = `test.${randomUUID()}`;
  const tenantId = freshTenant();
  return {
    kind,
    tenantId,
    enqueue: (jobs: Partial<NewJob>[]) =>
      enqueueJobs(
        db.sql,
        jobs.map((job) => ({ tenantId, kind, runAt: new Date(), ...job })),
        Date.now(),
      ),
    /** A node that runs the kind. */
    node: (handler: (job: Job) => Promise<void>, options: { leaseMs?: number; every?: JobKind["every"] } = {}) => {
      const runner = createJobRunner({ db, signals, clock: systemClock, log, pollMs: 10, leaseMs: options.leaseMs });
      runner.register({ kind, handler, every: options.every });
      runner.start();
      t.after(() => runner.stop());
      return runner;
    },
    rows: () => db.sql`
      select id, state, attempts, last_error, lease_token, extract(epoch from run_at - now())::float8 * 1000 as wait_ms
      from jobs where kind = ${kind} order by id`,
  };
}

test("every job runs once, however many nodes look for it", async (t) => {
  const { enqueue, node, rows } = scratch(t);
  const runs = new Map<unknown, number>();
  await enqueue(Array.from({ length: 200 }, (_, n) => ({ payload: { n } })));
  for (let i = 0; i < 4; i++) {
    node(async ({ payload }) => {
      const { n } = payload as { n: number };
      runs.set(n, (runs.get(n) ?? 0) + 1);
    });
  }
  await until(async () => (await rows()).length === 0);
  assert.equal(runs.size, 200);
  assert.deepEqual(new Set(runs.values()), new Set([1]));
});

test("a job that is not due yet waits", async (t) => {
  const { enqueue, node, rows } = scratch(t);
  await enqueue([{ payload: { n: 1 }, runAt: new Date(Date.now() + 3_600_000) }, { payload: { n: 2 } }]);
  const ran: unknown[] = [];
  node(async ({ payload }) => void ran.push(payload));
  await until(async () => (await rows()).length === 1);
  assert.deepEqual(ran, [{ n: 2 }]);
});

test("the job of a node that died is taken over when its lease ends, and not before", async (t) => {
  const { kind, enqueue, node, rows } = scratch(t);
  await enqueue([{}]);
  await leaseJobs(db.sql, { kinds: [kind], limit: 1, token: "dead", leaseMs: 3_600_000 });
  const attempts: number[] = [];
  const runner = node(async ({ attempt }) => void attempts.push(attempt));
  await until(() => runner.alive());
  assert.deepEqual([attempts, (await rows())[0]!.leaseToken], [[], "dead"]);
  await db.sql`update jobs set lease_until = now() where kind = ${kind}`;
  await until(async () => (await rows()).length === 0);
  assert.deepEqual(attempts, [2]);
});

test("a job that takes longer than its lease keeps it as long as its node lives", async (t) => {
  const { kind, enqueue, node, rows } = scratch(t);
  await enqueue([{}]);
  const leasedUntil = async () =>
    Number((await db.sql`select extract(epoch from lease_until) as until from jobs where kind = ${kind}`)[0]?.until);
  let runs = 0;
  const work = async () => {
    runs++;
    const first = await leasedUntil();
    // Three renewals, the last of them after the first lease would have ended.
    await until(async () => (await leasedUntil()) > first + 0.3);
  };
  node(work, { leaseMs: 300 });
  node(work, { leaseMs: 300 });
  await until(async () => (await rows()).length === 0);
  assert.equal(runs, 1);
});

test("a node that lost its lease is told, and can neither end nor fail the job that another node has now", async (t) => {
  const { kind, enqueue, node, rows } = scratch(t);
  await enqueue([{}]);
  const slow = Promise.withResolvers<AbortSignal>();
  const proceed = Promise.withResolvers<void>();
  const late = node(
    async ({ signal }) => {
      slow.resolve(signal);
      await proceed.promise;
    },
    { leaseMs: 60 },
  );
  const signal = await slow.promise;
  // As if the node had been frozen for longer than its lease.
  const [taken] = await db.sql`
    update jobs set lease_token = 'other', lease_until = now() + interval '1 hour' where kind = ${kind} returning id`;
  await until(() => signal.aborted);
  assert.match(String(signal.reason), /lease/);
  proceed.resolve();
  await late.stop();
  const [row] = await rows();
  assert.deepEqual([row!.id, row!.state, row!.leaseToken], [taken!.id, "leased", "other"]);
});

test("a job that fails waits twice as long every time, up to five minutes, and is given up after its attempts", async (t) => {
  const { kind, enqueue, node, rows } = scratch(t);
  await enqueue([{ maxAttempts: 11 }]);
  const runner = node(async ({ attempt }) => {
    throw new Error(`attempt ${attempt}`);
  });
  for (let attempt = 1; attempt <= 11; attempt++) {
    await until(async () => (await rows())[0]!.lastError === `attempt ${attempt}`);
    const [row] = await rows();
    const expectedMs = Math.min(1000 * 2 ** (attempt - 1), 300_000);
    assert.ok(Math.abs(row!.waitMs - expectedMs) < 500, `attempt ${attempt} is ${row!.waitMs} ms away`);
    assert.deepEqual([row!.state, row!.attempts, row!.leaseToken], [attempt < 11 ? "ready" : "failed", attempt, null]);
    await db.sql`update jobs set run_at = now() where kind = ${kind}`;
  }
  await until(() => runner.alive());
  assert.deepEqual([(await rows())[0]!.state, (await rows())[0]!.attempts], ["failed", 11]);
});

test("a job that ends its node every time is given up after its attempts", async (t) => {
  const { kind, enqueue, node, rows } = scratch(t);
  await enqueue([{ maxAttempts: 2 }]);
  for (let death = 0; death < 2; death++) {
    await leaseJobs(db.sql, { kinds: [kind], limit: 1, token: "dead", leaseMs: 1 });
    await until(async () => (await db.sql`select from jobs where kind = ${kind} and lease_until < now()`).count === 1);
  }
  let runs = 0;
  node(async () => void runs++);
  await until(async () => (await rows())[0]!.state === "failed");
  assert.equal(runs, 0);
});

test("a second job with the same key is not written until the first is done or given up; other tenants have their own", async (t) => {
  const { kind, enqueue, rows } = scratch(t);
  const states = async () => (await rows()).map((row) => row.state);
  await enqueue([{ dedupeKey: "one" }, { dedupeKey: "two" }]);
  await enqueue([{ dedupeKey: "one" }, { dedupeKey: "one", tenantId: freshTenant() }]);
  assert.deepEqual(await states(), ["ready", "ready", "ready"]);
  await db.sql`update jobs set state = 'leased' where kind = ${kind}`;
  await enqueue([{ dedupeKey: "one" }]);
  assert.equal((await rows()).length, 3);
  await db.sql`update jobs set state = 'failed' where kind = ${kind}`;
  await enqueue([{ dedupeKey: "one" }]);
  assert.deepEqual((await states()).sort(), ["failed", "failed", "failed", "ready"]);
});

test("a node that stops hands its jobs back at once, and the stop costs them no attempt", async (t) => {
  const { enqueue, node, rows } = scratch(t);
  await enqueue([{}, {}]);
  let runs = 0;
  const stopped = node(async ({ signal }) => {
    runs++;
    await new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
  });
  await until(() => runs === 2);
  await stopped.stop();
  const left = await rows();
  assert.deepEqual(
    left.map(({ state, attempts, leaseToken }) => [state, attempts, leaseToken]),
    [
      ["ready", 0, null],
      ["ready", 0, null],
    ],
  );
  const attempts: number[] = [];
  node(async ({ attempt }) => void attempts.push(attempt));
  await until(async () => (await rows()).length === 0);
  assert.deepEqual(attempts, [1, 1]);
});

test("whatever is leased while the node stops is handed back without being run", async (t) => {
  const { enqueue, node, rows } = scratch(t);
  await enqueue([{}]);
  let runs = 0;
  // The first look is under way: its statement is on the wire.
  await node(async () => void runs++).stop();
  const [row] = await rows();
  assert.deepEqual([runs, row!.state, row!.attempts], [0, "ready", 0]);
});

test("a job that runs by itself is planned once over all nodes, and again in the same moment in which it is done", async (t) => {
  const { tenantId, node, rows } = scratch(t);
  let runs = 0;
  const every = { ms: 60, tenantId: () => tenantId };
  for (let i = 0; i < 4; i++) node(async () => void runs++, { every });
  let seen = 0;
  await until(async () => {
    const planned = (await rows()).length;
    seen = Math.max(seen, planned);
    assert.ok(seen === 0 || planned === 1, `${planned} are planned`);
    return runs >= 5;
  });
});

test("a job that runs by itself is never given up", async (t) => {
  const { kind, tenantId, node, rows } = scratch(t);
  const runner = node(
    async () => {
      throw new Error("not yet");
    },
    { every: { ms: 3_600_000, tenantId: () => tenantId } },
  );
  await until(async () => (await rows()).length === 1);
  await db.sql`update jobs set attempts = 5000, run_at = now() where kind = ${kind}`;
  await until(async () => (await rows())[0]!.attempts === 5001 && (await rows())[0]!.state !== "leased");
  assert.deepEqual([(await rows())[0]!.state, runner.alive()], ["ready", true]);
});
