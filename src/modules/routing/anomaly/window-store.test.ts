import assert from "node:assert/strict";
import { test } from "node:test";
import { freshTenant, testDatabase } from "../../../../test/harness/context.ts";
import { fc } from "../../../../test/harness/random.ts";
import { emptyWindow, type Sums, type Window } from "./domain/window.ts";
import { createOutcomeFixture, type OutcomeInput } from "./testing/outcome-fixture.ts";
import { type WindowRow, windowStore } from "./window-store.ts";

const db = await testDatabase();
const { newPool, recordOutcomes } = createOutcomeFixture(db);
const store = windowStore(db.sql);
const startMs = Date.UTC(2030, 0, 15);
const windowMs = 10_000;

function added({ count, sum, squares }: Sums, value: number | null): Sums {
  return value === null
    ? { count, sum, squares }
    : { count: count + 1, sum: sum + value, squares: squares + value ** 2 };
}

/** Aggregates the outcomes of a recipient in one window. */
function windowOf(outcomes: readonly OutcomeInput[]): Window {
  let [run, last] = [0, ""];
  let window = emptyWindow;
  for (const { status = "success", latencyMs = null, cost = null } of outcomes) {
    const health = status === "success" ? "good" : status === "failure" || status === "timeout" ? "bad" : "";
    if (health !== "") run = health === "bad" ? run + 1 : 0;
    window = {
      total: window.total + 1,
      successes: window.successes + Number(health === "good"),
      failures: window.failures + Number(health === "bad"),
      latency: added(window.latency, latencyMs),
      cost: added(window.cost, cost),
      failureRun: Math.max(window.failureRun, run),
      flips: window.flips + Number(health !== "" && last !== "" && health !== last),
    };
    if (health !== "") last = health;
  }
  return window;
}

/** The expected rows: the windows of each recipient, and those of the pool, which have no sequence metrics. */
function expectedRows(outcomes: readonly OutcomeInput[], windows: number): WindowRow[] {
  const rows: WindowRow[] = [];
  for (let slot = 0; slot < windows; slot++) {
    const from = startMs + slot * windowMs;
    const inside = outcomes.filter(({ atMs }) => atMs >= from && atMs < from + windowMs);
    if (inside.length > 0) rows.push({ ...windowOf(inside), recipientId: "", slot, failureRun: 0, flips: 0 });
    for (const recipientId of new Set(inside.map((each) => each.recipientId)))
      if (recipientId !== "")
        rows.push({ ...windowOf(inside.filter((each) => each.recipientId === recipientId)), recipientId, slot });
  }
  return sorted(rows);
}

function sorted(rows: readonly WindowRow[]): WindowRow[] {
  const key = ({ recipientId, slot }: WindowRow) => `${recipientId}/${String(slot).padStart(3, "0")}`;
  return [...rows].sort((a, b) => (key(a) < key(b) ? -1 : 1));
}

test("windows computed by the database equal a reference implementation", async () => {
  const tenantId = freshTenant();
  const { recipientIds } = await newPool(tenantId, {}, 2);
  const outcome = fc.record({
    recipientId: fc.constantFrom("", ...recipientIds),
    // Some outcomes are before and after the three requested windows, and some on their edges.
    stepMs: fc.constantFrom(0, 1, 250, 999, 3000),
    status: fc.constantFrom("success", "success", "failure", "timeout", "declined", "cancelled"),
    latencyMs: fc.option(fc.integer({ min: 0, max: 5000 })),
    cost: fc.option(fc.integer({ min: 0, max: 40 }).map((each) => each / 4)),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(outcome, { maxLength: 60 }), async (given) => {
      const { poolId } = await newPool(tenantId, {}, 0);
      let atMs = startMs - 2000;
      const outcomes = given.map(({ stepMs, ...rest }) => {
        atMs += stepMs;
        return { ...rest, atMs };
      });
      await recordOutcomes(tenantId, poolId, outcomes);
      const rows = await store.windows({ tenantId, poolId }, startMs, windowMs, 3, {
        recipientsMax: 100,
        outcomesMax: 100,
      });
      assert.deepEqual(sorted(rows.map((row) => ({ ...row }))), expectedRows(outcomes, 3));
    }),
    { numRuns: 40 },
  );
});

test("the largest possible values of an outcome do not overflow", async () => {
  const tenantId = freshTenant();
  const { poolId } = await newPool(tenantId, {}, 0);
  const huge = { recipientId: "r", latencyMs: 1.7e308, cost: -1.7e308 };
  await recordOutcomes(tenantId, poolId, [
    { ...huge, atMs: startMs },
    { ...huge, atMs: startMs + 1 },
  ]);
  const [row] = await store.windows({ tenantId, poolId }, startMs, windowMs, 1, { recipientsMax: 1, outcomesMax: 9 });
  assert.deepEqual(
    [row!.latency, row!.cost],
    [
      { count: 2, sum: 2e15, squares: 2e30 },
      { count: 2, sum: -2e15, squares: 2e30 },
    ],
  );
});

test("the busiest recipients are returned, and always the whole pool", async () => {
  const tenantId = freshTenant();
  const { poolId, recipientIds } = await newPool(tenantId, {}, 3);
  const outcomes = recipientIds.flatMap((recipientId, n) =>
    Array.from({ length: 3 - n }, (_, at) => ({ recipientId, atMs: startMs + at })),
  );
  await recordOutcomes(tenantId, poolId, outcomes);
  const rows = await store.windows({ tenantId, poolId }, startMs, windowMs, 1, { recipientsMax: 2, outcomesMax: 9 });
  assert.deepEqual(
    sorted(rows).map(({ recipientId, total }) => [recipientId, total]),
    [
      ["", 6],
      [recipientIds[0], 3],
      [recipientIds[1], 2],
    ],
  );
});

test("a window with too many outcomes uses the latest ones and the exact total", async () => {
  const tenantId = freshTenant();
  const { poolId } = await newPool(tenantId, {}, 0);
  const outcomes = Array.from({ length: 8 }, (_, n) => ({ recipientId: "r", atMs: startMs + n, latencyMs: n }));
  await recordOutcomes(tenantId, poolId, outcomes);
  const read = async (outcomesMax: number) => {
    const bounds = { recipientsMax: 1, outcomesMax };
    const rows = sorted(await store.windows({ tenantId, poolId }, startMs, windowMs, 1, bounds));
    return rows.map(({ total, latency }) => [total, latency.count, latency.sum]);
  };
  assert.deepEqual(await read(3), [
    [8, 3, 18],
    [3, 3, 18],
  ]);
  assert.deepEqual(await read(8), [
    [8, 8, 28],
    [8, 8, 28],
  ]);
});

test("pools with recent outcomes and enabled detection are listed page by page", async () => {
  const tenantId = freshTenant();
  const at = async (config: object, ageS: number) => {
    const { poolId } = await newPool(tenantId, config, 0);
    await recordOutcomes(tenantId, poolId, [{ recipientId: "", atMs: startMs - ageS * 1000 }]);
    return poolId;
  };
  const daysS = 86_400;
  const lately = await at({}, daysS / 2);
  await at({}, 2 * daysS);
  await at({ enabled: false }, 60);
  const slow = await at({ windowS: daysS }, 10 * daysS);
  await newPool(tenantId, {}, 0);
  const archived = await at({}, 60);
  await db.sql`update pools set status = 'archived' where tenant_id = ${tenantId} and id = ${archived}`;
  const first = await store.poolsAfter({ tenantId, poolId: "" }, new Date(startMs), 15, 1);
  const second = await store.poolsAfter(first[0], new Date(startMs), 15, 1);
  assert.deepEqual(
    [...first, ...second].map(({ poolId }) => poolId),
    [lately, slow],
  );
  assert.equal((await store.poolsAfter(second[0], new Date(startMs), 15, 1)).length, 0);
});
