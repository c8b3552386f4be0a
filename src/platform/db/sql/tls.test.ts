import assert from "node:assert/strict";
import { after, before, type TestContext, test } from "node:test";
import { startTlsServer, type TlsServer } from "../../../../test/harness/tls-postgres.ts";
import { until } from "../../../../test/harness/until.ts";
import { classifyDatabaseError } from "../classify.ts";
import { openDatabase } from "../database.ts";
import { Pool } from "./pool.ts";
import type { Sql } from "./sql.ts";

let server: TlsServer;

before(async () => {
  server = await startTlsServer();
});

after(() => server.stop());

function withTls(parameters: Record<string, string>): string {
  const url = new URL(server.url);
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  return url.href;
}

function verified(): string {
  return withTls({ sslmode: "verify-full", sslrootcert: server.rootFile });
}

function opened(t: TestContext, url: string, maxConnections = 1): Pool {
  const pool = new Pool(url, { maxConnections });
  t.after(() => pool.end(1000));
  return pool;
}

async function isEncrypted(sql: Sql): Promise<boolean> {
  const [row] = await sql<{ ssl: boolean }[]>`select ssl from pg_stat_ssl where pid = pg_backend_pid()`;
  return row!.ssl;
}

async function refusal(t: TestContext, url: string): Promise<Error> {
  try {
    await opened(t, url).sql`select 1`;
  } catch (error) {
    return error as Error;
  }
  throw new Error("The server was not refused.");
}

test("every TLS mode connects to a server with a valid certificate", async (t) => {
  const root = { sslrootcert: server.rootFile };
  for (const parameters of [
    { sslmode: "prefer" },
    { sslmode: "require" },
    { sslmode: "require", ...root },
    { sslmode: "verify-ca", ...root },
    { sslmode: "verify-full", ...root },
    { sslmode: "verify-full", sslnegotiation: "direct", ...root },
  ]) {
    assert.equal(await isEncrypted(opened(t, withTls(parameters)).sql), true, JSON.stringify(parameters));
  }
});

test("a server that requires TLS refuses a connection without it", async (t) => {
  const error = await refusal(t, server.url);
  assert.match(error.message, /no encryption/);
});

test("a certificate of another authority is refused by every verifying mode, with advice", async (t) => {
  for (const sslmode of ["require", "verify-ca", "verify-full"]) {
    const error = await refusal(t, withTls({ sslmode, sslrootcert: server.otherRootFile }));
    assert.match(error.message, /not as secure as sslmode asks .* in sslrootcert/, sslmode);
    assert.equal(classifyDatabaseError(error)?.code, "UNAVAILABLE");
  }
  const untold = await refusal(t, withTls({ sslmode: "verify-full" }));
  assert.match(untold.message, /in sslrootcert/, "without a file, the authorities of the system are trusted");
});

test("a certificate for another host name is refused by verify-full, and by no other mode", async (t) => {
  const byName = (sslmode: string) =>
    withTls({ sslmode, sslrootcert: server.rootFile }).replace("127.0.0.1", "localhost");
  const error = await refusal(t, byName("verify-full"));
  assert.match(error.message, /localhost.*Use a host name that the server's certificate lists/);
  assert.equal(await isEncrypted(opened(t, byName("verify-ca")).sql), true);
});

test("an unreadable root certificate file is named", async (t) => {
  const error = await refusal(t, withTls({ sslmode: "verify-full", sslrootcert: "/no/such/file" }));
  assert.match(error.message, /sslrootcert=\/no\/such\/file, which cannot be read/);
});

test("statements are pipelined over TLS, and transactions and large values arrive intact", async (t) => {
  const pool = opened(t, verified());
  const numbers = Array.from({ length: 200 }, (_, n) => n);
  const answers = await Promise.all(numbers.map((n) => pool.sql<{ n: number }[]>`select ${n}::int as n`));
  assert.deepEqual(
    answers.map(([row]) => row!.n),
    numbers,
  );
  const large = "x".repeat(5_000_000);
  const [row] = await pool.transaction((tx) => tx<{ text: string }[]>`select ${large} as text`);
  assert.equal(row!.text, large);
});

test("a statement is cancelled over TLS, and its connection stays usable", async (t) => {
  const { sql } = opened(t, verified());
  const { sql: admin } = opened(t, verified());
  const [{ pid } = { pid: 0 }] = await sql<{ pid: number }[]>`select pg_backend_pid() as pid`;
  const slow = assert.rejects(async () => await sql`select pg_sleep(60)`, { code: "57014" });
  await until(
    async () => (await admin`select from pg_stat_activity where pid = ${pid} and wait_event = 'PgSleep'`).count > 0,
  );
  await admin`select pg_cancel_backend(${pid})`;
  await slow;
  assert.equal((await sql`select from pg_stat_activity where pid = ${pid} and pid = pg_backend_pid()`).count, 1);
});

test("notifications arrive over TLS, also after the connection was lost", async (t) => {
  const db = openDatabase(verified(), { maxConnections: 1, applicationName: "under test" });
  t.after(() => db.close());
  const { sql: admin } = opened(t, verified());
  const heard: string[] = [];
  let listened = 0;
  await db.listen(
    "over_tls",
    (payload) => heard.push(payload),
    () => listened++,
  );
  await admin`select pg_notify('over_tls', 'first')`;
  await until(() => heard.includes("first"));
  await admin`select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'under test'`;
  await until(() => listened === 2);
  await admin`select pg_notify('over_tls', 'second')`;
  await until(() => heard.includes("second"));
});
