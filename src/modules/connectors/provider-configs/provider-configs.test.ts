import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import type { MessageInitShape } from "@bufbuild/protobuf";
import {
  ActivateProviderConfigRequestSchema,
  ArchiveProviderConfigRequestSchema,
  CreateProviderConfigRequestSchema,
  DisableProviderConfigRequestSchema,
  GetProviderConfigRequestSchema,
  ListProviderConfigsRequestSchema,
  UpdateProviderConfigRequestSchema,
} from "../../../../gen/service/api/provider_config_pb.ts";
import {
  type ContextChoice,
  failsWith,
  freshTenant,
  perform,
  recordedEvents,
  testDatabase,
} from "../../../../test/harness/context.ts";
import type { TenantId } from "../../../platform/access/index.ts";
import { createKeyring, reencrypt } from "../../../platform/crypto/index.ts";
import { createSignals, createTenantChanges } from "../../../platform/db/index.ts";
import { ulid } from "../../../platform/ids/ulid.ts";
import { compileManifest } from "../manifests/index.ts";
import { nextStatus, type ProviderConfigStatus, type ProviderConfigVerb } from "./domain/provider-config.ts";
import { createProviderConfigs, type OpenProviderConfig } from "./index.ts";

const db = await testDatabase();
const events = recordedEvents();
const keys = { k1: randomBytes(32).toString("base64"), k2: randomBytes(32).toString("base64") };
let nowMs = Date.parse("2027-01-31T12:00:00Z");
const { provider } = compileManifest({
  ...{ manifest: 1, key: "acme", version: "1.0.0", name: "Acme", category: "generic", description: "A test provider." },
  docs_url: "https://acme.example",
  hosts: ["acme.example"],
  base_url: "https://acme.example",
  auth: {
    oauth2: {
      authorize: { url: "https://acme.example/authorize" },
      token: { url: "https://acme.example/token", client_auth: "basic" },
    },
  },
  actions: {
    "account.get": {
      ...{ title: "Get the account", description: "Returns the account.", mutation: { effect: "read" } },
      request: { method: "GET", path: "/me" },
    },
  },
});
const signals = createSignals(db);
const changes = createTenantChanges(db, signals);
function moduleWith(activeKeyId: "k1" | "k2") {
  return createProviderConfigs({
    ...{ db, cacheLoadDb: db, events, changes },
    keyring: createKeyring({ activeKeyId, keys }),
    catalogue: { provider: async (_tenantId, key) => (key === "acme" ? provider : undefined) },
    publicUrl: () => "https://switchyard.example",
  });
}
const configs = moduleWith("k1");
const { handlers } = configs;

/** A tenant with environments; returns their ids. */
async function newTenant() {
  const tenantId = freshTenant();
  const ids = { production: ulid(nowMs), staging: ulid(nowMs) };
  for (const [key, id] of Object.entries(ids)) {
    await db.sql`
      insert into environments (tenant_id, id, key, name, mode, status, created_at, updated_at)
      values (${tenantId}, ${id}, ${key}, ${key}, 'live', 'active', now(), now())`;
  }
  return { tenantId, ...ids };
}

type Request = MessageInitShape<typeof CreateProviderConfigRequestSchema>;
const defaults = { providerKey: "acme", name: "App", clientId: "id-1", secrets: { client_secret: "s3cret-value" } };
async function createConfig(choice: ContextChoice, more: Request = {}) {
  const request = { ...defaults, ...more } as Request;
  const { createProviderConfig } = handlers;
  return (await perform(db, { nowMs, ...choice }, createProviderConfig, CreateProviderConfigRequestSchema, request))
    .providerConfig!;
}
async function update(choice: ContextChoice, request: MessageInitShape<typeof UpdateProviderConfigRequestSchema>) {
  const { updateProviderConfig } = handlers;
  return (await perform(db, { nowMs, ...choice }, updateProviderConfig, UpdateProviderConfigRequestSchema, request))
    .providerConfig!;
}
async function verb(name: ProviderConfigVerb, tenantId: TenantId, id: string) {
  const choice = { tenantId, nowMs };
  switch (name) {
    case "activate":
      return (await perform(db, choice, handlers.activateProviderConfig, ActivateProviderConfigRequestSchema, { id }))
        .providerConfig!;
    case "disable":
      return (await perform(db, choice, handlers.disableProviderConfig, DisableProviderConfigRequestSchema, { id }))
        .providerConfig!;
    case "archive":
      return (await perform(db, choice, handlers.archiveProviderConfig, ArchiveProviderConfigRequestSchema, { id }))
        .providerConfig!;
  }
}
const rowText = async (id: string) =>
  (await db.sql`select connector_provider_configs::text as line from connector_provider_configs where id = ${id}`)[0]!
    .line as string;

test("a config is created as a draft, with its redirect URI and without its secrets", async () => {
  const { tenantId, production } = await newTenant();
  const made = await createConfig({ tenantId }, { scopes: ["read"], settings: { region: "eu" } });
  assert.deepEqual(
    [made.status, made.clientId, made.secretNames, made.scopes, made.settings, made.environmentId],
    ["draft", "id-1", ["client_secret"], ["read"], { region: "eu" }, production],
  );
  assert.equal(made.redirectUri, `https://switchyard.example/connect/callback/${made.id}`);
  assert.ok(
    !JSON.stringify(made, (_, value) => (typeof value === "bigint" ? Number(value) : value)).includes("s3cret"),
  );
  assert.ok(!(await rowText(made.id)).includes("s3cret"));
  assert.deepEqual(events.recorded.at(-1), {
    tenantId,
    type: "provider_config.created",
    subject: made.id,
    data: { name: "App", provider_key: "acme", environment_id: production },
  });
  assert.ok(!JSON.stringify(events.recorded).includes("s3cret"));
  const { getProviderConfig } = handlers;
  const read = await perform(db, { tenantId }, getProviderConfig, GetProviderConfigRequestSchema, { id: made.id });
  assert.deepEqual(read.providerConfig, made);
  const opened = (await configs.open(tenantId, made.id)) as OpenProviderConfig;
  assert.deepEqual([opened.clientId, opened.secrets], ["id-1", { client_secret: "s3cret-value" }]);
});

test("another tenant's config does not exist, and environments are checked", async () => {
  const { tenantId, staging } = await newTenant();
  const made = await createConfig({ tenantId });
  const other = freshTenant();
  assert.equal(await configs.open(other, made.id), "config_missing");
  await assert.rejects(verb("activate", other, made.id), failsWith("NOT_FOUND", /^No such provider config/));
  await assert.rejects(createConfig({ tenantId }, { environmentId: "nowhere" }), failsWith("NOT_FOUND", /environment/));
  await assert.rejects(
    createConfig({ tenantId }, { providerKey: "nobody" }),
    failsWith("INVALID_ARGUMENT", /^provider_key/),
  );
  const production = { tenantId, environmentMode: "production_only" as const };
  await assert.rejects(createConfig(production, { environmentId: staging }), failsWith("PERMISSION_DENIED"));
  await createConfig({ tenantId }, { environmentId: staging });
  const { listProviderConfigs } = handlers;
  const list = async (choice: ContextChoice, request: object) =>
    (await perform(db, choice, listProviderConfigs, ListProviderConfigsRequestSchema, request)).providerConfigs.length;
  assert.equal(await list({ tenantId }, {}), 2);
  assert.equal(await list(production, {}), 1);
  assert.equal(await list({ tenantId }, { environmentId: staging }), 1);
  assert.equal(await list({ tenantId }, { status: "active" }), 0);
  assert.equal(await list({ tenantId }, { status: "draft", providerKey: "acme" }), 2);
});

/** The expected result of every verb in every status; undefined where it is refused. */
const expected: Readonly<
  Record<ProviderConfigStatus, Readonly<Record<ProviderConfigVerb, ProviderConfigStatus | undefined>>>
> = {
  draft: { activate: "active", disable: undefined, archive: "archived" },
  active: { activate: "active", disable: "disabled", archive: undefined },
  disabled: { activate: "active", disable: "disabled", archive: "archived" },
  archived: { activate: undefined, disable: undefined, archive: "archived" },
};
const pathTo: Readonly<Record<ProviderConfigStatus, readonly ProviderConfigVerb[]>> = {
  draft: [],
  active: ["activate"],
  disabled: ["activate", "disable"],
  archived: ["activate", "disable", "archive"],
};
for (const [from, verbs] of Object.entries(expected) as [ProviderConfigStatus, (typeof expected)["draft"]][]) {
  for (const [name, to] of Object.entries(verbs) as [ProviderConfigVerb, ProviderConfigStatus | undefined][]) {
    test(`${name} in the status ${from} ${to === undefined ? "is refused" : `leads to ${to}`}`, async () => {
      const { tenantId } = await newTenant();
      const { id } = await createConfig({ tenantId });
      for (const step of pathTo[from]) await verb(step, tenantId, id);
      const before = events.recorded.length;
      if (to === undefined) {
        assert.throws(() => nextStatus(from, name), failsWith("FAILED_PRECONDITION"));
        await assert.rejects(verb(name, tenantId, id), failsWith("FAILED_PRECONDITION"));
      } else {
        assert.equal((await verb(name, tenantId, id)).status, to);
      }
      const isChange = to !== undefined && to !== from;
      assert.equal(events.recorded.length - before, isChange ? 1 : 0);
      const [row] = await db.sql`select status from connector_provider_configs where id = ${id}`;
      assert.equal(row!.status, to ?? from);
    });
  }
}

test("activation needs the client id and the secret that the provider asks for", async () => {
  const { tenantId } = await newTenant();
  const { id } = await createConfig({ tenantId }, { clientId: "", secrets: {} });
  await assert.rejects(verb("activate", tenantId, id), failsWith("FAILED_PRECONDITION", /client_id/));
  await update({ tenantId }, { id, clientId: "app" });
  await assert.rejects(verb("activate", tenantId, id), failsWith("FAILED_PRECONDITION", /client_secret/));
  const short = update({ tenantId }, { id, secrets: { client_secret: "abc" } });
  await assert.rejects(short, failsWith("INVALID_ARGUMENT", /secrets\.client_secret: must have at least 4/));
  await update({ tenantId }, { id, secrets: { client_secret: "other" } });
  assert.ok((await verb("activate", tenantId, id)).activatedAt);
});

test("updates change what is present; secrets are merged, and the client id is fixed once the config is active", async () => {
  const { tenantId } = await newTenant();
  const { id, recordVersion } = await createConfig({ tenantId });
  const secretsOf = async () => ((await configs.open(tenantId, id)) as OpenProviderConfig).secrets;
  assert.deepEqual(await secretsOf(), { client_secret: "s3cret-value" });
  const changed = await update(
    { tenantId },
    { id, name: "New", scopeSet: { scopes: ["a"] }, secrets: { signing_secret: "sign" }, recordVersion },
  );
  assert.deepEqual(
    [changed.name, changed.scopes, changed.secretNames, changed.clientId],
    ["New", ["a"], ["client_secret", "signing_secret"], "id-1"],
  );
  assert.deepEqual(events.recorded.at(-1)!.data.fields, ["name", "secrets", "scopes"]);
  assert.deepEqual(await secretsOf(), { client_secret: "s3cret-value", signing_secret: "sign" });
  const removed = await update({ tenantId }, { id, secrets: { signing_secret: "" }, scopeSet: {} });
  assert.deepEqual([removed.secretNames, removed.scopes], [["client_secret"], []]);
  await assert.rejects(update({ tenantId }, { id, name: "X", recordVersion }), failsWith("VERSION_CONFLICT"));
  assert.deepEqual(await update({ tenantId }, { id }), removed);
  await verb("activate", tenantId, id);
  await assert.rejects(update({ tenantId }, { id, clientId: "id-2" }), failsWith("FAILED_PRECONDITION", /one app/));
  await update({ tenantId }, { id, clientId: "id-1", secrets: { client_secret: "rotated" } });
  assert.deepEqual(await secretsOf(), { client_secret: "rotated" });
  await verb("disable", tenantId, id);
  await verb("archive", tenantId, id);
  await assert.rejects(update({ tenantId }, { id, name: "X" }), failsWith("FAILED_PRECONDITION", /archived/));
});

test("a config that connections or pending revocations use cannot be archived; an archived one has no secrets and cannot be opened", async () => {
  const { tenantId } = await newTenant();
  const { id } = await createConfig({ tenantId });
  const connection = ulid(nowMs);
  await db.sql`
    insert into connector_connections (tenant_id, id, environment_id, environment_key, name, provider_key,
      provider_config_id, status, ciphertext, key_id,
      created_at, updated_at)
    values (${tenantId}, ${connection}, ${tenantId}, 'production', 'c', 'acme', ${id}, 'needs_reauth', '', 'k1', now(), now())`;
  await assert.rejects(verb("archive", tenantId, id), failsWith("IN_USE", /Revoke them first/));
  await db.sql`
    update connector_connections set status = 'revoked', provider_revocation = 'pending' where id = ${connection}`;
  await assert.rejects(verb("archive", tenantId, id), failsWith("IN_USE", /being revoked at the provider/));
  assert.ok(typeof (await configs.open(tenantId, id)) === "object", "the pending revocation can use the secrets");
  await db.sql`update connector_connections set provider_revocation = 'succeeded' where id = ${connection}`;
  const archived = await verb("archive", tenantId, id);
  assert.deepEqual([archived.status, archived.secretNames], ["archived", []]);
  assert.equal(await configs.open(tenantId, id), "config_archived");
  const [row] = await db.sql`select ciphertext, key_id from connector_provider_configs where id = ${id}`;
  assert.deepEqual(row, { ciphertext: "", keyId: "" });
});

test("a config cannot be archived while a connection of it is being stored", async () => {
  const { tenantId } = await newTenant();
  const { id } = await createConfig({ tenantId });
  const { promise: held, resolve: hold } = Promise.withResolvers<void>();
  const { promise: archiving, resolve: archive } = Promise.withResolvers<void>();
  const storing = db.transaction(async (tx) => {
    assert.equal((await configs.hold(tx, tenantId, id))!.status, "draft");
    hold();
    await archiving;
    await tx`
      insert into connector_connections (tenant_id, id, environment_id, environment_key, name, provider_key,
      provider_config_id, status, ciphertext, key_id,
        created_at, updated_at)
      values (${tenantId}, ${ulid(nowMs)}, ${tenantId}, 'production', 'c', 'acme', ${id}, 'active', '', 'k1', now(), now())`;
  });
  await held;
  const refused = assert.rejects(verb("archive", tenantId, id), failsWith("IN_USE"));
  archive();
  await Promise.all([storing, refused]);
});

test("of several active configs the last activated one is the default of its environment", async () => {
  const { tenantId, staging } = await newTenant();
  const made = [await createConfig({ tenantId }), await createConfig({ tenantId })];
  const defaultId = async (environmentId = "") =>
    (await configs.findDefault(db.sql, tenantId, "acme", environmentId))?.id;
  assert.equal(await defaultId(), undefined);
  for (const { id } of [made[1]!, made[0]!]) {
    nowMs += 1;
    await verb("activate", tenantId, id);
    assert.equal(await defaultId(), id);
  }
  assert.equal(await defaultId(staging), undefined);
  await verb("disable", tenantId, made[0]!.id);
  assert.equal(await defaultId(), made[1]!.id);
});

test("secrets are re-encrypted when the master key changes and still open", async () => {
  const { tenantId } = await newTenant();
  const { id } = await createConfig({ tenantId });
  const bare = await createConfig({ tenantId }, { secrets: {} });
  const rotated = moduleWith("k2");
  const { reencrypted, unreadable } = await reencrypt(
    createKeyring({ activeKeyId: "k2", keys }),
    rotated.sealed,
    new AbortController().signal,
  );
  assert.ok(reencrypted > 0);
  assert.equal(unreadable, 0);
  const rows =
    await db.sql`select id, key_id from connector_provider_configs where id in (${id}, ${bare.id}) order by id`;
  assert.deepEqual(rows.map(({ keyId }) => keyId).sort(), ["", "k2"]);
  assert.deepEqual(((await rotated.open(tenantId, id)) as OpenProviderConfig).secrets, {
    client_secret: "s3cret-value",
  });
});
