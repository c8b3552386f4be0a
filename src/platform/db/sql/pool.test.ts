import assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { type TestContext, test } from "node:test";
import { freshDatabase } from "../../../../test/harness/postgres.ts";
import { until } from "../../../../test/harness/until.ts";
import { addressOf, startTcpProxy } from "../../../cli/prove/nodes/database-proxy.ts";
import { Pool, type PoolOptions } from "./pool.ts";
import type { Sql } from "./sql.ts";

async function opened(t: TestContext, options: Partial<PoolOptions> = {}) {
  const { url, sql: admin, drop } = await freshDatabase();
  const pool = new Pool(url, { maxConnections: 1, ...options });
  t.after(async () => {
    await pool.end(1000);
    await drop();
  });
  return { pool, sql: pool.sql, admin, url };
}

async function backendPid(sql: Sql): Promise<number> {
  const [row] = await sql<{ pid: number }[]>`select pg_backend_pid() as pid`;
  return row!.pid;
}

test("statements on one connection are pipelined, and each gets its own rows or error", async (t) => {
  const { sql } = await opened(t);
  const one = (n: number) => sql<{ n: number }[]>`select 10 / ${n}::int as n`;
  const outcomes = await Promise.allSettled([1, 0, 2, 5, 0, 10].map(one));
  assert.deepEqual(
    outcomes.map((outcome) => (outcome.status === "fulfilled" ? outcome.value[0]!.n : outcome.reason.code)),
    [10, "22012", 5, 2, "22012", 1],
  );
});

test("a statement pipelined behind its first execution with invalid values gets its rows and columns", async (t) => {
  const { sql } = await opened(t);
  const one = (n: number) => sql<{ n: number; text: string }[]>`select 10 / ${n}::int as n, 'a' as text`;
  const [failed, ...others] = await Promise.allSettled([one(0), one(2), one(5)]);
  assert.equal(failed!.status, "rejected");
  assert.deepEqual(
    others.map((outcome) => outcome.status === "fulfilled" && { ...outcome.value[0] }),
    [
      { n: 5, text: "a" },
      { n: 2, text: "a" },
    ],
  );
});

test("a statement that cannot be prepared fails alone, however many follow it", async (t) => {
  const { sql, admin } = await opened(t);
  const read = () => sql<{ n: number }[]>`select n from later`;
  const outcomes = await Promise.allSettled([...Array.from({ length: 5 }, read), sql`select 1`]);
  const codes = outcomes.map((outcome) => (outcome.status === "rejected" ? outcome.reason.code : "ok"));
  assert.deepEqual(codes, ["42P01", "42P01", "42P01", "42P01", "42P01", "ok"]);
  await admin`create table later as select 1 as n`;
  assert.deepEqual([...(await read())], [{ n: 1 }]);
});

test("the number of prepared statements per connection is bounded, and those in use stay", async (t) => {
  const { sql } = await opened(t);
  const often = () => sql`select 'often'`;
  for (let i = 0; i < 600; i++) {
    await sql`select ${sql.unsafe(String(i))} as n`;
    await often();
  }
  const [row] = await sql<{ n: number; kept: number }[]>`
    select count(*)::int as n, count(*) filter (where statement = 'select ''often''')::int as kept
    from pg_prepared_statements`;
  // Behind a pooler, one more holds the settings.
  assert.ok(row!.n > 100 && row!.n <= 251, `${row!.n} are prepared`);
  assert.equal(row!.kept, 1);
});

test("a prepared statement works after a change of its tables", async (t) => {
  const { sql, admin } = await opened(t);
  await admin`create table changing (n int, note text)`;
  const write = (n: number, note: string) => sql`insert into changing values (${n}, ${note})`;
  const read = () => sql`select * from changing order by n`;
  await write(1, "a");
  assert.deepEqual([...(await read())], [{ n: 1, note: "a" }]);
  await admin.unsafe(
    "alter table changing add more int; alter table changing alter note type jsonb using to_jsonb(note)",
  );
  await write(2, "b");
  assert.deepEqual(
    [...(await read())],
    [
      { n: 1, note: "a", more: null },
      { n: 2, note: "b", more: null },
    ],
  );
});

test("a cancelled statement fails alone; its connection and later statements continue", async (t) => {
  const { sql, admin } = await opened(t);
  const pid = await backendPid(sql);
  const slow = sql`select pg_sleep(60)`.then(
    () => "ok",
    (error: unknown) => (error as { code: string }).code,
  );
  const behind = backendPid(sql);
  await until(
    async () => (await admin`select from pg_stat_activity where pid = ${pid} and wait_event = 'PgSleep'`).count > 0,
  );
  await admin`select pg_cancel_backend(${pid})`;
  assert.equal(await slow, "57014");
  assert.equal(await behind, pid);
});

test("a statement that exceeds the timeout is cancelled by the server; its connection stays usable", async (t) => {
  const { sql } = await opened(t, { session: { statement_timeout: 1000 } });
  const pid = await backendPid(sql);
  await assert.rejects(async () => await sql`select pg_sleep(60)`, { code: "57014" });
  assert.equal(await backendPid(sql), pid);
});

test("a silent server fails only the statements in flight", async (t) => {
  const { sql } = await opened(t, { silenceMs: 200 });
  const pid = await backendPid(sql);
  process.kill(pid, "SIGSTOP");
  try {
    await assert.rejects(async () => await sql`select 1`, { code: "CONNECTION_CLOSED" });
    assert.notEqual(await backendPid(sql), pid);
  } finally {
    process.kill(pid, "SIGCONT");
  }
});

test("a transaction has exclusive use of its connection, and its statements keep their order", async (t) => {
  const { pool, sql, admin } = await opened(t, { maxConnections: 2 });
  await admin`create table steps (at serial, n int)`;
  const inside = pool.transaction(async (tx) => {
    const pid = await backendPid(tx);
    const others = await Promise.all(Array.from({ length: 20 }, () => backendPid(sql)));
    // None of these is prepared yet.
    await Promise.all([
      tx`insert into steps (n) values (${1})`,
      tx`insert into steps (n) select n + ${1}::int from steps`,
      tx.unsafe("insert into steps (n) values (3)"),
      tx`insert into steps (n) select max(n) + ${1}::int from steps`,
    ]);
    return { pid, others };
  });
  const { pid, others } = await inside;
  assert.equal(others.includes(pid), false);
  const rows = await sql<{ n: number }[]>`select n from steps order by at`;
  assert.deepEqual(
    rows.map(({ n }) => n),
    [1, 2, 3, 4],
  );
});

test("a transaction in which a statement failed is rolled back, even when the error was caught", async (t) => {
  const { pool, sql, admin } = await opened(t);
  await admin`create table kept (n int)`;
  const swallowing = pool.transaction(async (tx) => {
    await tx`insert into kept values (1)`;
    await tx`select 1 / 0`.catch(() => {});
    return "done";
  });
  await assert.rejects(swallowing, { code: "22012" });
  const goingOn = pool.transaction(async (tx) => {
    await tx`select 1 / 0`.catch(() => {});
    await tx`insert into kept values (2)`;
  });
  await assert.rejects(goingOn, { code: "22012" }, "the first error, and not that the transaction has failed");
  assert.equal((await sql`select from kept`).count, 0);
});

test("the first statement belongs to its transaction, whatever its kind; without a statement nothing is begun", async (t) => {
  const { pool, sql, admin } = await opened(t);
  await admin`create table firsts (n int)`;
  const insert = (tx: Sql, n: number) => tx`insert into firsts values (${n})`;
  const firsts: Record<string, (tx: Sql) => Promise<unknown>> = {
    prepared: (tx) => insert(tx, 1),
    text: (tx) => tx.unsafe("insert into firsts values (2); insert into firsts values (3)"),
    pipelined: (tx) => Promise.all([insert(tx, 4), tx`insert into firsts select 5`, tx`insert into firsts select 6`]),
    savepoint: (tx) => tx.savepoint((part) => insert(part, 7)),
    "with limited rows": (tx) => tx`insert into firsts values (8) returning n`.firstRows(1),
    "after one that cannot be prepared": (tx) => tx`select from absent`.then(undefined, () => insert(tx, 9)),
    "after one with invalid values": (tx) =>
      tx`select 1 / ${0}::int`.then(undefined, () => insert(tx, 10).catch(() => {})),
  };
  for (const [name, first] of Object.entries(firsts)) {
    const undone = pool.transaction(async (tx) => {
      await first(tx);
      throw new Error("undo");
    });
    await assert.rejects(undone, name);
    assert.equal((await sql`select from firsts`).count, 0, name);
  }
  assert.equal(await pool.transaction(async () => "done"), "done");
  await pool.transaction(firsts.text!);
  assert.equal((await sql`select from firsts`).count, 2);
});

test("a transaction does not wait for a statement that it sends, and is not committed if that fails", async (t) => {
  const { pool, sql, admin } = await opened(t);
  await admin`create table numbers (n int primary key)`;
  const send = (on: Sql, n: number) => on.send(on`insert into numbers values (${n})`);
  await pool.transaction(async (tx) => assert.equal(send(tx, 1), undefined));
  const twice = pool.transaction(async (tx) => void [2, 1].forEach((n) => void send(tx, n)));
  await assert.rejects(twice, { code: "23505" });
  const inPart = pool.transaction((tx) => tx.savepoint(async (part) => send(part, 1)));
  await assert.rejects(inPart, { code: "23505" });
  const besidePart = pool.transaction((tx) => tx.savepoint(async () => send(tx, 9)));
  await assert.rejects(besidePart, /savepoint of this transaction is open/);
  await send(sql, 3);
  const rows = await sql<{ n: number }[]>`select n from numbers order by n`;
  assert.deepEqual(
    rows.map(({ n }) => n),
    [1, 3],
  );
});

test("a failed savepoint is rolled back alone, at any depth, and releases its locks", async (t) => {
  const { pool, sql, admin } = await opened(t, { maxConnections: 2 });
  await admin`create table parts (name text primary key)`;
  await admin`insert into parts values ('there')`;
  const add = (tx: Sql, name: string) => tx`insert into parts values (${name})`;
  await pool.transaction(async (tx) => {
    await add(tx, "whole");
    assert.equal(await tx.savepoint(async (part) => (await add(part, "kept")).count), 1);
    await assert.rejects(
      tx.savepoint(async (part) => {
        await part`select from parts where name = 'there' for update`;
        await part.savepoint((inner) => add(inner, "undone with the outer part"));
        await add(part, "there");
      }),
      { code: "23505" },
    );
    await assert.rejects(
      tx.savepoint(async (part) => add(part, "there").catch(() => {})),
      { code: "23505" },
      "a caught error undoes the part, too",
    );
    await sql`select from parts where name = 'there' for update nowait`;
    await add(tx, "after");
  });
  const rows = await sql<{ name: string }[]>`select name from parts order by name`;
  assert.deepEqual(
    rows.map(({ name }) => name),
    ["after", "kept", "there", "whole"],
  );
  await assert.rejects(
    sql.savepoint(async () => {}),
    /needs a transaction/,
  );
});

test("an action after the commit runs when the connection is free again, and never after a rollback of its part", async (t) => {
  const { pool, sql, admin } = await opened(t, { maxConnections: 1 });
  await admin`create table notes (name text)`;
  const done: string[] = [];
  const note = (tx: Sql, name: string) =>
    tx.afterCommit(async () => {
      const { count } = await sql`select from notes`;
      done.push(`${name} after ${count}`);
    });
  const failing = (tx: Sql, name: string) => {
    note(tx, name);
    return Promise.reject(new Error("as told"));
  };
  await assert.rejects(
    pool.transaction((tx) => failing(tx, "undone")),
    /as told/,
  );
  await pool.transaction(async (tx) => {
    note(tx, "whole");
    await tx.savepoint(async (part) => note(part, "part"));
    await tx.savepoint((part) => failing(part, "undone part")).catch(() => {});
    tx.afterCommit(() => assert.fail("a failed action is ignored"));
    await tx`insert into notes values ('kept')`;
    assert.deepEqual(done, []);
  });
  assert.deepEqual(done, ["whole after 1", "part after 1"]);
  sql.afterCommit(() => done.push("without a transaction"));
  assert.equal(done.at(-1), "without a transaction");
});

test("two concurrent savepoints are refused, and the first one continues", async (t) => {
  const { pool, sql, admin } = await opened(t);
  await admin`create table beside (n int)`;
  await pool.transaction(async (tx) => {
    const [first, second] = await Promise.allSettled(
      [1, 2].map((n) => tx.savepoint((part) => part`insert into beside values (${n})`.then(() => n))),
    );
    assert.deepEqual([first!.status, second!.status], ["fulfilled", "rejected"]);
  });
  assert.deepEqual([...(await sql`select n from beside`)], [{ n: 1 }]);
});

test("a transaction with a failed statement that was not awaited is not reported as committed", async (t) => {
  const { pool, sql, admin } = await opened(t);
  await admin`create table unwatched (n int primary key)`;
  const careless = pool.transaction(async (tx) => {
    await tx`insert into unwatched values (1)`;
    tx`insert into unwatched values (1)`.catch(() => {});
  });
  await assert.rejects(careless, { code: "23505" });
  assert.equal((await sql`select from unwatched`).count, 0);
});

test("a savepoint that outlives its transaction runs no statement, and a statement outside of an open savepoint is refused", async (t) => {
  const { pool, sql, admin } = await opened(t);
  await admin`create table outlived (n int)`;
  const { promise: over, resolve: end } = Promise.withResolvers<void>();
  let late: Promise<unknown> | undefined;
  const failing = pool.transaction(async (tx) => {
    late = tx.savepoint(async (part) => {
      await over;
      await part`insert into outlived values (1)`;
    });
    late.catch(() => {});
    await assert.rejects(
      async () => await tx`insert into outlived values (2)`,
      /savepoint of this transaction is open/,
    );
    throw new Error("given up");
  });
  await assert.rejects(failing, /given up/);
  end();
  await assert.rejects(late!, /The transaction has ended/);
  assert.equal((await sql`select from outlived`).count, 0);
});

test("a statement after the end of its transaction is refused", async (t) => {
  const { pool, sql } = await opened(t);
  const tx = await pool.transaction(async (inner) => ({ inner }));
  await assert.rejects(async () => await tx.inner`select 1`, { code: "CONNECTION_CLOSED" });
  assert.equal((await sql`select 1`).count, 1);
});

test("transactions and statements of many callers share few connections", async (t) => {
  const { pool, sql, admin } = await opened(t, { maxConnections: 3 });
  await admin`create table sums (n int)`;
  await Promise.all(
    Array.from({ length: 300 }, async (_, n) => {
      if (n % 3 === 0) await pool.transaction((tx) => tx`insert into sums values (${n})`);
      else await sql`insert into sums values (${n})`;
    }),
  );
  assert.deepEqual(
    [...(await sql`select count(*)::int as rows, sum(n)::int as sum from sums`)],
    [{ rows: 300, sum: 44850 }],
  );
});

test("quick reads share a few connections; statements that may be slow get an idle one", async (t) => {
  const { pool, sql, admin } = await opened(t, { maxConnections: 10 });
  await admin`create table written (pid int)`;
  await Promise.all(Array.from({ length: 10 }, () => pool.transaction((tx) => tx`select pg_sleep(0.05)`)));
  const quick = () => backendPid(sql);
  /** The connections of reads at the same time, and that of a slow statement beside them. */
  const readBesideSlow = async () => {
    for (let i = 0; i < 20; i++) await quick();
    const slow = sql<{ pid: number }[]>`select pg_backend_pid() as pid, pg_sleep(0.5)`.then(([row]) => row!.pid);
    const pids = await Promise.all(Array.from({ length: 30 }, quick));
    return { pids: new Set(pids), slowPid: await slow };
  };
  // On a busy machine a read may take too long to count as quick.
  await until(async () => {
    const { pids, slowPid } = await readBesideSlow();
    return pids.size <= 4 && !pids.has(slowPid);
  });
  const write = () => sql<{ pid: number }[]>`insert into written values (pg_backend_pid()) returning pid`;
  for (let i = 0; i < 20; i++) await write();
  const writers = await Promise.all(Array.from({ length: 8 }, write));
  assert.equal(new Set(writers.map(([row]) => row!.pid)).size, 8);
});

test("the connections of a burst are closed, although one of them stays in use", async (t) => {
  const { pool, sql } = await opened(t, { maxConnections: 6, idleMs: 500 });
  await Promise.all(Array.from({ length: 6 }, () => pool.transaction((tx) => tx`select pg_sleep(0.05)`)));
  const isShrunk = async () => {
    await sql`select 1`;
    const { busy, idle } = pool.load();
    return busy + idle === 1;
  };
  await until(isShrunk);
});

test("callers that wait for an unreachable database fail immediately", async (t) => {
  const pool = new Pool("postgres://nobody@%2Ftmp%2Fno-such-folder/none", { maxConnections: 2 });
  t.after(() => pool.end(0));
  const outcomes = await Promise.allSettled(Array.from({ length: 10 }, () => pool.sql`select 1`.then()));
  for (const outcome of outcomes) assert.equal(outcome.status === "rejected" && outcome.reason.code, "ENOENT");
  await assert.rejects(
    pool.transaction(async () => {}),
    { code: "ENOENT" },
  );
});

test("attempts to connect that hang at a lost server do not delay those that reach its successor", async (t) => {
  const { url } = await opened(t);
  const silent = createServer().listen(0, "127.0.0.1");
  await once(silent, "listening");
  const proxy = await startTcpProxy({ host: "127.0.0.1", port: (silent.address() as AddressInfo).port });
  const pool = new Pool(`postgres://switchyard@127.0.0.1:${proxy.port}${new URL(url).pathname}`, { maxConnections: 8 });
  t.after(async () => {
    await proxy.close();
    await pool.end(1000);
    silent.close();
  });
  const reads = Promise.all(Array.from({ length: 5 }, () => pool.sql`select 1`.then()));
  await until(() => proxy.size >= 2);
  proxy.lead(addressOf(url));
  // They fail if they wait until the first attempts time out.
  await reads;
});

test("a server without TLS is refused, unless TLS is only preferred", async (t) => {
  const { url } = await opened(t);
  const connect = async (mode: string) => {
    const pool = new Pool(`${url}?sslmode=${mode}`, { maxConnections: 1 });
    try {
      return (await pool.sql`select 1`).count;
    } finally {
      await pool.end(1000);
    }
  };
  await assert.rejects(connect("require"), /SSL/);
  assert.equal(await connect("prefer"), 1);
});

test("closing waits for statements in flight and refuses later ones", async (t) => {
  const { pool, sql, admin } = await opened(t, { maxConnections: 2 });
  await admin`create table kept (n int)`;
  const slow = pool.transaction(async (tx) => {
    await tx`select pg_sleep(0.2)`;
    await tx`insert into kept values (1)`;
  });
  const waiting = Promise.all(Array.from({ length: 50 }, () => sql`insert into kept values (2)`.then()));
  await until(async () => (await admin`select from pg_stat_activity where wait_event = 'PgSleep'`).count > 0);
  const ended = pool.end(5000);
  await assert.rejects(async () => await sql`select 1`, { code: "CONNECTION_ENDED" });
  await Promise.all([slow, waiting, ended]);
  assert.equal((await admin`select from kept`).count, 51);
});

test("closing has a timeout", async (t) => {
  const { pool, sql, admin } = await opened(t);
  const endless = assert.rejects(async () => await sql`select pg_sleep(60)`, { code: "CONNECTION_CLOSED" });
  await until(async () => (await admin`select from pg_stat_activity where wait_event = 'PgSleep'`).count > 0);
  await pool.end(300);
  await endless;
});

test("an idle connection is closed after the idle timeout", async (t) => {
  const { sql, admin } = await opened(t, { idleMs: 100 });
  const pid = await backendPid(sql);
  await until(async () => (await admin`select from pg_stat_activity where pid = ${pid}`).count === 0);
  assert.notEqual(await backendPid(sql), pid);
});

test("the first rows of a result end before the row that would take too many bytes; the rest is never sent", async (t) => {
  const { sql } = await opened(t);
  await sql`create sequence sent`;
  const read = (bytesMax: number) =>
    sql<{ n: number; text: string }[]>`
      select n, repeat('x', 1000) as text, nextval('sent') from generate_series(1, 10000) as n`.firstRows(bytesMax);
  const rows = await read(10_500);
  assert.deepEqual([rows.length, rows.at(-1)!.n, rows.isCut], [10, 10, true]);
  const [sent] = await sql<{ last: number }[]>`select last_value::int as last from sent`;
  assert.ok(sent!.last < 100, `${sent!.last} rows were sent`);
  assert.deepEqual(
    [await read(1), await read(1e9)].map(({ length, isCut }) => [length, isCut]),
    [
      [1, true],
      [10_000, false],
    ],
  );
});

test("a read of first rows shares its connection with statements before and behind it, also when it fails", async (t) => {
  const { pool, sql } = await opened(t);
  const one = (n: number) => sql<{ n: number }[]>`select ${n}::int as n`;
  const first = (divisor: number, rowsMax: number, bytesMax: number) =>
    sql<{ n: number }[]>`
      select 100 / (n - ${divisor}::int) as n, repeat('x', 1000) as text from generate_series(1, ${rowsMax}) as n`.firstRows(
      bytesMax,
      rowsMax,
    );
  for (const [rowsMax, bytesMax, count] of [
    [200, 70_000, 68],
    [50, 20_000, 19],
  ] as const) {
    const outcomes = await Promise.allSettled([
      ...[one(1), first(-1, rowsMax, bytesMax), one(2)],
      ...[first(40, rowsMax, bytesMax), first(0, rowsMax, bytesMax), one(3)],
    ]);
    assert.deepEqual(
      outcomes.map((outcome) =>
        outcome.status === "fulfilled" ? [outcome.value.length, outcome.value[0]!.n] : outcome.reason.code,
      ),
      [[1, 1], [count, 50], [1, 2], "22012", [count, 100], [1, 3]],
    );
  }
  const inTransaction = await pool.transaction(async (tx) => {
    const rows = tx<{ n: number }[]>`select n from generate_series(1, 100) as n`.firstRows(500);
    const after = tx<{ n: number }[]>`select 7 as n`;
    return [(await rows).isCut, (await after)[0]!.n];
  });
  assert.deepEqual(inTransaction, [true, 7]);
});
