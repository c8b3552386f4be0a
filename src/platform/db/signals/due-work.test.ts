import assert from "node:assert/strict";
import { test } from "node:test";
import { testDatabase } from "../../../../test/harness/context.ts";
import { until } from "../../../../test/harness/until.ts";
import type { Database, Sql } from "../database.ts";
import { createDueWork } from "./due-work.ts";

const db = await testDatabase();

/** The database, with the number of statements that were sent to it. */
function counting(): { database: Pick<Database, "genericPlans">; sent: () => number } {
  let sent = 0;
  const sql = new Proxy(db.sql, {
    apply(target, self, args) {
      const statement = Reflect.apply(target, self, args) as object;
      return new Proxy(statement, {
        get(inner, name) {
          if (name === "then") sent++;
          const value = Reflect.get(inner, name, inner) as unknown;
          return typeof value === "function" ? value.bind(inner) : value;
        },
        getPrototypeOf: (inner) => Reflect.getPrototypeOf(inner),
      });
    },
  });
  return { database: { genericPlans: { ...db.genericPlans, sql } }, sent: () => sent };
}

test("all loops of a node learn with one statement when their next work is due", async (t) => {
  const { database, sent } = counting();
  const onDue = createDueWork(database);
  const heard = new Map<string, number>();
  const follow = (name: string, time: (sql: Sql) => ReturnType<Sql>) => {
    const stop = onDue(time as never, (inMs) => heard.set(name, inMs));
    t.after(stop);
  };
  follow("overdue", (sql) => sql`select now() - interval '1 hour'`);
  follow("soon", (sql) => sql`select now() + ${200} * interval '1 millisecond'`);
  follow("idle", (sql) => sql`select null::timestamptz`);
  follow("no row", (sql) => sql`select now() where false`);
  await until(() => heard.size === 2);
  assert.deepEqual([heard.get("overdue"), Math.round(heard.get("soon")!)], [0, 200]);
  assert.ok(sent() <= 2, `${sent()} statements`);
});

test("a loop hears nothing after it has unsubscribed, and the last one ends the looks", async () => {
  const { database, sent } = counting();
  const onDue = createDueWork(database);
  let heard = 0;
  const stop = onDue(
    (sql) => sql`select now()`,
    () => heard++,
  );
  await until(() => heard > 0);
  stop();
  const [heardBefore, sentBefore] = [heard, sent()];
  let others = 0;
  const another = createDueWork(db)(
    (sql) => sql`select now()`,
    () => others++,
  );
  await until(() => others > 2);
  another();
  assert.deepEqual([heard, sent()], [heardBefore, sentBefore]);
});

test("when the time of one loop cannot be read, every loop looks for its own work", async (t) => {
  const onDue = createDueWork(db);
  const heard = new Set<string>();
  t.after(
    onDue(
      (sql) => sql`select at from no_such_table`,
      () => heard.add("broken"),
    ),
  );
  t.after(
    onDue(
      (sql) => sql`select null::timestamptz`,
      () => heard.add("healthy"),
    ),
  );
  await until(() => heard.size === 2);
});
