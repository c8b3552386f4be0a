import { randomBytes } from "node:crypto";
import { copyFile, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { migrate } from "../../src/platform/db/migrate.ts";
import { testServerUrl } from "./postgres.ts";
import { administer, databaseUrl } from "./postgres-server.ts";

const folder = join(import.meta.dirname, "../../migrations");

/** A database with the tables of an earlier version. */
export interface EarlierDatabase {
  readonly url: string;
  /** Applies the remaining migrations. */
  upgrade(): Promise<void>;
}

/** Creates a database with all migrations before a number, for example "0008". It is dropped after the test. */
export async function earlierDatabase(t: TestContext, before: string): Promise<EarlierDatabase> {
  const serverUrl = testServerUrl();
  const name = `earlier_${randomBytes(8).toString("hex")}`;
  const earlier = await mkdtemp(join(tmpdir(), "switchyard-migrations-"));
  await administer(serverUrl, `create database ${name}`);
  t.after(async () => {
    await administer(serverUrl, `drop database ${name} with (force)`);
    await rm(earlier, { recursive: true });
  });
  const url = databaseUrl(serverUrl, name);
  for (const file of await readdir(folder)) {
    if (file < before) await copyFile(join(folder, file), join(earlier, file));
  }
  await migrate(url, earlier);
  return {
    url,
    async upgrade() {
      await migrate(url, folder);
    },
  };
}
