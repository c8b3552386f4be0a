import { randomBytes } from "node:crypto";
import { administer, connect, databaseUrl, SERVER_URL, TEMPLATE, type TestSql } from "./postgres-server.ts";

/** A migrated database of the test's own. */
export interface TestDatabase {
  readonly url: string;
  readonly sql: TestSql;
  /** Closes `sql`, ends every other connection to the database and removes it. */
  drop(): Promise<void>;
}

/** Creates a migrated database that nobody else uses. */
export async function freshDatabase(): Promise<TestDatabase> {
  const server = testServerUrl();
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

/** The URL of the server that all test files share. */
export function testServerUrl(): string {
  const url = process.env[SERVER_URL];
  if (url === undefined)
    throw new Error("Run tests with `node scripts/test.mjs <file …>`: it starts their PostgreSQL.");
  return url;
}
