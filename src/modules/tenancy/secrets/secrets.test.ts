import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { toJsonString } from "@bufbuild/protobuf";
import {
  AccessSecretRequestSchema,
  CreateSecretRequestSchema,
  DeleteSecretRequestSchema,
  GetSecretRequestSchema,
  ListSecretsRequestSchema,
  ListSecretsResponseSchema,
  UpdateSecretRequestSchema,
} from "../../../../gen/service/api/secret_pb.ts";
import {
  type ContextChoice,
  failsWith,
  freshTenant,
  perform,
  recordedEvents,
  testDatabase,
} from "../../../../test/harness/context.ts";
import { createKeyring, type Keyring } from "../../../platform/crypto/index.ts";
import { classifyDatabaseError } from "../../../platform/db/index.ts";
import { createSecrets } from "./index.ts";

const db = await testDatabase();
const events = recordedEvents();
const keyring = createKeyring({ activeKeyId: "k1", keys: { k1: randomBytes(32).toString("base64") } });
const moduleWith = (keys: Keyring | undefined) =>
  createSecrets({ db, keyring: keys, events, platformTenantId: freshTenant });
const secrets = moduleWith(keyring);
const { handlers } = secrets;

const add = async (choice: ContextChoice, request: object) =>
  (await perform(db, choice, handlers.createSecret, CreateSecretRequestSchema, request)).secret!;
const update = async (choice: ContextChoice, secretId: string, change: object) =>
  (await perform(db, choice, handlers.updateSecret, UpdateSecretRequestSchema, { secretId, ...change })).secret!;
const access = (choice: ContextChoice, secretId: string) =>
  perform(db, choice, handlers.accessSecret, AccessSecretRequestSchema, { secretId });
const remove = (choice: ContextChoice, secretId: string) =>
  perform(db, choice, handlers.deleteSecret, DeleteSecretRequestSchema, { secretId });

test("a value is stored encrypted, returned by AccessSecret, and shown nowhere else", async () => {
  const tenantId = freshTenant();
  const value = "hunter2-swordfish";
  const secret = await add({ tenantId }, { name: "smtp/password", value, metadata: { owner: "mail" } });
  assert.deepEqual([secret.version, secret.encryptionKeyId, secret.metadata], [1, "k1", { owner: "mail" }]);
  assert.equal((await access({ tenantId, plane: "internal" }, secret.id)).value, value);
  const [row] = await db.sql`select secrets::text as text from secrets where id = ${secret.id}`;
  assert.ok(row!.text.includes("xc1:k1:") && !row!.text.includes(value));
  const page = await perform(db, { tenantId }, handlers.listSecrets, ListSecretsRequestSchema, {});
  assert.doesNotMatch(toJsonString(ListSecretsResponseSchema, page), /hunter2|xc1:/);
  assert.doesNotMatch(JSON.stringify(events.recorded), /hunter2|xc1:/);
});

test("a new value increments the version; new metadata does not", async () => {
  const tenantId = freshTenant();
  const { id } = await add({ tenantId }, { name: "token", value: "one", metadata: { a: 1 } });
  const valued = await update({ tenantId }, id, { value: "two" });
  assert.deepEqual([valued.version, valued.recordVersion, valued.metadata], [2, 2n, { a: 1 }]);
  assert.deepEqual(events.recorded.at(-1), {
    tenantId,
    type: "secret.updated",
    subject: id,
    data: { name: "token", version: 2, fields: ["value"] },
  });
  const noted = await update({ tenantId }, id, { metadata: { b: 2 } });
  assert.deepEqual([noted.version, noted.recordVersion, noted.metadata], [2, 3n, { b: 2 }]);
  assert.equal((await access({ tenantId }, id)).value, "two");
  await assert.rejects(
    update({ tenantId }, id, { value: "late", recordVersion: 2n }),
    failsWith("VERSION_CONFLICT", /version 3/),
  );
});

test("a name is unique in its tenant, and can be reused after the secret is deleted", async () => {
  const tenantId = freshTenant();
  const { id } = await add({ tenantId }, { name: "token", value: "one" });
  await add({}, { name: "token", value: "of another tenant" });
  await assert.rejects(
    add({ tenantId }, { name: "token", value: "two" }),
    (error) => classifyDatabaseError(error)?.code === "ALREADY_EXISTS",
  );
  await remove({ tenantId }, id);
  assert.equal((await db.sql`select from secrets where id = ${id}`).count, 0);
  await add({ tenantId }, { name: "token", value: "two" });
});

test("every operation reports a deleted secret, another tenant's secret and an invalid id as not found", async () => {
  const tenantId = freshTenant();
  const { id } = await add({ tenantId }, { name: "token", value: "one" });
  const refused = async (choice: ContextChoice, secretId: string) => {
    const none = failsWith("NOT_FOUND", /^No such secret\.$/);
    await assert.rejects(perform(db, choice, handlers.getSecret, GetSecretRequestSchema, { secretId }), none);
    await assert.rejects(update(choice, secretId, { value: "x" }), none);
    await assert.rejects(access(choice, secretId), none);
    await assert.rejects(remove(choice, secretId), none);
  };
  await refused({ tenantId: freshTenant() }, id);
  await refused({ tenantId }, "a|b");
  await refused({ tenantId }, "token");
  await remove({ tenantId }, id);
  await refused({ tenantId }, id);
});

test("other modules read a tenant's secret by name or id", async () => {
  const tenantId = freshTenant();
  const { id } = await add({ tenantId }, { name: "token", value: "one" });
  for (const known of [id, "token"]) {
    const decrypted = await secrets.read(db.sql, tenantId, known);
    assert.deepEqual([decrypted!.secret.id, decrypted!.value], [id, "one"]);
    assert.equal("ciphertext" in decrypted!.secret, false);
    assert.equal(await secrets.read(db.sql, freshTenant(), known), undefined);
  }
});

test("a ciphertext copied to another tenant's secret cannot be decrypted", async () => {
  const mine = await add({}, { name: "token", value: "mine" });
  const tenantId = freshTenant();
  const theirs = await add({ tenantId }, { name: "token", value: "theirs" });
  await db.sql`
    update secrets set ciphertext = (select ciphertext from secrets where id = ${mine.id}) where id = ${theirs.id}`;
  await assert.rejects(access({ tenantId }, theirs.id), failsWith("INTERNAL"));
});

test("without a master key the error names the setting, and metadata can still be read", async () => {
  const tenantId = freshTenant();
  const { id } = await add({ tenantId }, { name: "token", value: "one" });
  const keyless = moduleWith(undefined).handlers;
  const refused = failsWith("FAILED_PRECONDITION", /connector\.encryption_key/);
  await assert.rejects(
    perform(db, { tenantId }, keyless.createSecret, CreateSecretRequestSchema, { name: "other", value: "v" }),
    refused,
  );
  await assert.rejects(
    perform(db, { tenantId }, keyless.updateSecret, UpdateSecretRequestSchema, { secretId: id, value: "v" }),
    refused,
  );
  await assert.rejects(
    perform(db, { tenantId }, keyless.accessSecret, AccessSecretRequestSchema, { secretId: id }),
    refused,
  );
  const noted = await perform(db, { tenantId }, keyless.updateSecret, UpdateSecretRequestSchema, {
    secretId: id,
    metadata: { a: 1 },
  });
  assert.equal(noted.secret!.version, 1);
  const page = await perform(db, { tenantId }, keyless.listSecrets, ListSecretsRequestSchema, {});
  assert.deepEqual(
    page.secrets.map((secret) => secret.name),
    ["token"],
  );
});
