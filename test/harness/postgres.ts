import { randomBytes } from "node:crypto";
import { after } from "node:test";
import {
  administer,
  connect,
  databaseUrl,
  SERVER_URL,
  startTestServer,
  TEMPLATE,
  type TestServer,
  type TestSql,
} from "./postgres-server.ts";

/** A migrated database of the test's own. */
export interface TestDatabase {
  readonly url: string;
  readonly sql: TestSql;
  /** Closes `sql`, ends every other connection to the database and removes it. */
  drop(): Promise<void>;
}

/** Creates a migrated database that nobody else uses. */
export async function freshDatabase(): Promise<TestDatabase> {
  const server = process.env[SERVER_URL] ?? (await ownServer()).url;
  const name = `test_${randomBytes(8).toString("hex")}`;
  await administer(server, `create database ${name} template ${TEMPLATE}`);
  const url = databaseUrl(server, name);
  const sql = connect(url, 10);
  return {
    url,
    sql,
    drop: async () => {
      await sql.end({ timeout: 1 });
      await administer(server, `drop database if exists ${name} with (force)`);
    },
  };
}

let own: Promise<TestServer> | undefined;

/** For a file that runs alone: one server, started at the first need and stopped after the file's last test. */
function ownServer(): Promise<TestServer> {
  own ??= startTestServer();
  return own;
}

after(async () => {
  await (await own)?.stop();
});
