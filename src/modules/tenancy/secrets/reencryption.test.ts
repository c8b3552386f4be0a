import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { beforeEach, test } from "node:test";
import { UpdateSecretRequestSchema } from "../../../../gen/service/api/secret_pb.ts";
import { untilBlocked } from "../../../../test/harness/blocked-statements.ts";
import { freshTenant, perform, recordedEvents, testDatabase } from "../../../../test/harness/context.ts";
import type { TenantId } from "../../../platform/access/index.ts";
import { createKeyring, type Reencryptable, reencrypt } from "../../../platform/crypto/index.ts";
import { ulid } from "../../../platform/ids/ulid.ts";
import { bindingOf } from "./domain/secret.ts";
import { createSecrets } from "./index.ts";
import { reencryptableSecrets } from "./store.ts";

const db = await testDatabase();
const keys = { k1: randomBytes(32).toString("base64"), k2: randomBytes(32).toString("base64") };
const old = createKeyring({ activeKeyId: "k1", keys: { k1: keys.k1 } });
const rotated = createKeyring({ activeKeyId: "k2", keys });
const platform = freshTenant();
const signal = new AbortController().signal;
const nodeWith = (keyring: typeof old, otherTables: Reencryptable[] = []) =>
  createSecrets({
    db,
    keyring,
    events: recordedEvents(),
    platformTenantId: () => platform,
    otherTables,
  });

beforeEach(() => db.sql`truncate secrets, jobs`);

/** Adds one secret per value, sealed with the old key, spread over a few tenants. */
async function addOld(values: readonly string[]): Promise<{ tenantId: TenantId; id: string }[]> {
  const tenants = [freshTenant(), freshTenant(), freshTenant()];
  const rows = values.map((value, n) => {
    const known = { tenantId: tenants[n % 3]!, id: ulid(Date.now()) };
    return { ...known, ciphertext: old.seal(value, bindingOf(known)) };
  });
  await db.sql`
    insert into secrets (tenant_id, id, name, ciphertext, key_id, created_at, updated_at)
    select tenant_id, id, 's' || id, ciphertext, 'k1', now(), now()
    from unnest(${rows.map((row) => row.tenantId)}::text[], ${rows.map((row) => row.id)}::text[],
      ${rows.map((row) => row.ciphertext)}::text[]) as row(tenant_id, id, ciphertext)`;
  return rows;
}

const numbered = (count: number) => Array.from({ length: count }, (_, n) => `value ${n}`);
const keyIds = async () =>
  (await db.sql<{ keyId: string }[]>`select distinct key_id from secrets order by 1`).map((row) => row.keyId);

test("all secrets are re-encrypted in batches, and their values and versions stay unchanged", async () => {
  const values = numbered(450);
  const added = await addOld(values);
  const node = nodeWith(rotated);
  assert.deepEqual(await node.reencryptAll(signal), { reencrypted: 450, unreadable: 0 });
  assert.deepEqual(await keyIds(), ["k2"]);
  for (const n of [0, 199, 200, 449]) {
    const decrypted = await node.read(db.sql, added[n]!.tenantId, added[n]!.id);
    assert.equal(decrypted!.value, values[n]);
    assert.deepEqual([decrypted!.secret.version, decrypted!.secret.recordVersion], [1, 1]);
  }
  assert.deepEqual(await node.reencryptAll(signal), { reencrypted: 0, unreadable: 0 });
});

test("re-encryption never overwrites a value that changed after it was read", async () => {
  const [changed, other] = await addOld(["before", "other"]);
  const oldNode = nodeWith(old);
  const table = reencryptableSecrets(db.sql);
  const interrupted: Reencryptable = {
    ...table,
    async next(...wanted) {
      const stale = await table.next(...wanted);
      await perform(db, changed!, oldNode.handlers.updateSecret, UpdateSecretRequestSchema, {
        secretId: changed!.id,
        value: "after",
      });
      return stale;
    },
  };
  assert.deepEqual(await reencrypt(rotated, interrupted, signal), { reencrypted: 1, unreadable: 0 });
  const node = nodeWith(rotated);
  assert.equal((await node.read(db.sql, changed!.tenantId, changed!.id))!.value, "after");
  assert.equal((await node.read(db.sql, other!.tenantId, other!.id))!.value, "other");
});

test("re-encryption never overwrites a concurrent update", async () => {
  const [known] = await addOld(["before"]);
  const node = nodeWith(rotated);
  const { promise: blocked, resolve: release } = Promise.withResolvers<void>();
  const { promise: updated, resolve: onUpdated } = Promise.withResolvers<void>();
  const updating = db.transaction(async (tx) => {
    const ciphertext = old.seal("after", bindingOf(known!));
    await tx`update secrets set ciphertext = ${ciphertext}, version = 2 where id = ${known!.id}`;
    onUpdated();
    await blocked;
  });
  await updated;
  const running = node.reencryptAll(signal);
  await untilBlocked(db.sql);
  release();
  await updating;
  assert.deepEqual(await running, { reencrypted: 0, unreadable: 0 });
  assert.equal((await node.read(db.sql, known!.tenantId, known!.id))!.value, "after");
});

test("concurrent nodes re-encrypt each value once, and no update is lost", async () => {
  const values = numbered(450);
  const added = await addOld(values);
  const node = nodeWith(rotated);
  const updates = added.slice(0, 60).map((known, n) =>
    perform(db, known, node.handlers.updateSecret, UpdateSecretRequestSchema, {
      secretId: known.id,
      value: `new ${n}`,
    }),
  );
  const runs = Array.from({ length: 4 }, () => nodeWith(rotated).reencryptAll(signal));
  const [done] = await Promise.all([Promise.all(runs), Promise.all(updates)]);
  const reencrypted = done.reduce((sum, each) => sum + each.reencrypted, 0);
  assert.ok(reencrypted >= 390 && reencrypted <= 450, `${reencrypted}`);
  assert.deepEqual(await keyIds(), ["k2"]);
  const decrypted = await Promise.all(added.map(({ tenantId, id }) => node.read(db.sql, tenantId, id)));
  assert.deepEqual(
    decrypted.map((each) => each!.value),
    values.map((value, n) => (n < 60 ? `new ${n}` : value)),
  );
});

test("a value that no key decrypts is skipped and counted, and does not block the others", async () => {
  const [broken] = await addOld(numbered(201));
  await db.sql`update secrets set ciphertext = 'xc1:k0:' || split_part(ciphertext, ':', 3), key_id = 'k0' where id = ${broken!.id}`;
  const node = nodeWith(rotated);
  assert.deepEqual(await node.reencryptAll(signal), { reencrypted: 200, unreadable: 1 });
  assert.deepEqual(await keyIds(), ["k0", "k2"]);
  const job = { tenantId: platform, id: "j", payload: {}, attempt: 1, signal };
  await assert.rejects(node.jobs[0]!.handler(job), /1 sealed values cannot be decrypted: .*connector\.rotation_keys/);
});

test("a stopping node finishes only the current batch", async () => {
  await addOld(numbered(1));
  await assert.rejects(nodeWith(rotated).reencryptAll(AbortSignal.abort()), { name: "AbortError" });
  assert.deepEqual(await keyIds(), ["k1"]);
});

test("a start with a new key schedules one job for all nodes, and a start without a new key schedules none", async () => {
  const planned = async () => (await db.sql`select from jobs where kind = 'secrets.reencrypt'`).count;
  await nodeWith(rotated).scheduleReencryption(Date.now());
  await addOld(["one"]);
  await nodeWith(old).scheduleReencryption(Date.now());
  assert.equal(await planned(), 0);
  await Promise.all([nodeWith(rotated), nodeWith(rotated)].map((node) => node.scheduleReencryption(Date.now())));
  assert.equal(await planned(), 1);
});

test("one run also re-encrypts the tables of other modules", async () => {
  const binding = { tenantId: platform, recordId: "c1", field: "connector.credential" };
  let ciphertext = old.seal("theirs", binding);
  const table: Reencryptable = {
    table: "other",
    bindingOf: () => binding,
    next: async () => (rotated.isCurrent(ciphertext) ? [] : [{ tenantId: platform, id: "c1", ciphertext }]),
    async replace(_activeKeyId, [only]) {
      ciphertext = only!.replacement;
      return 1;
    },
  };
  const node = nodeWith(rotated, [table]);
  await node.scheduleReencryption(Date.now());
  assert.equal((await db.sql`select from jobs`).count, 1);
  assert.deepEqual(await node.reencryptAll(signal), { reencrypted: 1, unreadable: 0 });
  assert.equal(rotated.open(ciphertext, binding), "theirs");
});
