import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { before, test } from "node:test";
import { isDeepStrictEqual } from "node:util";
import { gunzipSync, gzipSync } from "node:zlib";
import type { Operation } from "../../src/definitions/index.ts";
import { createKeyring } from "../../src/platform/crypto/index.ts";
import { cli } from "../cli/cli-run.ts";
import { afterFile } from "../harness/after-file.ts";
import { startNodeProcess } from "../harness/node-process.ts";
import type { Json } from "../harness/operations.ts";
import { freshDatabase, type TestDatabase } from "../harness/postgres.ts";
import { connect, type TestSql } from "../harness/postgres-server.ts";
import { restClient } from "../harness/rest.ts";
import { sized } from "../harness/run-size.ts";
import { overridesOf, startService, type TestService } from "../harness/service.ts";
import { until } from "../harness/until.ts";
import { callOperation } from "../harness/wire.ts";
import { must, operationNamed } from "../matrix/calls.ts";
import {
  atRest,
  callerFor,
  createMatrixFixture,
  listRequestFor,
  type MatrixFixture,
  operations,
  requestFor,
} from "../matrix/fixture.ts";
import { tenantAt } from "../routing/tenant-fixture.ts";

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
  // Records that contain addresses of the service are the same then.
  "api.public_url": "https://service.example.com",
});
const source = settingsOf("source", sourceDatabase);
const target = settingsOf("target", targetDatabase);
const keyFile = join(folder, "transfer.key");
const otherKeyFile = join(folder, "other.key");
const sql = { source: connect(source["database.url"], 2), target: connect(target["database.url"], 2) };
afterFile(() => Promise.all([sql.source.end(), sql.target.end()]));

const withSettings = (settings: Readonly<Record<string, string>>) =>
  overridesOf(settings).flatMap((pair) => ["--set", pair]);
/** A move waits for the time that a call may take; the nodes allow more, because the machine may be busy. */
const exportTo = (file: string, tenant: string, ...more: string[]) =>
  cli(["export", tenant, "--to", file, ...more, ...withSettings({ ...source, "api.request_timeout_s": "2" })]);
const importFrom = (file: string, ...more: string[]) => cli(["import", file, ...more, ...withSettings(target)]);

let fixture: MatrixFixture;
const lists = new Map<Operation, Json>();

before(async () => {
  await writeFile(keyFile, newKey());
  await writeFile(otherKeyFile, newKey());
  fixture = await createMatrixFixture(source, source["database.url"]);
  for (const operation of operations) {
    if (operation.paging !== undefined) lists.set(operation, await listRequestFor(operation, fixture.own));
  }
  await atRest(fixture.sql);
});

/** Creates the plans that the tenant has, as the operator of the installation would. */
async function createPlans(): Promise<void> {
  const [platform] = await sql.target`select id from tenants where platform`;
  for (const table of ["billing_plans", "billing_plan_versions"]) {
    for (const row of await sql.source`select * from ${sql.source(table)}`) {
      await sql.target`insert into ${sql.target(table)} ${sql.target({ ...row, tenant_id: platform!.id })}`;
    }
  }
}

const ownTenant = (service: TestService) =>
  tenantAt(service, { id: fixture.own.tenantId, key: fixture.own.admin.headers["x-api-key"]! });

/** Routes items, and publishes events about them, until the tenant is suspended; returns the acknowledged items. */
async function startLoad() {
  const tenant = ownTenant(fixture.service);
  const poolId = await tenant.pool();
  const acknowledged = new Set<string>();
  async function write(): Promise<string> {
    for (;;) {
      const { status, body } = await tenant.rest.call("POST", "/api/route", {
        pool_id: poolId,
        type: "load",
      });
      if (status !== 200) return `${body.errorCode}: ${body.detail}`;
      acknowledged.add(body.data.queue_item_id);
    }
  }
  const ended = Promise.all(Array.from({ length: 4 }, write));
  let isEnded = false;
  void ended.then(() => {
    isEnded = true;
  });
  await until(() => isEnded || acknowledged.size > sized(50, 5000), Boolean, 300_000);
  return { acknowledged, ended, poolId };
}

/** Every list operation's records, by operation, without what calls of the test change: ages, and the use of its keys. */
async function walk({ baseUrl }: TestService): Promise<Map<string, Json[]>> {
  const walked = new Map<string, Json[]>();
  for (const [operation, request] of lists) {
    const caller = { ...callerFor(fixture.own, operation), baseUrl };
    const records: Json[] = [];
    const paged = operation.paging!.kind === "cursor";
    for (let token = ""; ; ) {
      const page = paged ? { page_size: 100, ...(token !== "" && { page_token: token }) } : { per_page: 100 };
      const { code, text, body } = await callOperation("REST", operation, caller, { ...request, ...page });
      assert.equal(code, "OK", `${operation.id}: ${text}`);
      records.push(...body.data.map(({ oldest_age_s: _, last_used_at: __, ...record }: Json) => record), {
        total: body.total,
      });
      token = body.next_cursor ?? "";
      if (token === "") break;
    }
    walked.set(operation.id, records);
  }
  return walked;
}

const logOf = (side: TestSql) => side<{ id: string }[]>`
  select id from events where tenant_id = ${fixture.own.tenantId} order by stamp, id`;

/** What does not move, with the reason in the guide. */
const staying = new Set(["service.api.BrowserSessionService/ListBrowserSessions"]);

test("a copy leaves the source as it is, is suspended where it is imported, and has no secrets without a key", async () => {
  const { tenantId } = fixture.foreign;
  const rest = restClient(fixture.service.baseUrl, fixture.foreign.admin.headers["x-api-key"]);
  await rest.call("POST", "/api/v2/secrets", { name: "kept", value: "at home" });
  const file = join(folder, "copy.tenant");
  const exported = await exportTo(file, tenantId);
  assert.equal(exported.exitCode, 0, exported.err);
  assert.match(exported.out, /secrets: 1 secret left out \(give a key with --key-file/);
  assert.equal((await exportTo(file, tenantId)).exitCode, 5, "a file is never overwritten");
  assert.equal((await rest.call("GET", "/api/v2/environments")).status, 200);
  const imported = await importFrom(file);
  assert.equal(imported.exitCode, 0, imported.err);
  assert.match(imported.out, /secrets: 1 secret not in the file: set them again\n[\s\S]*The tenant is suspended/);
  const [tenant] = await sql.target`select status from tenants where id = ${tenantId}`;
  assert.equal(tenant!.status, "suspended");

  assert.match((await importFrom(file)).err, /exists already/);
  await sql.target`update tenants set id = ${"0".repeat(26)} where id = ${tenantId}`;
  const refused = await importFrom(file);
  assert.equal(refused.exitCode, 5);
  assert.match(refused.err, /Another tenant, 0+, has the slug/);
});

test("a tenant of the embedded PostgreSQL is exported while the service runs", async (t) => {
  const node = await startNodeProcess({ "data.dir": join(folder, "embedded") });
  t.after(() => node.kill());
  const { status, body } = await restClient(node.baseUrl, node.adminKey).call("POST", "/api/tenants", {
    name: "Running",
  });
  assert.equal(status, 200);
  const file = join(folder, "running.tenant");
  const exported = await cli([
    "export",
    body.data.id,
    "--to",
    file,
    ...withSettings({ "data.dir": join(folder, "embedded") }),
  ]);
  assert.equal(exported.exitCode, 0, exported.err);
  const imported = await importFrom(file);
  assert.equal(imported.exitCode, 0, imported.err);
  assert.match(imported.out, /^Imported Running \(/);
});

test("a tenant whose events have expired is exported", async () => {
  const platform = restClient(fixture.service.baseUrl, fixture.platform.admin.headers["x-api-key"]);
  const { status, body } = await platform.call("POST", "/api/tenants", { name: "Quiet" });
  assert.equal(status, 200);
  await sql.source`delete from events where tenant_id = ${body.data.id}`;
  const exported = await exportTo(join(folder, "quiet.tenant"), body.data.id);
  assert.equal(exported.exitCode, 0, exported.err);
});

test("the platform tenant and an unknown tenant are refused", async () => {
  const refused = await exportTo(join(folder, "platform.tenant"), fixture.platform.tenantId);
  assert.equal(refused.exitCode, 5);
  assert.match(refused.err, /service database move/);
  assert.equal((await exportTo(join(folder, "nobody.tenant"), "nobody")).exitCode, 4);
});

test("a tenant that is moved under load is equal in every list of the API, and nothing that was acknowledged is missing", async (t) => {
  const { own } = fixture;
  const file = join(folder, "own.tenant");
  const secret = await must("SecretService/CreateSecret", own, { name: "moved", value: "a secret" });
  const download = operationNamed("WorkflowObjectService/DownloadWorkflowObject");
  const object = await requestFor(download, own);
  await atRest(fixture.sql);
  const { acknowledged, ended, poolId } = await startLoad();
  const exported = await exportTo(file, own.tenantId, "--move", "--key-file", keyFile);
  assert.equal(exported.exitCode, 0, exported.err);
  assert.deepEqual(new Set(await ended), new Set(["TENANT_SUSPENDED: The tenant is suspended."]));
  await fixture.service.stop();

  const there = await startService(target, target["database.url"], "api");
  const refusals: [string[], RegExp][] = [
    [[], /give the key of the export with --key-file/],
    [["--key-file", otherKeyFile], /The key is not the one/],
    [["--key-file", keyFile], /Create these plans first: /],
  ];
  for (const [options, reason] of refusals) {
    const refused = await importFrom(file, ...options);
    assert.deepEqual([refused.exitCode, reason.test(refused.err)], [5, true], refused.err);
  }
  await createPlans();
  await refuseTakenKeys(file);
  await refuseDamaged(file);
  await interruptImport(file);
  assert.equal((await sql.target`select from events where tenant_id = ${own.tenantId}`).count, 0);
  const imported = await importFrom(file, "--key-file", keyFile);
  assert.equal(imported.exitCode, 0, imported.err);
  assert.match(imported.out, /and 1 object\.[\s\S]*secrets: 1 secret sealed[\s\S]*The tenant is active/);

  const [{ ciphertext } = { ciphertext: "" }] =
    await sql.target`select ciphertext from secrets where id = ${secret.body.data.id}`;
  const keyring = createKeyring({ activeKeyId: "k1", keys: { k1: target["connector.encryption_key"] } });
  const binding = { tenantId: own.tenantId, recordId: secret.body.data.id, field: "secret.value" };
  assert.equal(keyring.open(ciphertext, binding), "a secret");

  const log = await logOf(sql.source);
  assert.deepEqual([...(await logOf(sql.target))], [...log]);
  // The source is used again only to compare.
  await sql.source`update tenants set status = 'active' where id = ${own.tenantId}`;
  const here = await startService(source, source["database.url"], "api");
  const [expected, found] = [await walk(here), await walk(there)];
  assert.ok(expected.size > 80);
  const different = [...expected].filter(([id, records]) => !isDeepStrictEqual(found.get(id), records));
  assert.deepEqual(
    different.filter(([id]) => !staying.has(id)).map(([id, records]) => ({ id, records, found: found.get(id) })),
    [],
  );
  const recordCount = [...expected.values()].reduce((sum, records) => sum + records.length, 0);
  t.diagnostic(`${expected.size} lists, ${recordCount} records, ${acknowledged.size} items acknowledged under load`);
  const bytes = [here, there].map(({ baseUrl }) =>
    callOperation("REST", download, { ...own.admin, baseUrl }, object).then(({ code, text }) => ({ code, text })),
  );
  assert.deepEqual(await bytes[1], await bytes[0]);
  assert.equal((await bytes[1])!.code, "OK");

  const items = await sql.target`select id from all_items where tenant_id = ${own.tenantId} and pool_id = ${poolId}`;
  const missing = acknowledged.difference(new Set(items.map(({ id }) => id)));
  assert.deepEqual([...missing], []);
  // What happens from now on comes after what was imported.
  const environment = await ownTenant(there).ok("POST", "/api/v2/environments", { key: "after", name: "After" });
  const [last] = (await logOf(sql.target)).slice(-1);
  const [event] = await sql.target`select subject from events where tenant_id = ${own.tenantId} and id = ${last!.id}`;
  assert.equal(event!.subject, environment.data.id);
});

/** Imports a file with API keys that another tenant has. */
async function refuseTakenKeys(file: string): Promise<void> {
  const [taken] = await sql.source`select key from tenant_directory where tenant_id = ${fixture.own.tenantId} limit 1`;
  await sql.target`insert into tenant_directory (key, tenant_id) values (${taken!.key}, 'other')`;
  const refused = await importFrom(file, "--key-file", keyFile);
  assert.equal(refused.exitCode, 5);
  assert.match(refused.err, new RegExp(`Another tenant has these API keys or sign-in connections: ${taken!.key}\\.`));
  await sql.target`delete from tenant_directory where tenant_id = 'other'`;
}

/** Imports parts of a file, and a file of a later release. */
async function refuseDamaged(file: string): Promise<void> {
  const text = gunzipSync(await readFile(file)).toString();
  const changed = async (body: Buffer | string) => {
    const path = join(folder, "changed.tenant");
    await writeFile(path, typeof body === "string" ? gzipSync(body) : body);
    return importFrom(path, "--key-file", keyFile);
  };
  const bytes = await readFile(file);
  const [own, foreign] = [fixture.own.tenantId, fixture.foreign.tenantId];
  for (const [body, reason] of [
    [bytes.subarray(0, bytes.length / 2), /incomplete/],
    [text.slice(0, text.lastIndexOf('{"end"')), /incomplete: its end is missing/],
    [text.replace('"load"', '"lead"'), /damaged: the rows of/],
    [text.replace('"version":1', '"version":2'), /version 2 of the format/],
    [text.replace(/"schema":"\d+/, '"schema":"9999'), /newer than that of this database/],
    ["{}\n", /not the export of a tenant/],
    [text.replace(/"tenant":\{[^}]*\}/, '"tenant":{}'), /its first line is not whole/],
    [text.replace('{"table":', '{"table"'), /a line that is no part of the format/],
    [text.replace(/("table":"environments".*\n\[)/, "$1["), /the database does not accept its rows/],
    [text.replace(/("table":"secrets".*\n\[)/, "$1["), /a row that cannot be read/],
    [text.replace(/("table":"tenant_directory","columns":\[.*?)"tenant_id"/, '$1"key"'), /has rows of nobody/],
    // The bytes of another tenant would be replaced, or read and removed.
    [text.replace(`{"object":{"key":"${own}/`, `{"object":{"key":"${foreign}/`), /objects of another tenant/],
    [text.replaceAll(`"${own}/`, `"${foreign}/`), /objects of another tenant/],
  ] as const) {
    const refused = await changed(body as Buffer);
    assert.deepEqual([refused.exitCode, reason.test(refused.err)], [5, true], refused.err);
  }
}

/** Ends an import in the middle, as a crash would. */
async function interruptImport(file: string): Promise<void> {
  const blocker = connect(target["database.url"], 1);
  const locked = Promise.withResolvers<void>();
  const done = Promise.withResolvers<void>();
  const blocking = blocker.begin(async (tx) => {
    await tx`lock table events in share mode`;
    locked.resolve();
    await done.promise;
  });
  await locked.promise;
  const importing = importFrom(file, "--key-file", keyFile);
  await until(async () => {
    const blocked = await sql.target`
      select pg_terminate_backend(pid) from pg_stat_activity where query like 'insert into "events"%' and wait_event_type = 'Lock'`;
    return blocked.count > 0;
  });
  assert.equal((await importing).exitCode, 6);
  done.resolve();
  await blocking;
  await blocker.end();
}
