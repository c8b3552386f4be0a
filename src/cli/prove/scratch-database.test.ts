import assert from "node:assert/strict";
import { test } from "node:test";
import { testServerUrl } from "../../../test/harness/postgres.ts";
import { connect, databaseUrl } from "../../../test/harness/postgres-server.ts";
import { dropLeftDatabases } from "./scratch-database.ts";

test("only databases that a run has created and nobody uses are dropped", async (t) => {
  const server = testServerUrl();
  const sql = connect(databaseUrl(server, "postgres"), 1);
  const [foreign, used, left] = [
    "switchyard_prove_results",
    "switchyard_prove_k0000000_00000001",
    "switchyard_prove_k0000000_00000002",
  ];
  for (const name of [foreign, used, left]) await sql.unsafe(`create database ${name}`);
  const user = connect(databaseUrl(server, used), 1);
  t.after(async () => {
    await user.end();
    for (const name of [foreign, used, left]) await sql.unsafe(`drop database if exists ${name} with (force)`);
    await sql.end();
  });
  await user`select 1`;
  const dropped = await dropLeftDatabases(server);
  assert.deepEqual(
    [foreign, used, left].filter((name) => dropped.includes(name)),
    [left],
  );
  const rows = await sql`select datname from pg_database where datname in (${foreign}, ${used}, ${left}) order by 1`;
  assert.deepEqual(
    rows.map(({ datname }) => datname),
    [used, foreign],
  );
});
