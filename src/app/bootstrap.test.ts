import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { announcedChanges } from "../../test/harness/changes.ts";
import { freshTenant, recordedEvents, testDatabase } from "../../test/harness/context.ts";
import { loadConfig } from "../config/index.ts";
import { createApiKeys } from "../modules/tenancy/index.ts";
import { systemClock } from "../platform/clock/clock.ts";
import { createLog } from "../platform/log/log.ts";
import { ensureAdminAccess } from "./bootstrap.ts";
import { openKeyring } from "./keyring.ts";

const db = await testDatabase();

/** The start of a node with its own data directory and tenant. */
async function scratch(t: TestContext) {
  const dataDir = await mkdtemp(join(tmpdir(), "switchyard-bootstrap-"));
  t.after(() => rm(dataDir, { recursive: true }));
  const tenantId = freshTenant();
  const parts = { events: recordedEvents(), log: createLog("silent") };
  const node = () =>
    createApiKeys({
      ...parts,
      db,
      clock: systemClock,
      changes: announcedChanges().changes,
      findOwner: async () => undefined,
      bcryptCost: 4,
      scopes: new Set(),
    });
  const config = (...more: string[]) =>
    loadConfig({
      overrides: [`data.dir=${dataDir}`, "server.internal_addr=", "auth.api_key_enabled=true", ...more],
    }).config;
  return {
    dataDir,
    config,
    start: (...more: string[]) =>
      ensureAdminAccess({ config: config(...more), db, clock: systemClock, apiKeys: node(), tenantId }),
    opens: async (key = "") => (await node().verifier.verify(key))?.principal.tenantId === tenantId,
    revoke: () => db.sql`update api_keys set revoked_at = now() where tenant_id = ${tenantId}`,
  };
}

test("the first start creates an admin key in a file that only its owner can read; later starts reuse it", async (t) => {
  const { dataDir, start, opens } = await scratch(t);
  const first = await start();
  assert.ok(await opens(first?.key));
  const file = join(dataDir, "admin.key");
  const { keyId, ...shown } = first!;
  assert.match(keyId, /^[0-9A-Z]{26}$/);
  assert.deepEqual(shown, { key: (await readFile(file, "utf8")).trim(), file, isNew: true });
  assert.equal((await stat(file)).mode & 0o777, 0o600);
  assert.deepEqual(await start(), { ...first, isNew: false });
});

test("a first start that stopped after it wrote the key file does not lock the operator out", async (t) => {
  const { dataDir, start, opens } = await scratch(t);
  const written = `sk_dev_cut_${randomBytes(24).toString("base64url")}`;
  await writeFile(join(dataDir, "admin.key"), `${written}\n`);
  assert.equal((await start())?.key, written);
  assert.ok(await opens(written));
});

test("a first start that stopped while it wrote a key file does not break the next start", async (t) => {
  const { dataDir, start, opens, config } = await scratch(t);
  for (const name of ["admin.key", "master.key"]) await writeFile(join(dataDir, `${name}.new`), "half of a k");
  assert.ok(await opens((await start())?.key));
  const sealed = openKeyring(config())!.seal("secret", { tenantId: "t", recordId: "r", field: "f" });
  assert.equal(openKeyring(config())!.open(sealed, { tenantId: "t", recordId: "r", field: "f" }), "secret");
});

test("the error names a key file without a valid key", async (t) => {
  const { dataDir, start } = await scratch(t);
  await writeFile(join(dataDir, "admin.key"), "not a key\n");
  await assert.rejects(start(), /admin\.key contains no valid API key/);
});

test("a revoked admin key is neither shown nor restored", async (t) => {
  const { start, opens, revoke } = await scratch(t);
  const first = await start();
  await revoke();
  assert.equal(await start(), undefined);
  assert.equal(await opens(first?.key), false);
});

test("with an external database only the operator's own key gives access", async (t) => {
  const { start, opens } = await scratch(t);
  const external = "database.url=postgres://nobody@localhost/nothing";
  assert.equal(await start(external), undefined);
  const chosen = "sk_test_operator_0123456789abcdef";
  // The key works but is not shown, because the output of such a node ends up in collected logs.
  assert.equal(await start(external, `auth.bootstrap_api_key=${chosen}`), undefined);
  assert.ok(await opens(chosen));
});

test("no key is created if API keys are disabled", async (t) => {
  const { start } = await scratch(t);
  assert.equal(await start("auth.api_key_enabled=false"), undefined);
});
