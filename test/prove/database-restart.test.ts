import assert from "node:assert/strict";
import { test } from "node:test";
import { withProofPlace } from "../../src/cli/prove/proof-database.ts";
import { loadConfig } from "../../src/config/index.ts";
import { connect } from "../harness/postgres-server.ts";
import { overridesOf } from "../harness/service.ts";
import { startProve } from "./prove-run.ts";

const watchdog = { guard() {}, guardProcesses() {}, dismiss() {} };

test("the crash of a database ends its connections, and loses nothing that was committed", async (t) => {
  // While the server is down, nothing else keeps the event loop alive.
  const alive = setInterval(() => {}, 1000);
  t.after(() => clearInterval(alive));
  const { config } = loadConfig({ overrides: overridesOf({}) });
  const options = { config, isEmbedded: true, restartCommand: undefined, watchdog };
  await withProofPlace(options, async ({ databaseUrl, restartDatabase }) => {
    const before = connect(databaseUrl, 1);
    await before`create table kept as select 1 as number`;
    const waiting = assert.rejects(before`select pg_sleep(60)`);
    const url = await restartDatabase!();
    await waiting;
    const after = connect(url, 1);
    assert.deepEqual([...(await after`select number from kept`)], [{ number: 1 }]);
    await Promise.allSettled([before.end(), after.end()]);
  });
});

test("a server of the settings is restarted only with a command", async () => {
  const { ended } = await startProve(["--database-restart"]);
  const { exitCode, err } = await ended;
  assert.equal(exitCode, 2);
  assert.match(err, /Say how to restart the database server/);
});
