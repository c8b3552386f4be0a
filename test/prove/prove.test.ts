import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import { test } from "node:test";
import { promises } from "../../src/cli/prove/promises.ts";
import { freshDatabase } from "../harness/postgres.ts";
import { until } from "../harness/until.ts";
import { prove, startProve } from "./prove-run.ts";

test("a short run breaks nodes, finds every promise kept, and leaves nothing behind", async () => {
  const { exitCode, report, folder } = await prove(["--embedded", "--minutes", "0.2", "--seed", "3"]);
  assert.equal(exitCode, 0, JSON.stringify(report, null, 2));
  assert.equal(report.verdict, "held");
  assert.deepEqual(
    report.promises.filter(({ status }) => status !== "held"),
    [],
  );
  assert.ok(report.faults.kill! > 0);
  assert.ok(report.acknowledged.route! > 100);
  assert.deepEqual(await readdir(folder), []);
});

test("a run that is killed leaves no process, no folder and no database", async (t) => {
  const database = await freshDatabase();
  t.after(database.drop);
  const run = await startProve(["--set", `database.url=${database.url}`, "--set", "server.internal_addr="]);
  const scratch = () => database.sql`
    select datname::text as name, (select count(*)::int from pg_stat_activity a where a.datname = d.datname) as connections
    from pg_database d where datname like 'switchyard_prove_%'`;
  // The nodes serve: they have connections.
  await until(scratch, ([found]) => found !== undefined && found.connections > 6);
  assert.equal((await readdir(run.folder)).length, 1);
  run.process.kill("SIGKILL");
  await until(scratch, (found) => found.length === 0);
  await until(
    () => readdir(run.folder),
    (left) => left.length === 0,
  );
});

test("every promise names a page that exists", async () => {
  for (const { document } of promises) {
    const [path, anchor] = document.split("#");
    const text = await readFile(new URL(`../../${path}`, import.meta.url), "utf8");
    if (anchor !== undefined) assert.match(text.toLowerCase(), new RegExp(`^#+ ${anchor.replaceAll("-", " ")}$`, "m"));
  }
});
