import { randomBytes } from "node:crypto";
import { administer, connect, databaseUrl, SERVER_URL, TEMPLATE, type TestSql } from "./postgres-server.ts";

/** A migrated database for one test. */
export interface TestDatabase {
  readonly url: string;
  readonly sql: TestSql;
  /** Closes `sql`, ends every other connection to the database and drops it. */
  drop(): Promise<void>;
}

/** Creates a new migrated database. */
export async function freshDatabase(): Promise<TestDatabase> {
  const server = testServerUrl();
  const name = `test_${randomBytes(8).toString("hex")}`;
  // Copying the files takes half the CPU time of the default strategy, which logs every page.
  await administer(server, `create database ${name} template ${TEMPLATE} strategy file_copy`);
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

/** The URL of the shared test server. */
export function testServerUrl(): string {
  const url = process.env[SERVER_URL];
  if (url === undefined)
    throw new Error("Run tests with `node scripts/test.mjs <file …>`: it starts their PostgreSQL.");
  return url;
}
