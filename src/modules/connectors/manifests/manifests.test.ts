import assert from "node:assert/strict";
import { test } from "node:test";
import {
  CreateManifestRequestSchema,
  DeleteManifestRequestSchema,
  GetManifestRequestSchema,
  GetManifestSchemaRequestSchema,
  ListManifestsRequestSchema,
  ValidateManifestRequestSchema,
} from "../../../../gen/service/api/connector_catalog_pb.ts";
import { announcedChanges } from "../../../../test/harness/changes.ts";
import {
  contextFor,
  failsWith,
  freshTenant,
  perform,
  recordedEvents,
  testDatabase,
} from "../../../../test/harness/context.ts";
import type { Context } from "../../../chain/call.ts";
import type { TenantId } from "../../../platform/access/index.ts";
import { createSignals, createTenantChanges } from "../../../platform/db/index.ts";
import type { Json, JsonObject } from "../../../platform/document/index.ts";
import { formatText } from "../../../platform/document-text/index.ts";
import { createEventLoopScheduler } from "../../../platform/event-loop/index.ts";
import { createLog } from "../../../platform/log/log.ts";
import { createManifests } from "./index.ts";
import { providersMax, versionsMax } from "./manifest-service.ts";
import { fixedProviders } from "./testing/fixed-providers.ts";
import { compile, manifestWith, smallManifest } from "./testing/manifest-documents.ts";

const db = await testDatabase();
const events = recordedEvents();
const inUse = new Set<string>();

function createNode() {
  const { changes: announced, standing } = announcedChanges();
  const changes = { ...announced, record: createTenantChanges(db, createSignals(db)).record };
  const manifests = createManifests({
    cacheLoadDb: db,
    log: createLog("silent"),
    shares: createEventLoopScheduler(),
    events,
    changes,
    configStates: async () => new Map(),
    findUse: async (_sql, tenantId, key) => (inUse.has(`${tenantId} ${key}`) ? "connections" : undefined),
    isPinned: async () => false,
    builtin: fixedProviders([compile(manifestWith({ key: "builtin", name: "Built in" }))]),
  });
  return { manifests, changes, standing };
}

const node = createNode();
const { handlers, catalogue, packRecords } = node.manifests;

async function createManifest(tenantId: TenantId, changes: Readonly<Record<string, Json | undefined>> = {}) {
  const request = { document: manifestWith(changes) as never };
  return (await perform(db, { tenantId }, handlers.manifests.createManifest, CreateManifestRequestSchema, request))
    .manifest!;
}
const deleteManifest = (tenantId: TenantId, id: string) =>
  perform(db, { tenantId }, handlers.manifests.deleteManifest, DeleteManifestRequestSchema, { id });
const getManifest = async (tenantId: TenantId, id: string) =>
  (await perform(db, { tenantId }, handlers.manifests.getManifest, GetManifestRequestSchema, { id })).manifest!;
const listManifests = (tenantId: TenantId, request: object = {}) =>
  perform(db, { tenantId }, handlers.manifests.listManifests, ListManifestsRequestSchema, request);

test("a created version is returned, listed and used", async () => {
  const tenantId = freshTenant();
  const made = await createManifest(tenantId);
  assert.deepEqual(
    [made.key, made.version, made.name, made.source, made.packId, made.active],
    ["acme", "1.0.0", "Acme", "tenant", "", true],
  );
  assert.equal(
    JSON.stringify((await getManifest(tenantId, made.id)).document),
    JSON.stringify(smallManifest),
    "the order of members is kept",
  );
  assert.deepEqual(await getManifest(tenantId, made.id), made);
  const { manifests, totalSize } = await listManifests(tenantId);
  assert.deepEqual([manifests.map(({ id, document }) => [id, document]), totalSize], [[[made.id, undefined]], 1]);
  assert.equal((await catalogue.action(tenantId, "acme.item.get"))?.action.title, "Get an item");
  assert.deepEqual(events.recorded.at(-1), {
    tenantId,
    type: "connector.manifest.created",
    subject: made.id,
    data: { key: "acme", version: "1.0.0", digest: made.digest },
  });
});

test("a manifest can be a YAML or JSON text; a bad one is refused with path and reason", async () => {
  const tenantId = freshTenant();
  const create = (request: object) =>
    perform(db, { tenantId }, handlers.manifests.createManifest, CreateManifestRequestSchema, request);
  const yaml = await create({ text: formatText(smallManifest, "yaml") });
  const json = await create({ text: JSON.stringify(manifestWith({ version: "2.0.0" })), format: "json" });
  assert.deepEqual([yaml.manifest?.version, json.manifest?.version], ["1.0.0", "2.0.0"]);
  await assert.rejects(create({}), failsWith("INVALID_ARGUMENT", /^document: must be given/));
  await assert.rejects(create({ text: "a: [" }), failsWith("INVALID_ARGUMENT", /^text: line 1/));
  await assert.rejects(
    create({ document: manifestWith({ hosst: [] }) }),
    failsWith("INVALID_ARGUMENT", /^document\.hosst: is not a field of a manifest; did you mean hosts\?/),
  );
});

test("a version never changes", async () => {
  const tenantId = freshTenant();
  const made = await createManifest(tenantId);
  const recorded = events.recorded.length;
  assert.equal((await createManifest(tenantId)).id, made.id);
  assert.equal(events.recorded.length, recorded);
  await assert.rejects(createManifest(tenantId, { name: "Other" }), failsWith("ALREADY_EXISTS", /raise the version/));
  assert.deepEqual(await getManifest(tenantId, made.id), made);
});

test("the newest version is the one in use, whatever the order of creation", async () => {
  const tenantId = freshTenant();
  const second = await createManifest(tenantId, { version: "1.10.0" });
  const first = await createManifest(tenantId, { version: "1.9.0" });
  const preview = await createManifest(tenantId, { version: "2.0.0-beta" });
  assert.deepEqual([second.active, first.active, preview.active], [true, false, true]);
  const states = (await listManifests(tenantId)).manifests.map(({ version, active }) => [version, active]);
  assert.deepEqual(states, [
    ["1.10.0", false],
    ["1.9.0", false],
    ["2.0.0-beta", true],
  ]);
  assert.equal((await catalogue.provider(tenantId, "acme"))?.version, "2.0.0-beta");
  assert.equal((await catalogue.provider(tenantId, "acme", "1.9.0"))?.version, "1.9.0");
  assert.equal((await catalogue.providerByDigest(tenantId, "acme", second.digest))?.version, "1.10.0");
  assert.equal(await catalogue.provider(tenantId, "acme", "3.0.0"), undefined);
});

test("the key of a built-in provider is refused", async () => {
  await assert.rejects(
    createManifest(freshTenant(), { key: "builtin" }),
    failsWith("ALREADY_EXISTS", /^key: builtin is the key of a built-in provider.*my-builtin/),
  );
});

test("another tenant neither sees nor deletes a manifest", async () => {
  const [owner, other] = [freshTenant(), freshTenant()];
  const { id } = await createManifest(owner);
  await assert.rejects(getManifest(other, id), failsWith("NOT_FOUND", /^No such manifest\.$/));
  await assert.rejects(deleteManifest(other, id), failsWith("NOT_FOUND"));
  assert.equal((await listManifests(other)).totalSize, 0);
  assert.equal(await catalogue.provider(other, "acme"), undefined);
  assert.equal(await catalogue.action(other, "acme.item.get"), undefined);
});

test("a deleted version is gone; the only version of a provider in use is not deleted", async () => {
  const tenantId = freshTenant();
  const first = await createManifest(tenantId);
  const second = await createManifest(tenantId, { version: "2.0.0" });
  inUse.add(`${tenantId} acme`);
  await deleteManifest(tenantId, second.id);
  assert.equal((await catalogue.provider(tenantId, "acme"))?.version, "1.0.0");
  await assert.rejects(
    deleteManifest(tenantId, first.id),
    failsWith("IN_USE", /only version of acme, which connections use/),
  );
  inUse.delete(`${tenantId} acme`);
  await deleteManifest(tenantId, first.id);
  assert.equal(await catalogue.provider(tenantId, "acme"), undefined);
  await assert.rejects(deleteManifest(tenantId, first.id), failsWith("NOT_FOUND"));
  assert.equal(events.recorded.at(-1)?.type, "connector.manifest.deleted");
});

test("a tenant has a limited number of providers and versions", async () => {
  const tenantId = freshTenant();
  const insert = (count: number, of: (at: number) => { key: string; version: string }) => {
    const rows = Array.from({ length: count }, (_, at) => of(at));
    return db.sql`
      insert into connector_manifests (tenant_id, id, key, version, name, document, digest, source, pack_id, created_at)
      select ${tenantId}, lpad(number::text, 26, '0'), key, version, 'x', '{}', 'x', 'tenant', '', now()
      from unnest(${rows.map(({ key }) => key)}::text[], ${rows.map(({ version }) => version)}::text[])
        with ordinality as row(key, version, number)`;
  };
  await insert(versionsMax, (at) => ({ key: "acme", version: `0.0.${at}` }));
  await assert.rejects(createManifest(tenantId), failsWith("FAILED_PRECONDITION", /at most 50 versions/));
  await db.sql`delete from connector_manifests where tenant_id = ${tenantId}`;
  await insert(providersMax, (at) => ({ key: `p${at}`, version: "1.0.0" }));
  await assert.rejects(createManifest(tenantId), failsWith("FAILED_PRECONDITION", /at most 200 own providers/));
});

test("a manifest is checked without being stored", async () => {
  const tenantId = freshTenant();
  const validate = (request: object) =>
    perform(db, { tenantId }, handlers.manifests.validateManifest, ValidateManifestRequestSchema, request);
  const valid = await validate({ document: smallManifest });
  assert.deepEqual([valid.valid, valid.actionKeys, valid.violations], [true, ["acme.item.get"], []]);
  assert.equal(valid.digest, compile(smallManifest).digest);
  const invalid = await validate({ document: { manifest: 1, errors: [{ when: "body." }] } });
  assert.equal(invalid.valid, false);
  const cel = invalid.violations.find(({ path }) => path === "errors[0].when")!;
  assert.deepEqual([cel.rule, cel.line, cel.column > 0], ["cel.syntax", 1, true]);
  assert.equal((await listManifests(tenantId)).totalSize, 0);
});

test("every violation of a text has its line and column", async () => {
  const tenantId = freshTenant();
  const text = [
    "manifest: 1",
    "hosts: [api.acme.example]",
    "errors:",
    "  - { status: [400], as: failed }",
    '  - when: "body."',
    "    as: failed",
    "actions:",
    "  note.add:",
    "    request:",
    "      method: PSOT",
    "hosst: []",
  ].join("\n");
  const { validateManifest, createManifest: create } = handlers.manifests;
  const { violations } = await perform(db, { tenantId }, validateManifest, ValidateManifestRequestSchema, { text });
  const placeOf = (path: string) => {
    const { line, column } = violations.find((each) => each.path === path)!;
    return [line, column];
  };
  assert.deepEqual(placeOf("hosst"), [11, 1]);
  assert.deepEqual(placeOf("errors[1].when"), [5, 5]);
  assert.deepEqual(placeOf('actions["note.add"].request.method'), [10, 7]);
  assert.deepEqual(placeOf('actions["note.add"].title'), [8, 3], "a missing member is at the one that lacks it");
  assert.deepEqual(placeOf("key"), [1, 1]);
  assert.ok(violations.every(({ line }) => line > 0));
  const request = { text: JSON.stringify({ ...smallManifest, hosst: [] }, null, 1), format: "json" };
  const refused = perform(db, { tenantId }, create, CreateManifestRequestSchema, request);
  await assert.rejects(refused, failsWith("INVALID_ARGUMENT", /^text\.hosst: line \d\d, column 2: is not a field/));
});

test("the JSON Schema of the language is published", async () => {
  const { schema } = await perform(db, {}, handlers.manifests.getManifestSchema, GetManifestSchemaRequestSchema, {});
  assert.equal(schema?.contentType, "application/schema+json");
  assert.equal(JSON.parse(Buffer.from(schema!.data).toString()).title, "Connector manifest");
});

test("the manifests of a pack are the pack's own", async () => {
  const tenantId = freshTenant();
  const inTransaction = <T>(work: (context: Context) => Promise<T>) =>
    db.transaction((sql) => work({ ...contextFor(db, { tenantId }), sql }));
  const add = (packId: string, document: JsonObject) =>
    inTransaction((context) => packRecords.create(context, document, packId));
  await assert.rejects(
    add("p1", manifestWith({ key: "other", hosts: [] })),
    failsWith("INVALID_ARGUMENT", /^document\.hosts/),
  );
  assert.equal((await listManifests(tenantId)).totalSize, 0);
  await add("p1", smallManifest);
  await add("p1", manifestWith({ key: "other" }));
  const { manifests } = await listManifests(tenantId);
  assert.deepEqual(manifests.map(({ key, source, packId }) => [key, source, packId]).sort(), [
    ["acme", "pack", "p1"],
    ["other", "pack", "p1"],
  ]);
  await assert.rejects(
    createManifest(tenantId, { version: "2.0.0" }),
    failsWith("ALREADY_EXISTS", /key of another pack/),
  );
  const upgraded = manifestWith({ version: "2.0.0" });
  await assert.rejects(add("p2", upgraded), failsWith("ALREADY_EXISTS"));
  const upgrade = inTransaction((context) => packRecords.update(context, "acme", upgraded, "p2"));
  await assert.rejects(upgrade, failsWith("ALREADY_EXISTS", /key of another pack/));
  await assert.rejects(deleteManifest(tenantId, manifests[0]!.id), failsWith("IN_USE", /uninstall the pack/));
  inUse.add(`${tenantId} other`);
  assert.deepEqual(await inTransaction((context) => packRecords.uses(context, "other")), [
    { what: "connections", name: "of the provider other" },
  ]);
  for (const key of ["acme", "other"]) await inTransaction((context) => packRecords.remove(context, key));
  assert.equal((await listManifests(tenantId)).totalSize, 0);
});

test("other nodes use a new version when they learn of the tenant's change", async () => {
  const other = createNode();
  const tenantId = freshTenant();
  await createManifest(tenantId);
  assert.equal((await other.manifests.catalogue.provider(tenantId, "acme"))?.version, "1.0.0");
  await createManifest(tenantId, { version: "1.1.0" });
  assert.equal((await other.manifests.catalogue.provider(tenantId, "acme"))?.version, "1.0.0");
  other.changes.published(tenantId);
  assert.equal((await other.manifests.catalogue.provider(tenantId, "acme"))?.version, "1.1.0");
});

test("a stored manifest that cannot be read does not hide the others", async () => {
  const tenantId = freshTenant();
  await createManifest(tenantId);
  await db.sql`
    insert into connector_manifests (tenant_id, id, key, version, name, document, digest, source, pack_id, created_at)
    values (${tenantId}, ${"9".repeat(26)}, 'broken', '1.0.0', 'Broken', '{"manifest": 0}', 'x', 'tenant', '', now())`;
  node.changes.published(tenantId);
  assert.equal(await catalogue.provider(tenantId, "broken"), undefined);
  assert.equal((await catalogue.provider(tenantId, "acme"))?.key, "acme");
});
