import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { failsWith } from "../../../test/harness/context.ts";
import { type ReplicatedServer, startReplicatedServer } from "../../../test/harness/replica.ts";
import { until } from "../../../test/harness/until.ts";
import { fail } from "../../errors/index.ts";
import { type Database, openDatabase, type Sql } from "./database.ts";
import { createReadReplica } from "./read-replica.ts";

const server: ReplicatedServer = await startReplicatedServer();
test.after(() => server.stop());

/** Nodes on the primary, and the replica as one of them reads it. */
function opened(
  t: TestContext,
  { primary, url = server.url }: { primary?: Pick<Database, "sql" | "transaction">; url?: string } = {},
) {
  const [db, other] = [url, url].map((each) => openDatabase(each, { maxConnections: 4 })) as [Database, Database];
  const replica = openDatabase(server.replicaUrl, { maxConnections: 4, statementMs: 1000, silenceGraceMs: 0 });
  const answered = { primary: 0, replica: 0 };
  const reasons: unknown[] = [];
  const reads = createReadReplica({
    ...{ primary: primary ?? db, replica },
    onRead: (name) => answered[name]++,
    onLeftOut: (reason) => reasons.push(reason),
  });
  t.after(() => Promise.all([reads.close(), db.close(), other.close()]));
  const sqlOf = (sql: Sql | undefined) => sql ?? db.sql;
  return { db, other, reads, answered, reasons, sqlOf };
}

for (const mode of ["on", "off"]) {
  test(`with synchronous_commit ${mode}, a read sees every write that was acknowledged before it, through whatever node`, async (t) => {
    const { db, other, reads, answered, sqlOf } = opened(t, { url: `${server.url}?synchronous_commit=${mode}` });
    await db.sql`create table if not exists written (n int)`;
    await db.sql`truncate written`;
    const count = () =>
      reads.read(async (sql) => {
        const [row] = await sqlOf(sql)<[{ n: number }]>`select count(*)::int as n from written`;
        return row.n;
      });
    let written = 0;
    await until(async () => {
      const writer = written % 2 === 0 ? db : other;
      await writer.sql`insert into written values (${++written})`;
      assert.equal(await count(), written);
      return answered.replica >= 100;
    });
    // Many readers at once, while others write.
    let isOver = false;
    const writing = (async () => {
      while (!isOver) await other.sql`insert into written values (${++written})`;
    })();
    await Promise.all(
      Array.from({ length: 8 }, async () => {
        for (let nth = 0; nth < 25; nth++) {
          const before = written - 1;
          const found = await count();
          assert.ok(found >= before, `${found} of ${before}`);
        }
      }),
    );
    isOver = true;
    await writing;
  });
}

const failures = {
  lags: [() => server.pause(), () => server.resume()],
  "is killed": [() => server.kill(), () => server.start()],
  freezes: [() => server.freeze(), () => server.thaw()],
} as const;

for (const [name, [cause, end]] of Object.entries(failures)) {
  test(`a replica that ${name} costs no error and no change, and is used again afterwards`, async (t) => {
    const { db, reads, answered, reasons, sqlOf } = opened(t);
    const key = `replica ${name}`;
    let value = 0;
    const writeAndRead = async () => {
      await db.sql`
        insert into instance (name, value) values (${key}, ${db.sql.json(++value)})
        on conflict (name) do update set value = excluded.value`;
      const [row] = await reads.read(
        async (sql) => sqlOf(sql)<[{ value: number }]>`select value from instance where name = ${key}`,
      );
      assert.equal(row.value, value);
    };
    const untilAnsweredBy = (by: "primary" | "replica", times: number, isEnough = () => true) => {
      const before = answered[by];
      return until(async () => {
        await writeAndRead();
        return answered[by] >= before + times && isEnough();
      });
    };
    await untilAnsweredBy("replica", 5);
    const before = reasons.length;
    await cause();
    try {
      await untilAnsweredBy("primary", 50, () => reasons.length > before);
    } finally {
      await end();
    }
    assert.equal(reasons.length, before + 1, "an outage is reported once");
    await untilAnsweredBy("replica", 5);
  });
}

test("a read that the replica cannot run is repeated on the primary, and a refusal is not", async (t) => {
  const { reads, answered, sqlOf } = opened(t);
  await until(async () => {
    await reads.read(async (sql) => sqlOf(sql)`select 1`);
    return answered.replica > 0;
  });
  const tried: (Sql | undefined)[] = [];
  const [row] = await reads.read(async (sql) => {
    tried.push(sql);
    return sqlOf(sql)<[{ xid: string }]>`select pg_current_xact_id()::text as xid`;
  });
  assert.match(row.xid, /^\d+$/);
  assert.deepEqual(
    tried.map((sql) => sql === undefined),
    [false, true],
  );
  // Not even one that sounds like a failed database: what the read needs besides the database may be away.
  for (const code of ["NOT_FOUND", "UNAVAILABLE"] as const) {
    await until(async () => {
      tried.length = 0;
      const refused = reads.read(async (sql) => {
        tried.push(sql);
        await sqlOf(sql)`select 1`;
        throw fail(code);
      });
      await assert.rejects(refused, failsWith(code));
      return tried.at(-1) !== undefined;
    });
    assert.equal(tried.length, 1);
  }
});

test("a read that needs no statement uses no replica", async (t) => {
  const { reads, answered } = opened(t, {
    primary: { sql: (() => assert.fail("a position was read")) as unknown as Sql, transaction: assert.fail },
  });
  assert.equal(await reads.read(async () => 1), 1);
  assert.deepEqual(answered, { primary: 0, replica: 0 });
});

test("the replica of another server is never read, even if its log is longer", async (t) => {
  const elsewhere = (() => Promise.resolve([{ lsn: "0/1", origin: '{"server":"1"}' }])) as unknown;
  const { reads, answered, sqlOf } = opened(t, { primary: { sql: elsewhere as Sql, transaction: assert.fail } });
  for (let nth = 0; nth < 3; nth++) await reads.read(async (sql) => sqlOf(sql)`select 1`);
  assert.deepEqual(answered, { primary: 3, replica: 0 });
});
