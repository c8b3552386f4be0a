import assert from "node:assert/strict";
import { readdir } from "node:fs/promises";
import { test } from "node:test";
import { freshDatabase } from "../harness/postgres.ts";
import { isAlive, withDescendants } from "../harness/process-tree.ts";
import { until } from "../harness/until.ts";
import { type ProveRun, startProve } from "./prove-run.ts";

test("a run that is killed leaves no process, no folder and no database", async (t) => {
  const database = await freshDatabase();
  t.after(database.drop);
  const run = await startProve(["--set", `database.url=${database.url}`, "--set", "server.internal_addr="]);
  const scratch = () => database.sql`
    select datname::text as name, (select count(*)::int from pg_stat_activity a where a.datname = d.datname) as connections
    from pg_database d where datname like 'switchyard_prove_%'`;
  // The nodes serve: they have connections.
  await until(scratch, ([found]) => found !== undefined && found.connections > 6);
  await assertCleansUp(run);
  await until(scratch, (found) => found.length === 0);
});

test("a run on its own PostgreSQL that is killed leaves no process and no folder", async () => {
  const run = await startProve(["--embedded", "--nodes", "2"]);
  // The watchdog, the server and two nodes, each in a process or more.
  await until(
    () => withDescendants(run.process.pid).length,
    (processes) => processes > 12,
  );
  await assertCleansUp(run);
});

/** Kills a run, and waits until all its processes have ended and its files are gone. */
async function assertCleansUp({ process, folder }: ProveRun): Promise<void> {
  const pids = withDescendants(process.pid);
  assert.equal((await readdir(folder)).length, 1);
  process.kill("SIGKILL");
  await until(
    () => readdir(folder),
    (left) => left.length === 0,
  );
  await until(
    () => pids.filter(isAlive),
    (alive) => alive.length === 0,
  );
}
