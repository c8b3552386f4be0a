import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { type TestContext, test } from "node:test";
import { freshTenant, testDatabase } from "../../../test/harness/context.ts";
import { until } from "../../../test/harness/until.ts";
import { type Clock, systemClock } from "../clock/clock.ts";
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
  onDue: () => () => {},
  start: async () => {},
  stop: async () => {},
};

/** A job kind that no other test uses, with functions to write, run and inspect its jobs. */
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
    node: (
      handler: (job: Job) => Promise<void>,
      options: { clock?: Clock; leaseMs?: number; every?: JobKind["every"]; onExhausted?: JobKind["onExhausted"] } = {},
    ) => {
      const runner = createJobRunner({ db, signals, clock: systemClock, log, pollMs: 10, ...options });
      runner.register({ kind, handler, every: options.every, onExhausted: options.onExhausted });
      runner.start();
      t.after(() => runner.stop());
      return runner;
    },
    rows: () => db.sql`
      select id, state, attempts, last_error, lease_token, extract(epoch from run_at - now())::float8 * 1000 as wait_ms
      from jobs where kind = ${kind} order by id`,
  };
}

test("every job runs once, regardless of how many nodes poll for it", async (t) => {
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

test("a fenced node takes no jobs until its clock is right again", async (t) => {
  const { enqueue, node } = scratch(t);
  const fence = { isClosed: true, checks: 0 };
  const isFenced = () => {
    fence.checks++;
    return fence.isClosed;
  };
  const done = Promise.withResolvers<boolean>();
  await enqueue([{}]);
  node(async () => done.resolve(fence.isClosed), { clock: { ...systemClock, isFenced } });
  await until(() => fence.checks > 3);
  fence.isClosed = false;
  assert.equal(await done.promise, false);
});

test("a job that is not due yet waits", async (t) => {
  const { enqueue, node, rows } = scratch(t);
  await enqueue([{ payload: { n: 1 }, runAt: new Date(Date.now() + 3_600_000) }, { payload: { n: 2 } }]);
  const ran: unknown[] = [];
  node(async ({ payload }) => void ran.push(payload));
  await until(async () => (await rows()).length === 1);
  assert.deepEqual(ran, [{ n: 2 }]);
});

test("the job of a dead node is taken over when its lease expires, and not before", async (t) => {
  const { kind, enqueue, node, rows } = scratch(t);
  await enqueue([{}]);
  await leaseJobs(db.sql, { kinds: [kind], limit: 1, token: "dead", leaseMs: 3_600_000 });
  const attempts: number[] = [];
  const runner = node(async ({ attempt }) => void attempts.push(attempt));
  await until(() => runner.isAlive());
  assert.deepEqual([attempts, (await rows())[0]!.leaseToken], [[], "dead"]);
  await db.sql`update jobs set lease_until = now() where kind = ${kind}`;
  await until(async () => (await rows()).length === 0);
  assert.deepEqual(attempts, [2]);
});

test("a job that runs longer than its lease keeps the lease while its node is alive", async (t) => {
  const { kind, enqueue, node, rows } = scratch(t);
  await enqueue([{}]);
  const leasedUntil = async () =>
    Number((await db.sql`select extract(epoch from lease_until) as until from jobs where kind = ${kind}`)[0]?.until);
  let runs = 0;
  // On a busy machine, this process may pause for longer than a short lease.
  const leaseMs = 2000;
  const work = async () => {
    runs++;
    const first = await leasedUntil();
    // Three renewals, the last of them after the first lease would have expired.
    await until(async () => (await leasedUntil()) > first + leaseMs / 1000);
  };
  node(work, { leaseMs });
  node(work, { leaseMs });
  await until(async () => (await rows()).length === 0);
  assert.equal(runs, 1);
});

test("a lost lease aborts the handler, and its node can neither complete nor fail the job any more", async (t) => {
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
  // Simulates a node that was suspended for longer than its lease.
  const [taken] = await db.sql`
    update jobs set lease_token = 'other', lease_until = now() + interval '1 hour' where kind = ${kind} returning id`;
  await until(() => signal.aborted);
  assert.match(String(signal.reason), /lease/);
  proceed.resolve();
  await late.stop();
  const [row] = await rows();
  assert.deepEqual([row!.id, row!.state, row!.leaseToken], [taken!.id, "leased", "other"]);
});

test("a failing job backs off exponentially, up to five minutes, and fails for good after its last attempt", async (t) => {
  const { kind, enqueue, node, rows } = scratch(t);
  let dueAtMs = performance.now();
  await enqueue([{ maxAttempts: 11 }]);
  const runner = node(async ({ attempt }) => {
    throw new Error(`attempt ${attempt}`);
  });
  for (let attempt = 1; attempt <= 11; attempt++) {
    await until(async () => (await rows())[0]!.lastError === `attempt ${attempt}`);
    const [row] = await rows();
    const expectedMs = Math.min(1000 * 2 ** (attempt - 1), 300_000);
    const leastMs = expectedMs - (performance.now() - dueAtMs);
    assert.ok(row!.waitMs <= expectedMs && row!.waitMs > leastMs, `attempt ${attempt} is ${row!.waitMs} ms away`);
    assert.deepEqual([row!.state, row!.attempts, row!.leaseToken], [attempt < 11 ? "ready" : "failed", attempt, null]);
    dueAtMs = performance.now();
    await db.sql`update jobs set run_at = now() where kind = ${kind}`;
  }
  await until(() => runner.isAlive());
  assert.deepEqual([(await rows())[0]!.state, (await rows())[0]!.attempts], ["failed", 11]);
});

test("a job that ends its node on every attempt fails for good after its last attempt", async (t) => {
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

test("a kind is told that its job is given up, before the job fails, and again until it succeeds", async (t) => {
  const { kind, enqueue, node, rows } = scratch(t);
  await enqueue([{ maxAttempts: 1, payload: { n: 1 } }]);
  const told: unknown[] = [];
  const onExhausted: JobKind["onExhausted"] = async ({ payload, attempt }) => {
    told.push([payload, attempt, (await rows())[0]!.state]);
    if (told.length === 1) throw new Error("no connection");
  };
  node(
    async () => {
      throw new Error("always");
    },
    { onExhausted },
  );
  await until(() => told.length === 1);
  assert.equal((await rows())[0]!.state, "leased");
  await db.sql`update jobs set lease_until = now() where kind = ${kind}`;
  await until(async () => (await rows())[0]!.state === "failed");
  assert.deepEqual(told, [
    [{ n: 1 }, 1, "leased"],
    [{ n: 1 }, 2, "leased"],
  ]);
});

test("a kind is not told of an attempt that is repeated", async (t) => {
  const { enqueue, node, rows } = scratch(t);
  await enqueue([{ maxAttempts: 2 }]);
  let told = 0;
  const fails = async () => {
    throw new Error("once");
  };
  node(fails, { onExhausted: async () => void told++ });
  await until(async () => (await rows())[0]!.lastError === "once");
  assert.deepEqual([(await rows())[0]!.state, told], ["ready", 0]);
});

test("a job with a dedupe key is not written twice until the first completes or fails; keys are per tenant", async (t) => {
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

test("a stopping node releases its jobs immediately, and the stop does not count as an attempt", async (t) => {
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

test("a job leased while the node stops is released without being run", async (t) => {
  const { enqueue, node, rows } = scratch(t);
  await enqueue([{}]);
  let runs = 0;
  // The first poll is in progress: its statement has been sent.
  await node(async () => void runs++).stop();
  const [row] = await rows();
  assert.deepEqual([runs, row!.state, row!.attempts], [0, "ready", 0]);
});

test("a recurring job is scheduled once across all nodes, and rescheduled in the statement that completes it", async (t) => {
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

test("a recurring job never fails for good", async (t) => {
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
  assert.deepEqual([(await rows())[0]!.state, runner.isAlive()], ["ready", true]);
});
