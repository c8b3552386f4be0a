import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import { bindingOf } from "../../src/modules/tenancy/secrets/domain/secret.ts";
import { createKeyring } from "../../src/platform/crypto/index.ts";
import { ulid } from "../../src/platform/ids/ulid.ts";
import { query, scratch } from "../harness/embedded-owner.ts";
import { freshDatabase } from "../harness/postgres.ts";
import { administer, databaseUrl } from "../harness/postgres-server.ts";
import { cli } from "./cli-run.ts";

const set = (...pairs: string[]) =>
  ["server.internal_addr=127.0.0.1:0", "log.level=silent", ...pairs].flatMap((pair) => ["--set", pair]);

test("migrate brings an empty database up to date and reports the applied migrations", async () => {
  const { url } = await freshDatabase();
  const name = `empty_${randomBytes(6).toString("hex")}`;
  await administer(url, `create database ${name}`);
  const words = ["migrate", ...set(`database.url=${databaseUrl(url, name)}`)];
  const first = await cli(words);
  assert.equal(first.exitCode, 0, first.err);
  const files = readdirSync(join(import.meta.dirname, "../../migrations")).filter((each) => each.endsWith(".sql"));
  assert.equal(
    first.out,
    `${files
      .sort()
      .map((each) => `applied ${each}\n`)
      .join("")}The schema is up to date.\n`,
  );
  const second = await cli(words);
  assert.equal(second.out, "The schema is already up to date.\n");
  await administer(url, `drop database ${name}`);
});

test("a start on the data of an earlier build says that it must be exported or removed", async (t) => {
  const { url } = await freshDatabase();
  const name = `earlier_${randomBytes(6).toString("hex")}`;
  const earlier = databaseUrl(url, name);
  await administer(url, `create database ${name}`);
  t.after(() => administer(url, `drop database ${name} with (force)`));
  await query(earlier, "create table schema_migrations (name text primary key, sha256 text not null)");
  await query(earlier, "insert into schema_migrations values ('0001_kernel_core.sql', '')");
  const key = `connector.encryption_key=${randomBytes(32).toString("base64")}`;
  const started = await cli(["serve", ...set(`database.url=${earlier}`, key)]);
  assert.equal(started.exitCode, 1);
  assert.match(
    started.err,
    /earlier build: it has 0001_kernel_core\.sql\. .* Export .* start with an empty database: remove/,
  );
});

test("rotate-keys re-encrypts the secrets of older keys, and only once", async () => {
  const { url, sql, drop } = await freshDatabase();
  const [older, newer] = [randomBytes(32).toString("base64"), randomBytes(32).toString("base64")];
  const before = createKeyring({ activeKeyId: "k1", keys: { k1: older } });
  const after = createKeyring({ activeKeyId: "k2", keys: { k2: newer } });
  const secret = { tenantId: ulid(Date.now()), id: ulid(Date.now()) };
  const ciphertext = before.seal("hush", bindingOf(secret));
  await sql`
    insert into secrets (tenant_id, id, name, ciphertext, key_id, created_at, updated_at)
    values (${secret.tenantId}, ${secret.id}, 'a', ${ciphertext}, 'k1', now(), now())`;

  const keys = [`database.url=${url}`, `connector.encryption_key=${newer}`, "connector.encryption_key_id=k2"];
  const without = await cli(["rotate-keys", ...set(...keys)]);
  assert.equal(without.exitCode, 1);
  assert.match(without.err, /1 secrets cannot be decrypted/);

  const words = ["rotate-keys", ...set(...keys, `connector.rotation_keys=k1=${older}`)];
  const first = await cli(words);
  assert.equal(first.exitCode, 0, first.err);
  assert.equal(first.out, "Re-encrypted 1 secrets with key k2.\n");
  const [row] = await sql`select ciphertext, key_id from secrets where id = ${secret.id}`;
  assert.equal(row!.key_id, "k2");
  assert.equal(after.open(row!.ciphertext, bindingOf(secret)), "hush");
  assert.equal((await cli(words)).out, "Re-encrypted 0 secrets with key k2.\n");
  await drop();
});

test("rotate-keys requires the shared master key", async () => {
  const { exitCode, err } = await cli(["rotate-keys", ...set("database.url=postgres://u@127.0.0.1:1/x")]);
  assert.equal(exitCode, 78);
  assert.match(err, /connector\.encryption_key: is required/);
});

test("while a service runs the embedded PostgreSQL, other commands name the process that owns it", async (t) => {
  const { dataDir, owner } = await scratch(t, { initialised: true });
  const { started } = owner({ durable: false });
  assert.ok("url" in (await started));
  const migrate = await cli(["migrate", ...set(`data.dir=${dataDir}`)]);
  assert.equal(migrate.exitCode, 1);
  assert.match(migrate.err, /is in use by process \d+.* migrates the schema at every start/);
  const rotate = await cli(["rotate-keys", ...set(`data.dir=${dataDir}`)]);
  assert.equal(rotate.exitCode, 1);
  assert.match(rotate.err, /is in use by process \d+.* re-encrypts all secrets within the hour/);
  const serve = await cli([
    "serve",
    ...set(`data.dir=${dataDir}`, "log.level=silent", "server.internal_addr=127.0.0.1:0"),
  ]);
  assert.equal(serve.exitCode, 1);
  assert.match(serve.err, /is in use by process \d+.* Stop that process, or choose another folder: --set data\.dir=/);
  const doctor = await cli(["doctor", ...set(`data.dir=${dataDir}`, "auth.api_key_enabled=true")]);
  assert.match(doctor.out, /^ok {4}database: a service is running/m);
});
