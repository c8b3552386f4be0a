import assert from "node:assert/strict";
import { test } from "node:test";
import { testDatabase } from "../../../test/harness/context.ts";
import { fail } from "../../errors/index.ts";
import { classifyDatabaseError, mayBeCommitted } from "./classify.ts";
import { openDatabase } from "./database.ts";

const db = await testDatabase();

const errorOf = (work: PromiseLike<unknown>): Promise<unknown> =>
  Promise.resolve(work).then(
    () => assert.fail("did not fail"),
    (error) => error,
  );

test("work that the database rejected, cancelled or rolled back was not committed", async () => {
  await db.sql`create table once (id int primary key deferrable initially deferred)`;
  const errors = [
    await errorOf(db.sql`select 1 / 0`),
    await errorOf(db.sql`insert into once values (1), (1)`),
    await errorOf(db.transaction((tx) => tx`insert into once values (1), (1)`)),
    await errorOf(
      db.transaction(async (tx) => {
        await tx`set local statement_timeout = 1`;
        await tx`select pg_sleep(10)`;
      }),
    ),
  ];
  for (const error of errors) assert.equal(mayBeCommitted(error), false, String(error));
});

test("work that the service refused or could not send was not committed", async () => {
  assert.equal(mayBeCommitted(fail("CONFLICT")), false);
  const nowhere = openDatabase("postgres://nobody@127.0.0.1:1/nothing", { maxConnections: 1 });
  assert.equal(mayBeCommitted(await errorOf(nowhere.sql`select 1`)), false);
  await nowhere.close();
});

test("work whose connection was lost may have been committed, also when the error is classified", async () => {
  const error = await errorOf(db.sql`select pg_terminate_backend(pg_backend_pid())`);
  assert.equal(mayBeCommitted(error), true, String(error));
  assert.equal(mayBeCommitted(classifyDatabaseError(error)), true);
  assert.equal(mayBeCommitted(new Error("whatever comes after the commit")), true);
});
