import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { testDatabase } from "../../../test/harness/context.ts";
import { until } from "../../../test/harness/until.ts";
import { createLog } from "../log/log.ts";
import { startDatabaseClock } from "./database-clock.ts";

const db = await testDatabase();
const log = createLog("silent");
const realNow = Date.now;
const hourMs = 3_600_000;

/** Starts the clock on a machine whose system clock the test sets. */
async function startSkewed(t: TestContext, skewMs: number, measureEveryMs = 10) {
  const machine = { skewMs };
  t.mock.method(Date, "now", () => realNow() + machine.skewMs);
  const clock = await startDatabaseClock({ db, log, measureEveryMs });
  t.after(() => clock.stop());
  return { clock, machine };
}

/** How far a time is from the database's, which runs on this machine. */
function differenceMs(atMs: number): number {
  return Math.abs(atMs - realNow());
}

for (const skewMs of [hourMs, -hourMs]) {
  test(`a node whose clock is ${skewMs / hourMs} h wrong has the database's time and is fenced`, async (t) => {
    const { clock } = await startSkewed(t, skewMs);
    assert.ok(differenceMs(clock.now()) < 1000);
    assert.ok(clock.isFenced());
    assert.equal(Math.round(clock.skewMs() / hourMs), skewMs / hourMs);
  });
}

test("a node whose clock is a few seconds wrong has the database's time and is not fenced", async (t) => {
  const { clock } = await startSkewed(t, 3000);
  assert.ok(differenceMs(clock.now()) < 1000);
  assert.ok(!clock.isFenced());
});

test("a system clock that is set has no effect on the time, and fences the node at once", async (t) => {
  // No measurement follows within the test.
  const { clock, machine } = await startSkewed(t, 0, hourMs);
  assert.ok(!clock.isFenced());
  machine.skewMs = hourMs;
  assert.ok(clock.isFenced());
  assert.ok(differenceMs(clock.now()) < 1000);
  machine.skewMs = 0;
  assert.ok(!clock.isFenced());
});

test("a clock that agrees with the database's is used unchanged", async (t) => {
  const { clock } = await startSkewed(t, 0);
  const before = Date.now();
  const now = clock.now();
  assert.ok(before <= now && now <= Date.now());
});

/** A database whose clock and delay the test sets. */
function scriptedDatabase() {
  const server = { aheadMs: 0, delayMs: 0, measurements: 0 };
  const sql = async () => {
    server.measurements++;
    const ms = realNow() + server.aheadMs;
    // A busy loop delays the answer only, so that the midpoint of the round trip is wrong.
    for (const end = performance.now() + server.delayMs; performance.now() < end; );
    return [{ ms }];
  };
  return { server, db: { sql: sql as never } };
}

test("slow answers do not make the time worse", async (t) => {
  const { server, db } = scriptedDatabase();
  const clock = await startDatabaseClock({ db, log, measureEveryMs: 1 });
  t.after(() => clock.stop());
  server.delayMs = 200;
  const { measurements } = server;
  await until(() => server.measurements > measurements + 2);
  // Half of the delay is what a wrong midpoint costs.
  assert.ok(differenceMs(clock.now()) < server.delayMs / 2, String(differenceMs(clock.now())));
});

test("the time follows the database's when that is set", async (t) => {
  const { server, db } = scriptedDatabase();
  const clock = await startDatabaseClock({ db, log, measureEveryMs: 1 });
  t.after(() => clock.stop());
  server.aheadMs = 60_000;
  await until(() => clock.now() > realNow() + 59_000);
  assert.ok(clock.isFenced());
});
