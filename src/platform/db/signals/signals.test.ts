import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { testDatabase } from "../../../../test/harness/context.ts";
import { until } from "../../../../test/harness/until.ts";
import { createSignals } from "./signals.ts";

const db = await testDatabase();

async function node(t: TestContext, database = db) {
  const signals = createSignals(database);
  await signals.start();
  t.after(() => signals.stop());
  return signals;
}

test("a wake-up reaches this node's listeners immediately, another node's soon, and those of other topics never", async (t) => {
  const [here, there] = [await node(t), await node(t)];
  const heard: string[] = [];
  here.onWake("a", () => heard.push("here"));
  there.onWake("a", () => heard.push("there"));
  there.onWake("b", () => heard.push("other topic"));
  heard.length = 0;
  here.wake("a");
  assert.deepEqual(heard, ["here"]);
  await until(() => heard.includes("there"));
  assert.equal(heard.includes("other topic"), false);
});

test("many wake-ups are coalesced into few notifications", async (t) => {
  let sent = 0;
  const counting = new Proxy(db, {
    get(target, name) {
      if (name === "sql") sent++;
      return Reflect.get(target, name);
    },
  });
  const [here, there] = [await node(t, counting), await node(t)];
  let heard = 0;
  there.onWake("a", () => heard++);
  sent = 0;
  for (let i = 0; i < 1000; i++) here.wake("a");
  await until(() => heard > 0);
  assert.equal(sent, 1);
});

test("a wake-up after the stop reaches this node's listeners and starts no timer", async (t) => {
  let sent = 0;
  const counting = new Proxy(db, {
    get(target, name) {
      if (name === "sql") sent++;
      return Reflect.get(target, name);
    },
  });
  const [here, there] = [await node(t, counting), await node(t)];
  let heard = 0;
  here.onWake("late", () => heard++);
  let echoed = 0;
  there.onWake("other", () => echoed++);
  heard = 0;
  echoed = 0;
  await here.stop();
  sent = 0;
  here.wake("late");
  assert.equal(heard, 1);
  // Sent later than the one above would have been.
  const other = await node(t);
  other.wake("other");
  await until(() => echoed > 0);
  assert.equal(sent, 0);
});

test("any number of concurrent topics is delivered", async (t) => {
  const [here, there] = [await node(t), await node(t)];
  const heard = new Set<number>();
  for (let i = 0; i < 1000; i++) there.onWake(`topic ${i}`, () => heard.add(i));
  heard.clear();
  for (let i = 0; i < 1000; i++) here.wake(`topic ${i}`);
  await until(() => heard.size === 1000);
});

test("an unsubscribed listener is not called", async (t) => {
  const signals = await node(t);
  const heard: number[] = [];
  const leave = signals.onWake("a", () => heard.push(1));
  signals.onWake("a", () => heard.push(2));
  leave();
  signals.wake("a");
  assert.deepEqual(heard, [2]);
});

/** Terminates the connections on which nodes of this database listen. */
async function endListening(): Promise<void> {
  await db.sql`
    select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and query like 'listen %' and pid <> pg_backend_pid()`;
}

test("a listener is called after a lost connection, because signals may have been lost", async (t) => {
  const signals = await node(t);
  let heard = 0;
  signals.onWake("a", () => heard++);
  await endListening();
  await until(() => heard > 0);
});

test("a prefix listener is notified of possibly lost wake-ups, and receives no topic that was not woken", async (t) => {
  const signals = await node(t);
  const heard: string[] = [];
  signals.onWake("a:1", () => {});
  signals.onWakeUnder(
    "a:",
    (rest) => heard.push(rest),
    () => heard.push("lost"),
  );
  await endListening();
  await until(() => heard.length > 0);
  assert.deepEqual(heard, ["lost"]);
});

test("a topic that does not fit into a notification is refused, and the longest that fits is delivered", async (t) => {
  const [here, there] = [await node(t), await node(t)];
  const longest = "é".repeat(3950);
  let heard = 0;
  there.onWake(longest, () => heard++);
  assert.throws(() => here.wake(`${longest}x`), /at most 7900 bytes.*has 7901/);
  here.wake(longest);
  await until(() => heard > 0);
});
