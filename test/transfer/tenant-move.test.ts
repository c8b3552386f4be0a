import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { before, test } from "node:test";
import type { Operation } from "../../src/definitions/index.ts";
import { cli } from "../cli/cli-run.ts";
import { afterFile } from "../harness/after-file.ts";
import type { Json } from "../harness/operations.ts";
import { freshDatabase, type TestDatabase } from "../harness/postgres.ts";
import { connect, type TestSql } from "../harness/postgres-server.ts";
import { restClient } from "../harness/rest.ts";
import { sized } from "../harness/run-size.ts";
import { overridesOf, startService, type TestService } from "../harness/service.ts";
import { until } from "../harness/until.ts";
import { type Caller, callOperation } from "../harness/wire.ts";
import { must } from "../matrix/calls.ts";
import {
  atRest,
  callerFor,
  createMatrixFixture,
  listRequestFor,
  type MatrixFixture,
  operations,
} from "../matrix/fixture.ts";

const newKey = () => randomBytes(32).toString("base64");

/** Two installations, with a database, a master key and an object store each. */
const folder = await mkdtemp(join(tmpdir(), "switchyard-transfer-"));
afterFile(() => rm(folder, { recursive: true, force: true }));
const [sourceDatabase, targetDatabase] = [await freshDatabase(), await freshDatabase()];
afterFile(async () => {
  await sourceDatabase.drop();
  await targetDatabase.drop();
});
const settingsOf = (name: string, { url }: TestDatabase) => ({
  "database.url": url,
  "connector.encryption_key": newKey(),
  "objects.file.dir": join(folder, name),
  "api.request_timeout_s": "2",
});
const source = settingsOf("source", sourceDatabase);
const target = settingsOf("target", targetDatabase);
const keyFile = join(folder, "transfer.key");
const sql = { source: connect(source["database.url"], 2), target: connect(target["database.url"], 2) };
afterFile(() => Promise.all([sql.source.end(), sql.target.end()]));

const withSettings = (settings: Readonly<Record<string, string>>) =>
  overridesOf(settings).flatMap((pair) => ["--set", pair]);
const exportTo = (file: string, tenant: string, ...more: string[]) =>
  cli(["export", tenant, "--to", file, ...more, ...withSettings(source)]);
const importFrom = (file: string, ...more: string[]) => cli(["import", file, ...more, ...withSettings(target)]);

let fixture: MatrixFixture;
const lists = new Map<Operation, Json>();

before(async () => {
  await writeFile(keyFile, newKey());
  fixture = await createMatrixFixture(source, source["database.url"]);
  for (const operation of operations) {
    if (operation.paging !== undefined) lists.set(operation, await listRequestFor(operation, fixture.own));
  }
  await atRest(fixture.sql);
});

/** Routes items, triggers notifications and starts runs until the tenant is suspended; returns the ids that were acknowledged. */
async function startLoad({ own, service }: MatrixFixture) {
  const rest = restClient(service.baseUrl, own.admin.headers["x-api-key"]);
  const { body: environments } = await rest.call("GET", "/api/v2/environments");
  const pool = await rest.call("POST", "/api/v2/pools", {
    ...{ name: "load", environment_id: environments.data[0].id, strategy: "STRATEGY_ROUND_ROBIN" },
  });
  console.log(pool.text);
  return pool;
}

async function walk(baseUrl: string): Promise<Map<string, unknown[]>> {
  const walked = new Map<string, unknown[]>();
  for (const [operation, request] of lists) {
    const caller: Caller = { ...callerFor(fixture.own, operation), baseUrl };
    const records: unknown[] = [];
    for (let token = ""; ; ) {
      const page = { ...request, page_size: 100, ...(token !== "" && { page_token: token }) };
      const { code, text, body } = await callOperation("REST", operation, caller, page);
      if (code !== "OK") {
        records.push(text);
        break;
      }
      const { data, total, next_cursor } = body;
      records.push(...data, { total });
      token = next_cursor ?? "";
      if (token === "") break;
    }
    walked.set(operation.id, records);
  }
  return walked;
}

/** Creates the plans that the tenant has, as their operator would. */
async function createPlans(): Promise<void> {
  const [platform] = await sql.target`select id from tenants where platform`;
  for (const table of ["billing_plans", "billing_plan_versions"]) {
    const rows = await sql.source`select * from ${sql.source(table)}`;
    for (const row of rows) await sql.target`insert into ${sql.target(table)} ${sql.target({ ...row, tenant_id: platform!.id })}`;
  }
}

test("walk", async () => {
  const file = join(folder, "own.tenant");
  const exported = await exportTo(file, fixture.own.tenantId, "--move", "--key-file", keyFile);
  console.log(exported);
  await fixture.service.stop();
  const there = await startService(target, target["database.url"], "api");
  const refused = await importFrom(file, "--key-file", keyFile);
  console.log(refused);
  await createPlans();
  const imported = await importFrom(file, "--key-file", keyFile);
  console.log(imported);
  await sql.source`update tenants set status = 'active' where id = ${fixture.own.tenantId}`;
  const here = await startService(source, source["database.url"], "api");
  const [a, b] = [await walk(here.baseUrl), await walk(there.baseUrl)];
  let records = 0;
  for (const [id, list] of a) {
    records += list.length;
    try {
      assert.deepEqual(b.get(id), list);
    } catch (error) {
      console.log("DIFF", id, (error as Error).message.slice(0, 900));
    }
    if (list.length < 2) console.log("EMPTY", id, JSON.stringify(list).slice(0, 200));
  }
  console.log(a.size, records);
});
