import { chmod, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { serverUser } from "../../src/platform/db/embedded/embedded-user.ts";
import { freePort } from "../harness/free-port.ts";
import { installedPostgres } from "../harness/postgres-server.ts";
import { assertGuideWorks } from "./guide-tests.ts";

const installed = installedPostgres();
const skip = installed === undefined && "pg_basebackup is not installed here (on Debian: apt-get install postgresql)";

/** Creates a folder with PostgreSQL's programs, which start as a user that PostgreSQL accepts. */
async function createPrograms(programs: string, cluster: string): Promise<void> {
  await mkdir(programs);
  const { prefix } = serverUser(cluster, { userNamespaces: true });
  for (const name of "initdb pg_ctl createdb psql pg_dump pg_restore pg_basebackup pg_verifybackup".split(" ")) {
    const command = [...prefix, join(installed!, "bin", name)].join(" ");
    await writeFile(join(programs, name), `#!/bin/sh\nexec ${command} "$@"\n`);
    await chmod(join(programs, name), 0o755);
  }
}

test("an external database is dumped, backed up and recovered to a time as its guide says", { skip }, async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "sy-guide-"));
  t.after(() => rm(folder, { recursive: true, force: true, maxRetries: 20 }));
  const port = await freePort();
  const programs = join(folder, "bin");
  await createPrograms(programs, join(folder, "main"));
  const env = { WORK: folder, PORT: String(port), PATH: `${programs}:${process.env.PATH}` };
  await assertGuideWorks("back-up-external-postgresql.md", { baseUrl: `http://127.0.0.1:${port}`, adminKey: "", env });
});
