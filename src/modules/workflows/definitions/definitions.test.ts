import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import {
  DiffWorkflowDefinitionRequestSchema,
  DuplicateWorkflowDefinitionRequestSchema,
  ExportWorkflowDefinitionRequestSchema,
  GetWorkflowDefinitionSchemaRequestSchema,
  GetWorkflowDefinitionVersionRequestSchema,
  ImportWorkflowDefinitionRequestSchema,
  ListWorkflowDefinitionsRequestSchema,
  ListWorkflowDefinitionVersionsRequestSchema,
  WorkflowDefinition_Status as Status,
  ValidateWorkflowDefinitionRequestSchema,
  WorkflowDefinitionVersion_Status as VersionStatus,
} from "../../../../gen/service/api/workflow_definition_pb.ts";
import { type ContextChoice, failsWith, freshTenant, perform, testDatabase } from "../../../../test/harness/context.ts";
import { Failure } from "../../../errors/index.ts";
import { formatText } from "../../../platform/document-text/index.ts";
import type { JsonObject } from "./domain/language/definition.ts";
import { definitionSchema } from "./domain/language/syntax/json-schema.ts";
import { documentOf, noteStep, stepOf, task, validDocuments } from "./domain/language/testing/documents.ts";
import { refusedDefinitions } from "./domain/language/testing/refused-definitions.ts";
import { copyKeys, definitionsMax, versionsMax } from "./domain/workflow-definition.ts";
import { definitionStore } from "./store.ts";
import { definitionFixture } from "./testing/definition-fixture.ts";

const db = await testDatabase();
const fixture = definitionFixture(db);
const { handlers, events } = fixture;

const keyed = (key: string, value: JsonObject | number = 1) => documentOf([noteStep("one", value)], { key });
const calling = (key: string, ...called: JsonObject[]) =>
  documentOf(
    called.map((subworkflow, at) => ({ id: `s${at}`, subworkflow })),
    { key },
  );

async function published(choice: ContextChoice, document: JsonObject) {
  const { id } = await fixture.create(choice, document);
  return { id, ...(await fixture.publish(choice, id)) };
}

async function listVersions(choice: ContextChoice, id: string, request = {}) {
  const handler = handlers.listWorkflowDefinitionVersions;
  return perform(db, choice, handler, ListWorkflowDefinitionVersionsRequestSchema, { id, ...request });
}

async function getVersion(choice: ContextChoice, id: string, version: string) {
  const handler = handlers.getWorkflowDefinitionVersion;
  return (await perform(db, choice, handler, GetWorkflowDefinitionVersionRequestSchema, { id, version })).version!;
}

async function list(choice: ContextChoice, request = {}) {
  return perform(db, choice, handlers.listWorkflowDefinitions, ListWorkflowDefinitionsRequestSchema, request);
}

async function importText(
  choice: ContextChoice,
  text: string,
  fields: { format?: string; recordVersion?: bigint } = {},
) {
  return perform(db, choice, handlers.importWorkflowDefinition, ImportWorkflowDefinitionRequestSchema, {
    text,
    ...fields,
  });
}

async function exportText(choice: ContextChoice, id: string, fields: { format?: string; version?: string } = {}) {
  const handler = handlers.exportWorkflowDefinition;
  const { document } = await perform(db, choice, handler, ExportWorkflowDefinitionRequestSchema, { id, ...fields });
  return { contentType: document!.contentType, text: Buffer.from(document!.data).toString() };
}

async function diff(choice: ContextChoice, id: string, from = "", to = "") {
  return perform(db, choice, handlers.diffWorkflowDefinition, DiffWorkflowDefinitionRequestSchema, { id, from, to });
}

async function duplicate(choice: ContextChoice, id: string, fields: { key?: string; version?: string } = {}) {
  const handler = handlers.duplicateWorkflowDefinition;
  return (await perform(db, choice, handler, DuplicateWorkflowDefinitionRequestSchema, { id, ...fields }))
    .workflowDefinition!;
}

async function validate(choice: ContextChoice, document: JsonObject) {
  const request = { document: document as never };
  return perform(db, choice, handlers.validateWorkflowDefinition, ValidateWorkflowDefinitionRequestSchema, request);
}

test("a new definition is a draft with the key and name of its document", async () => {
  const tenantId = freshTenant();
  const document = documentOf([noteStep("one")], { name: "Onboard a lead" });
  const created = await fixture.create({ tenantId }, document);
  assert.equal(created.key, "lead.onboard");
  assert.equal(created.name, "Onboard a lead");
  assert.equal(created.status, Status.DRAFT);
  assert.equal(created.activeVersion, 0);
  assert.equal(created.hasUnpublishedChanges, true);
  assert.equal(created.recordVersion, 1n);
  assert.deepEqual(created.draft, document);
  assert.deepEqual(events.recorded.at(-1), {
    tenantId,
    type: "workflow.definition.created",
    subject: created.id,
    data: { key: "lead.onboard" },
  });
});

test("a definition is found by its id and by its key", async () => {
  const tenantId = freshTenant();
  const { id } = await fixture.create({ tenantId }, keyed("a.b"));
  assert.equal((await fixture.get({ tenantId }, id)).key, "a.b");
  assert.equal((await fixture.get({ tenantId }, "a.b")).id, id);
  await assert.rejects(fixture.get({ tenantId }, "a.c"), failsWith("NOT_FOUND", /No such workflow definition/));
});

test("a draft may be unfinished, but has a valid key and a size that can be stored", async () => {
  const tenantId = freshTenant();
  const unfinished = { key: "a", steps: [{ id: "x" }] };
  assert.deepEqual((await fixture.create({ tenantId }, unfinished)).draft, unfinished);
  const refusals: [JsonObject, RegExp][] = [
    [{}, /^document\.key: must be lower-case letters/],
    [{ key: "A" }, /^document\.key: must be lower-case letters/],
    [JSON.parse('{"key": "b", "output": {"__proto__": 1}}'), /^document\.output: must not have a member .* __proto__/],
    [{ key: "b", output: "x".repeat(256 * 1024) }, /^document: must have at most 256 KiB/],
  ];
  for (const [document, message] of refusals) {
    await assert.rejects(fixture.create({ tenantId }, document), (error: Error) => {
      return failsWith("INVALID_ARGUMENT")(error) && message.test(error.message.replace(/^The request /, "document: "));
    });
  }
});

test("numbers and the order of members are stored as written", async () => {
  const tenantId = freshTenant();
  const document = { key: "z", b: 9_007_199_254_740_991, a: [1, 1.5, -0.1, 1e21], zz: 1, dsl: "1" };
  const { id } = await fixture.create({ tenantId }, document);
  const { draft } = await fixture.get({ tenantId }, id);
  assert.equal(JSON.stringify(draft), JSON.stringify(document));
});

test("a key is unique among the definitions that are not archived", async () => {
  const tenantId = freshTenant();
  const { id } = await fixture.create({ tenantId }, keyed("a"));
  const expected = failsWith("ALREADY_EXISTS", new RegExp(`${id} has the key a: change its draft`));
  await assert.rejects(fixture.create({ tenantId }, keyed("a")), expected);
  await fixture.create({ tenantId: freshTenant() }, keyed("a"));
  await fixture.archive({ tenantId }, id);
  const second = await fixture.create({ tenantId }, keyed("a"));
  assert.equal((await fixture.get({ tenantId }, "a")).id, second.id);
});

test("of two concurrent creations with one key, exactly one succeeds", async () => {
  const tenantId = freshTenant();
  const results = await Promise.allSettled(Array.from({ length: 5 }, () => fixture.create({ tenantId }, keyed("a"))));
  assert.equal(results.filter(({ status }) => status === "fulfilled").length, 1);
  for (const result of results) {
    if (result.status === "rejected") assert.ok(failsWith("ALREADY_EXISTS")(result.reason));
  }
});

test("a tenant has at most 1,000 definitions that are not archived", async () => {
  const tenantId = freshTenant();
  await db.sql`
    insert into workflow_definitions (tenant_id, id, key, name, status, draft, draft_digest, active_version, active_digest,
      created_at, updated_at)
    select ${tenantId}, lpad(n::text, 26, '0'), 'k' || n, '', 'draft', '{}', '', 0, '', now(), now()
    from generate_series(1, ${definitionsMax}) n`;
  const expected = failsWith("FAILED_PRECONDITION", /at most 1000 workflow definitions; archive one first/);
  await assert.rejects(fixture.create({ tenantId }, keyed("a")), expected);
  await fixture.archive({ tenantId }, "k1");
  await fixture.create({ tenantId }, keyed("a"));
});

test("a draft is replaced if the expected version is current", async () => {
  const tenantId = freshTenant();
  const { id } = await fixture.create({ tenantId }, keyed("a"));
  const updated = await fixture.update({ tenantId }, id, { ...keyed("a", 2), name: "New" }, 1n);
  assert.equal(updated.recordVersion, 2n);
  assert.equal(updated.name, "New");
  assert.deepEqual(events.recorded.at(-1)!.type, "workflow.definition.updated");
  await assert.rejects(
    fixture.update({ tenantId }, id, keyed("a", 3), 1n),
    (error) =>
      failsWith("VERSION_CONFLICT", /at version 2 now/)(error) && (error as Failure).extra.current_record_version === 2,
  );
  assert.equal((await fixture.update({ tenantId }, id, keyed("a", 3))).recordVersion, 3n);
});

test("an equal draft changes nothing, but must expect the current version", async () => {
  const tenantId = freshTenant();
  const { id } = await fixture.create({ tenantId }, keyed("a"));
  const before = events.recorded.length;
  assert.equal((await fixture.update({ tenantId }, id, keyed("a"), 1n)).recordVersion, 1n);
  assert.equal(events.recorded.length, before);
  await assert.rejects(fixture.update({ tenantId }, id, keyed("a"), 7n), failsWith("VERSION_CONFLICT"));
});

test("the key of a definition never changes", async () => {
  const tenantId = freshTenant();
  const { id } = await fixture.create({ tenantId }, keyed("a"));
  const expected = failsWith("INVALID_ARGUMENT", /document\.key: must stay "a": duplicate the definition/);
  await assert.rejects(fixture.update({ tenantId }, id, keyed("b")), expected);
});

test("of concurrent changes of one draft version, exactly one succeeds", async () => {
  const tenantId = freshTenant();
  const { id } = await fixture.create({ tenantId }, keyed("a"));
  const changes = Array.from({ length: 5 }, (_, at) => fixture.update({ tenantId }, id, keyed("a", at + 10), 1n));
  const results = await Promise.allSettled(changes);
  assert.equal(results.filter(({ status }) => status === "fulfilled").length, 1);
  assert.equal((await fixture.get({ tenantId }, id)).recordVersion, 2n);
});

test("publishing makes the draft the active version, with its digest, author, time and message", async () => {
  const tenantId = freshTenant();
  const document = { ...documentOf([noteStep("one")]), name: "b" };
  const { id } = await fixture.create({ tenantId }, document);
  const nowMs = Date.UTC(2030, 0, 31);
  const choice = { tenantId, subject: "user:ann", nowMs };
  const { workflowDefinition, version, unchanged } = await fixture.publish(choice, id, { message: "First" });
  const canonical = '{"dsl":"1","key":"lead.onboard","name":"b","steps":[{"id":"one","transform":1}],"timeout":"14d"}';
  assert.equal(unchanged, false);
  assert.equal(workflowDefinition!.status, Status.PUBLISHED);
  assert.equal(workflowDefinition!.activeVersion, 1);
  assert.equal(workflowDefinition!.hasUnpublishedChanges, false);
  assert.equal(workflowDefinition!.recordVersion, 2n);
  assert.equal(version!.version, 1);
  assert.equal(version!.status, VersionStatus.ACTIVE);
  assert.equal(version!.digest, createHash("sha256").update(canonical).digest("hex"));
  assert.equal(version!.message, "First");
  assert.equal(version!.publishedBy, "user:ann");
  assert.equal(Number(version!.publishedAt!.seconds) * 1000, nowMs);
  assert.deepEqual(events.recorded.at(-1), {
    tenantId,
    type: "workflow.definition.published",
    subject: id,
    data: { key: "lead.onboard", version: 1, digest: version!.digest },
  });
  assert.deepEqual((await getVersion({ tenantId }, id, "active")).document, document);
});

test("publishing an unchanged draft returns the active version", async () => {
  const tenantId = freshTenant();
  const { id, version } = await published({ tenantId }, keyed("a"));
  const before = events.recorded.length;
  const again = await fixture.publish({ tenantId }, id, { message: "Again" });
  assert.equal(again.unchanged, true);
  assert.deepEqual(again.version, version);
  assert.equal(again.workflowDefinition!.draft, undefined, "a publication returns no draft");
  assert.equal(events.recorded.length, before);
  assert.equal((await listVersions({ tenantId }, id)).totalSize, 1);
});

test("the draft of a superseded version can be published again as a new version", async () => {
  const tenantId = freshTenant();
  const { id, version } = await published({ tenantId }, keyed("a", 1));
  await fixture.update({ tenantId }, id, keyed("a", 2));
  await fixture.publish({ tenantId }, id);
  await fixture.update({ tenantId }, id, keyed("a", 1));
  const third = await fixture.publish({ tenantId }, id);
  assert.equal(third.version!.version, 3);
  assert.equal(third.version!.digest, version!.digest);
  const { versions } = await listVersions({ tenantId }, id);
  assert.deepEqual(
    versions.map((each) => [each.version, each.status]),
    [
      [3, VersionStatus.ACTIVE],
      [2, VersionStatus.SUPERSEDED],
      [1, VersionStatus.SUPERSEDED],
    ],
  );
});

test("a draft with violations is not published, and all of them are listed", async () => {
  const tenantId = freshTenant();
  const { id } = await fixture.create({ tenantId }, documentOf([{ id: "One" }, { id: "two", fail: {} }]));
  await assert.rejects(fixture.publish({ tenantId }, id), (error) => {
    assert.ok(error instanceof Failure && error.code === "FAILED_PRECONDITION");
    assert.match(
      error.message,
      /^The draft cannot be published: draft\.steps\[0\]\.id: must be a lower-case .+ \(and 2 more\)$/,
    );
    assert.deepEqual(
      error.violations.map(({ field, rule }) => [field, rule]),
      [
        ["draft.steps[0].id", "pattern"],
        ["draft.steps[0]", "kind"],
        ["draft.steps[1].fail.code", "required"],
      ],
    );
    return true;
  });
  assert.equal((await fixture.get({ tenantId }, id)).status, Status.DRAFT);
});

test("a violation in an expression has its position in the message", async () => {
  const tenantId = freshTenant();
  const { id } = await fixture.create({ tenantId }, documentOf([noteStep("a", "=1 + steps.b")]));
  const expected = failsWith(
    "FAILED_PRECONDITION",
    /draft\.steps\[0\]\.transform: line 1, column 6: there is no step "b"/,
  );
  await assert.rejects(fixture.publish({ tenantId }, id), expected);
});

test("pools, notification workflows and subworkflows are looked up in the tenant", async () => {
  const tenantId = freshTenant();
  await published({ tenantId }, keyed("lead.enrich"));
  await fixture.create({ tenantId }, keyed("unpublished"));
  const document = documentOf([
    { id: "a", route: { pool: "sales" } },
    { id: "b", route: { pool: "nowhere" } },
    { id: "c", notify: { workflow_key: "welcome", to: "x" } },
    { id: "d", notify: { workflow_key: "nothing", to: "x" } },
    { id: "e", subworkflow: { key: "lead.enrich" } },
    { id: "f", subworkflow: { key: "lead.enrich", version: 1 } },
    { id: "g", subworkflow: { key: "lead.enrich", version: 2 } },
    { id: "h", subworkflow: { key: "unpublished" } },
    { id: "i", subworkflow: { key: "lead.enrichh" } },
  ]);
  const { violations } = await validate({ tenantId }, document);
  assert.deepEqual(
    violations.map(({ path, message }) => `${path} ${message}`),
    [
      'steps[1].route.pool no environment has a pool with the name or id "nowhere" that is not archived: create it or name another',
      'steps[3].notify.workflow_key there is no notification workflow "nothing": create it or name another',
      'steps[6].subworkflow.version the definition "lead.enrich" has no version 2: name an existing one, or leave version out',
      'steps[7].subworkflow.key the definition "unpublished" is not published: publish it first',
      'steps[8].subworkflow.key there is no definition "lead.enrichh"; did you mean lead.enrich?',
    ],
  );
  const other = await validate({ tenantId: freshTenant() }, stepOf({ subworkflow: { key: "lead.enrich" } }));
  assert.equal(other.violations.length, 1);
});

test("constants in the input of a subworkflow fit the schema of the version that it runs", async () => {
  const tenantId = freshTenant();
  const accepting = (type: string) =>
    documentOf([noteStep("a")], {
      ...{ key: "lead.enrich", input_schema: { type: "object", required: ["id"], properties: { id: { type } } } },
    });
  const { id } = await published({ tenantId }, accepting("string"));
  await fixture.update({ tenantId }, id, accepting("integer"));
  await fixture.publish({ tenantId }, id);
  const faultsOf = async (subworkflow: JsonObject) => {
    const { violations } = await validate({ tenantId }, stepOf({ subworkflow }));
    return violations.map(({ path, message }) => `${path} ${message}`);
  };
  const key = "lead.enrich";
  assert.deepEqual(await faultsOf({ key, version: 1, input: { id: "a" } }), []);
  assert.deepEqual(await faultsOf({ key, input: { id: 1 } }), []);
  assert.deepEqual(await faultsOf({ key, input: { id: "=input.id" } }), []);
  assert.deepEqual(await faultsOf({ key, input: { id: "a" } }), [
    "steps[0].subworkflow.input.id must be an integer, as the input schema of lead.enrich says",
  ]);
  assert.deepEqual(await faultsOf({ key, version: 1 }), [
    "steps[0].subworkflow.input.id is required, as the input schema of lead.enrich@1 says",
  ]);
});

test("a cycle of subworkflows is refused, through active and pinned versions", async () => {
  const tenantId = freshTenant();
  const { id: a } = await published({ tenantId }, keyed("a"));
  await published({ tenantId }, calling("b", { key: "a" }));
  await published({ tenantId }, calling("c", { key: "b", version: 1 }));
  await fixture.update({ tenantId }, a, calling("a", { key: "c" }));
  const expected = failsWith("FAILED_PRECONDITION", /must not lead back to this definition: a → c → b@1 → a/);
  await assert.rejects(fixture.publish({ tenantId }, a), expected);
  await fixture.update({ tenantId }, a, calling("a", { key: "a" }));
  await assert.rejects(
    fixture.publish({ tenantId }, a),
    failsWith("FAILED_PRECONDITION", /must not run the definition itself/),
  );
});

test("concurrent publications cannot create a cycle together", async () => {
  const tenantId = freshTenant();
  const { id: a } = await published({ tenantId }, keyed("a"));
  const { id: b } = await published({ tenantId }, keyed("b"));
  await fixture.update({ tenantId }, a, calling("a", { key: "b" }));
  await fixture.update({ tenantId }, b, calling("b", { key: "a" }));
  const results = await Promise.allSettled([fixture.publish({ tenantId }, a), fixture.publish({ tenantId }, b)]);
  assert.deepEqual(results.map(({ status }) => status).sort(), ["fulfilled", "rejected"]);
});

test("concurrent publications of one draft create one version", async () => {
  const tenantId = freshTenant();
  const { id } = await fixture.create({ tenantId }, keyed("a"));
  const results = await Promise.all(Array.from({ length: 5 }, () => fixture.publish({ tenantId }, id)));
  assert.equal(results.filter(({ unchanged }) => !unchanged).length, 1);
  assert.ok(results.every(({ version }) => version!.version === 1));
});

test("publishing expects the version of the draft that was reviewed", async () => {
  const tenantId = freshTenant();
  const { id, recordVersion } = await fixture.create({ tenantId }, keyed("a"));
  await fixture.update({ tenantId }, id, keyed("a", 2));
  await assert.rejects(fixture.publish({ tenantId }, id, { recordVersion }), failsWith("VERSION_CONFLICT"));
  assert.equal((await fixture.publish({ tenantId }, id, { recordVersion: 2n })).version!.version, 1);
});

test("a concurrent change of the draft is either published or refused, never lost", async () => {
  const tenantId = freshTenant();
  const { id } = await fixture.create({ tenantId }, keyed("a"));
  for (let round = 1n; round <= 5n; round++) {
    const { recordVersion } = await fixture.get({ tenantId }, id);
    const [publication, change] = await Promise.allSettled([
      fixture.publish({ tenantId }, id, { recordVersion }),
      fixture.update({ tenantId }, id, keyed("a", Number(round) + 100), recordVersion),
    ]);
    const current = await fixture.get({ tenantId }, id);
    if (change.status === "fulfilled") assert.deepEqual(current.draft, change.value.draft);
    if (publication.status === "fulfilled") {
      const { document } = await getVersion({ tenantId }, id, String(publication.value.version!.version));
      assert.notEqual((document as { steps: { transform: number }[] }).steps[0]!.transform, Number(round) + 100);
    }
    // Both expect the same version, so at most one of them changes the record.
    assert.ok(current.recordVersion - recordVersion <= 1n);
  }
});

test("a published version never changes, whatever happens to its definition", async () => {
  const tenantId = freshTenant();
  const { id } = await published({ tenantId }, keyed("a", 1));
  const first = await getVersion({ tenantId }, id, "1");
  await fixture.update({ tenantId }, id, keyed("a", 2));
  await fixture.publish({ tenantId }, id);
  await fixture.archive({ tenantId }, id);
  assert.deepEqual(await getVersion({ tenantId }, id, "1"), { ...first, status: VersionStatus.SUPERSEDED });
});

test("a definition has at most 1,000 versions", async () => {
  const tenantId = freshTenant();
  const { id } = await published({ tenantId }, keyed("a"));
  await db.sql`
    insert into workflow_definition_versions (tenant_id, definition_id, version, document, digest, call_keys,
      call_versions, message, published_by, published_at)
    select tenant_id, definition_id, ${versionsMax}, document, digest, call_keys, call_versions, message, published_by,
      published_at
    from workflow_definition_versions where tenant_id = ${tenantId}`;
  await fixture.update({ tenantId }, id, keyed("a", 2));
  const expected = failsWith("FAILED_PRECONDITION", /at most 1000 versions; duplicate it and publish the copy/);
  await assert.rejects(fixture.publish({ tenantId }, id), expected);
});

test("versions are listed newest first, in pages, without their documents", async () => {
  const tenantId = freshTenant();
  const { id } = await fixture.create({ tenantId }, keyed("a", 0));
  for (let value = 1; value <= 11; value++) {
    await fixture.update({ tenantId }, id, keyed("a", value));
    await fixture.publish({ tenantId }, id);
  }
  const numbers: number[] = [];
  let pageToken = "";
  do {
    const page = await listVersions({ tenantId }, id, { pageSize: 4, pageToken });
    numbers.push(...page.versions.map(({ version }) => version));
    assert.ok(page.versions.every(({ document }) => document === undefined));
    pageToken = page.nextPageToken;
  } while (pageToken !== "");
  assert.deepEqual(numbers, [11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1]);
});

test("a version that does not exist names those that do", async () => {
  const tenantId = freshTenant();
  const { id } = await fixture.create({ tenantId }, keyed("a"));
  await assert.rejects(
    getVersion({ tenantId }, id, "active"),
    failsWith("NOT_FOUND", /no active version: it was never published/),
  );
  await fixture.publish({ tenantId }, id);
  await assert.rejects(
    getVersion({ tenantId }, id, "9"),
    failsWith("NOT_FOUND", /no version 9: its versions are 1 to 1/),
  );
});

test("archiving retires the active version and frees the key", async () => {
  const tenantId = freshTenant();
  const { id } = await published({ tenantId }, keyed("a"));
  const archived = await fixture.archive({ tenantId }, id);
  assert.equal(archived.status, Status.ARCHIVED);
  assert.equal((await getVersion({ tenantId }, id, "active")).status, VersionStatus.RETIRED);
  assert.deepEqual(events.recorded.at(-1)!.data, { key: "a", version: 1 });
  await assert.rejects(fixture.get({ tenantId }, "a"), failsWith("NOT_FOUND"));
  const refusal = failsWith("FAILED_PRECONDITION", /archived: duplicate it/);
  await assert.rejects(fixture.update({ tenantId }, id, keyed("a", 2)), refusal);
  await assert.rejects(fixture.publish({ tenantId }, id), refusal);
  assert.deepEqual(await fixture.archive({ tenantId }, id), archived);
});

test("a definition that another one runs is not archived", async () => {
  const tenantId = freshTenant();
  const { id: a } = await published({ tenantId }, keyed("a"));
  const { id: b } = await published({ tenantId }, calling("b", { key: "a", version: 1 }));
  await assert.rejects(fixture.archive({ tenantId }, a), (error) => {
    assert.ok(failsWith("IN_USE", /Other workflow definitions run this one: b\./)(error));
    assert.deepEqual((error as Failure).extra, { workflow_definition_keys: ["b"] });
    return true;
  });
  await fixture.archive({ tenantId }, b);
  assert.equal((await fixture.archive({ tenantId }, a)).status, Status.ARCHIVED);
});

test("definitions are listed by status and by the start of their key, without their drafts", async () => {
  const tenantId = freshTenant();
  await fixture.create({ tenantId }, keyed("lead.one"));
  await published({ tenantId }, keyed("lead.two"));
  const { id } = await fixture.create({ tenantId }, keyed("lead.three"));
  await fixture.create({ tenantId }, keyed("deal.one"));
  await fixture.archive({ tenantId }, id);
  const keys = async (request: object) => (await list({ tenantId }, request)).workflowDefinitions.map(({ key }) => key);
  assert.deepEqual(await keys({}), ["lead.one", "lead.two", "deal.one"]);
  assert.deepEqual(await keys({ status: Status.PUBLISHED }), ["lead.two"]);
  assert.deepEqual(await keys({ status: Status.ARCHIVED }), ["lead.three"]);
  assert.deepEqual(await keys({ keyPrefix: "lead." }), ["lead.one", "lead.two"]);
  assert.deepEqual(await keys({ keyPrefix: "%" }), []);
  const first = await list({ tenantId }, { pageSize: 2 });
  assert.equal(first.totalSize, 3);
  assert.ok(first.workflowDefinitions.every(({ draft }) => draft === undefined));
  assert.deepEqual(await keys({ pageSize: 2, pageToken: first.nextPageToken }), ["deal.one"]);
});

test("a copy has a free key, the chosen document, and no versions", async () => {
  const tenantId = freshTenant();
  const { id } = await published({ tenantId }, keyed("a", 1));
  await fixture.update({ tenantId }, id, keyed("a", 2));
  const copy = await duplicate({ tenantId }, id);
  assert.equal(copy.key, "a-copy");
  assert.equal(copy.status, Status.DRAFT);
  assert.deepEqual(copy.draft, keyed("a-copy", 2));
  assert.deepEqual(events.recorded.at(-1)!.data, { key: "a-copy", copy_of: id });
  assert.equal((await duplicate({ tenantId }, id)).key, "a-copy-2");
  assert.deepEqual((await duplicate({ tenantId }, id, { key: "b", version: "active" })).draft, keyed("b", 1));
  assert.deepEqual((await duplicate({ tenantId }, id, { key: "c", version: "1" })).draft, keyed("c", 1));
  await assert.rejects(duplicate({ tenantId }, id, { key: "b" }), failsWith("ALREADY_EXISTS"));
  await fixture.archive({ tenantId }, id);
  assert.equal((await duplicate({ tenantId }, id, { key: "a" })).key, "a");
});

test("the keys of copies are valid, however long the original is", () => {
  for (const key of ["a", `${"a".repeat(122)}.bbbbb`, "a".repeat(128)]) {
    for (const copy of copyKeys(key)) {
      assert.match(copy, /^[a-z0-9]+([._-][a-z0-9]+)*$/);
      assert.ok(copy.length <= 128);
    }
  }
});

test("validation reports what publishing would, without storing anything", async () => {
  const tenantId = freshTenant();
  const before = events.recorded.length;
  const valid = await validate(
    { tenantId },
    documentOf([{ id: "m", map: { in: [], max_items: 5, steps: [noteStep("x")] } }]),
  );
  assert.equal(valid.valid, true);
  assert.equal(valid.worstCaseSteps, 6);
  assert.match(valid.digest, /^[0-9a-f]{64}$/);
  const { document, path, message, position } = refusedDefinitions["item exists only in a map"]!;
  const invalid = await validate({ tenantId }, document as JsonObject);
  assert.equal(invalid.valid, false);
  assert.equal(invalid.digest, "");
  const [violation] = invalid.violations;
  assert.deepEqual([violation!.path, violation!.message], [path, message]);
  assert.deepEqual([violation!.position!.line, violation!.position!.column], position);
  assert.equal((await validate({ tenantId }, { dsl: "2" })).violations.length, 4);
  assert.equal((await list({ tenantId })).totalSize, 0);
  assert.equal(events.recorded.length, before);
});

test("a text is validated like the document that it stands for", async () => {
  const tenantId = freshTenant();
  const check = (request: { text?: string; format?: string; document?: never }) =>
    perform(db, { tenantId }, handlers.validateWorkflowDefinition, ValidateWorkflowDefinitionRequestSchema, request);
  const document = documentOf([noteStep("one")]);
  const { digest } = await validate({ tenantId }, document);
  assert.equal((await check({ text: JSON.stringify(document), format: "json" })).digest, digest);
  assert.equal((await check({ text: formatText(document, "yaml") })).digest, digest);
  const list = await check({ text: "- one" });
  assert.deepEqual([list.valid, list.violations.length, list.violations[0]!.path], [false, 1, ""]);
  await assert.rejects(check({ text: "a: [" }), /line 1, column 5/);
  await assert.rejects(check({}), /document: must be given, or text instead of it/);
  await assert.rejects(
    check({ text: "a: 1", document: {} as never }),
    /document: must be given, or text instead of it/,
  );
});

test("a text creates a definition, updates its draft, and changes nothing when it is equal", async () => {
  const tenantId = freshTenant();
  const text = "dsl: '1'\nkey: a\ntimeout: 1d\nsteps:\n  - id: one\n    transform: =input.id\n";
  const created = await importText({ tenantId }, text);
  assert.equal(created.created, true);
  assert.deepEqual(created.workflowDefinition!.draft, {
    dsl: "1",
    key: "a",
    timeout: "1d",
    steps: [{ id: "one", transform: "=input.id" }],
  });
  const same = await importText({ tenantId }, text);
  assert.deepEqual([same.created, same.unchanged], [false, true]);
  const changed = await importText({ tenantId }, text.replace("1d", "2d"), { recordVersion: 1n });
  assert.deepEqual([changed.created, changed.unchanged], [false, false]);
  assert.equal(changed.workflowDefinition!.recordVersion, 2n);
  await assert.rejects(importText({ tenantId }, text, { recordVersion: 1n }), failsWith("VERSION_CONFLICT"));
  const json = await importText({ tenantId }, JSON.stringify(keyed("b")), { format: "json" });
  assert.deepEqual(json.workflowDefinition!.draft, keyed("b"));
});

test("a text that is no document is refused", async () => {
  const tenantId = freshTenant();
  const invalid = (text: RegExp) => failsWith("INVALID_ARGUMENT", text);
  await assert.rejects(importText({ tenantId }, "a: [1"), invalid(/^text: line 1, column/));
  await assert.rejects(importText({ tenantId }, "just a text"), invalid(/^text: must be an object/));
  await assert.rejects(importText({ tenantId }, "name: x"), invalid(/^text\.key: must be lower-case/));
  await assert.rejects(importText({ tenantId }, "{", { format: "json" }), invalid(/^text: is not valid JSON/));
  const missing = importText({ tenantId }, "key: a", { recordVersion: 1n });
  await assert.rejects(missing, failsWith("NOT_FOUND"));
});

test("an exported text can be imported again without a change", async () => {
  const tenantId = freshTenant();
  for (const [at, document] of Object.values(validDocuments).slice(0, 3).entries()) {
    const { id } = await fixture.create({ tenantId }, { ...document, key: `d${at}` });
    for (const format of ["yaml", "json"]) {
      const exported = await exportText({ tenantId }, id, { format });
      assert.equal(exported.contentType, `application/${format}`);
      assert.equal((await importText({ tenantId }, exported.text, { format })).unchanged, true);
    }
  }
});

test("an imported text comes back as it was written, until the draft is replaced by another document", async () => {
  const tenantId = freshTenant();
  const text = "# Notes.\ndsl: '1'\nkey: a # the key\ntimeout: 1d\nsteps: []\n";
  const written = async (format = "yaml") => (await exportText({ tenantId }, "a", { format })).text;
  const { workflowDefinition } = await importText({ tenantId }, text);
  assert.equal(await written(), text);
  assert.equal(JSON.parse(await written("json")).key, "a");
  const recommented = text.replace("Notes", "Other notes");
  const second = await importText({ tenantId }, recommented, { recordVersion: workflowDefinition!.recordVersion });
  assert.equal(second.unchanged, false, "only a comment has changed");
  assert.equal(await written(), recommented);
  await fixture.update({ tenantId }, "a", second.workflowDefinition!.draft as never);
  assert.equal(await written(), recommented, "an equal document changes nothing");
  await fixture.update({ tenantId }, "a", keyed("a", 2));
  assert.ok(!(await written()).includes("#"));
});

test("what is wrong with a text has its place, and its document is returned to be drawn", async () => {
  const text = "# Notes.\ndsl: '1'\nkey: a\ntimeout: 1d\nsteps:\n  - id: one\n    transfrom: 1\n";
  const request = { text };
  const checked = await perform(
    db,
    { tenantId: freshTenant() },
    handlers.validateWorkflowDefinition,
    ValidateWorkflowDefinitionRequestSchema,
    request,
  );
  const { line, column } = checked.violations[0]!.textPosition!;
  assert.deepEqual([line, column], [7, 5]);
  assert.equal((checked.document as { key: string }).key, "a");
});

test("versions can be exported", async () => {
  const tenantId = freshTenant();
  const { id } = await published({ tenantId }, keyed("a", 1));
  await fixture.update({ tenantId }, id, keyed("a", 2));
  const readValue = async (version: string) => {
    const { text } = await exportText({ tenantId }, id, { version, format: "json" });
    return JSON.parse(text).steps[0].transform;
  };
  assert.deepEqual(await Promise.all(["", "draft", "active", "1"].map(readValue)), [2, 2, 1, 1]);
});

test("the draft is compared with the active version, and any two versions with each other", async () => {
  const tenantId = freshTenant();
  const { id } = await published({ tenantId }, keyed("a", 1));
  assert.equal((await diff({ tenantId }, id)).equal, true);
  await fixture.update({ tenantId }, id, documentOf([noteStep("one", 2), noteStep("two")], { key: "a" }));
  const changes = await diff({ tenantId }, id);
  assert.equal(changes.equal, false);
  assert.deepEqual(
    changes.steps.map((step) => [
      step.id,
      step.change,
      step.values.map(({ path, before, after }) => [path, before, after]),
    ]),
    [
      ["one", "changed", [["transform", "1", "2"]]],
      ["two", "added", []],
    ],
  );
  await fixture.publish({ tenantId }, id);
  assert.deepEqual((await diff({ tenantId }, id, "1", "2")).steps, changes.steps);
  assert.equal((await diff({ tenantId }, id, "2", "active")).equal, true);
  await assert.rejects(diff({ tenantId }, id, "3"), failsWith("NOT_FOUND", /no version 3/));
});

test("the schema of the language is served", async () => {
  const handler = handlers.getWorkflowDefinitionSchema;
  const { schema } = await perform(db, {}, handler, GetWorkflowDefinitionSchemaRequestSchema, {});
  assert.equal(schema!.contentType, "application/schema+json");
  assert.deepEqual(JSON.parse(Buffer.from(schema!.data).toString()), JSON.parse(JSON.stringify(definitionSchema())));
});

test("a tenant cannot see or change the definitions of another", async () => {
  const tenantId = freshTenant();
  const other = { tenantId: freshTenant() };
  const { id } = await published({ tenantId }, keyed("a"));
  const attempts = [
    ...[id, "a"].flatMap((name) => [
      () => fixture.get(other, name),
      () => fixture.update(other, name, keyed("a", 2)),
      () => fixture.publish(other, name),
      () => fixture.archive(other, name),
      () => duplicate(other, name),
      () => exportText(other, name),
      () => diff(other, name),
      () => listVersions(other, name),
      () => getVersion(other, name, "1"),
    ]),
  ];
  for (const attempt of attempts) await assert.rejects(attempt(), failsWith("NOT_FOUND"));
  assert.equal((await list(other)).totalSize, 0);
  assert.equal((await importText(other, JSON.stringify(keyed("a")))).created, true);
  assert.deepEqual((await fixture.get({ tenantId }, id)).recordVersion, 2n);
});

test("the calls of a version are read through any number of definitions", async () => {
  const tenantId = freshTenant();
  await published({ tenantId }, keyed("c0"));
  for (let at = 1; at <= 20; at++)
    await published({ tenantId }, calling(`c${at}`, { key: `c${at - 1}` }, { key: "c0" }));
  const reached = await definitionStore(db.sql).reachable(tenantId, [{ key: "c20", version: undefined }]);
  assert.equal(reached.length, 21);
});

test("a compensation counts as a reference", async () => {
  const tenantId = freshTenant();
  const document = stepOf(task, { compensate: { subworkflow: { key: "lead.undo" } } });
  const { violations } = await validate({ tenantId }, document);
  assert.deepEqual(
    violations.map(({ path }) => path),
    ["steps[0].compensate.subworkflow.key"],
  );
});
