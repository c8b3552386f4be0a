import assert from "node:assert/strict";
import { test } from "node:test";
import { announcedChanges } from "../../../../test/harness/changes.ts";
import { freshTenant, testDatabase } from "../../../../test/harness/context.ts";
import { documentOf, noteStep } from "./domain/language/testing/documents.ts";
import { createPublishedVersions } from "./published-versions.ts";
import { definitionStore } from "./store.ts";
import { definitionFixture } from "./testing/definition-fixture.ts";

const db = await testDatabase();
const fixture = definitionFixture(db);
const { resolve } = fixture.definitions;

const keyed = (key: string, value: number | string = 1) => documentOf([noteStep("one", value)], { key });

async function published(tenantId: ReturnType<typeof freshTenant>, key: string, value: number | string = 1) {
  const { id } = await fixture.create({ tenantId }, keyed(key, value));
  await fixture.publish({ tenantId }, id);
  return id;
}

test("the active version is found by id and by key, with its parsed definition", async () => {
  const tenantId = freshTenant();
  const id = await published(tenantId, "a");
  const found = await resolve(tenantId, id);
  assert.equal(found!.definitionId, id);
  assert.equal(found!.key, "a");
  assert.equal(found!.version, 1);
  assert.match(found!.digest, /^[0-9a-f]{64}$/);
  assert.equal(found!.archived, false);
  assert.deepEqual(found!.definition.steps[0]!.work, { kind: "transform", value: 1 });
  assert.deepEqual(await resolve(tenantId, "a"), found);
});

test("what is missing is undefined: a definition, a version, and the active version of a draft", async () => {
  const tenantId = freshTenant();
  await fixture.create({ tenantId }, keyed("draft"));
  await published(tenantId, "a");
  assert.equal(await resolve(tenantId, "nothing"), undefined);
  assert.equal(await resolve(tenantId, "draft"), undefined);
  assert.equal(await resolve(tenantId, "a", 2), undefined);
  assert.equal(await resolve(tenantId, "a", 0), undefined);
  assert.equal(await resolve(tenantId, "a", -1), undefined);
  assert.equal(await resolve(freshTenant(), "a"), undefined);
});

test("a definition that was missing is found once it is published", async () => {
  const tenantId = freshTenant();
  assert.equal(await resolve(tenantId, "a"), undefined);
  await published(tenantId, "a");
  assert.equal((await resolve(tenantId, "a"))!.version, 1);
});

test("a new version is active at once, and the earlier one stays available", async () => {
  const tenantId = freshTenant();
  const id = await published(tenantId, "a", 1);
  const first = await resolve(tenantId, "a");
  await fixture.update({ tenantId }, id, keyed("a", 2));
  assert.equal((await resolve(tenantId, "a"))!.version, 1);
  await fixture.publish({ tenantId }, id);
  assert.equal((await resolve(tenantId, "a"))!.version, 2);
  assert.equal((await resolve(tenantId, "a", 1))!.definition, first!.definition);
});

test("an archived definition is found for its runs, until another one has its key", async () => {
  const tenantId = freshTenant();
  const id = await published(tenantId, "a");
  await fixture.archive({ tenantId }, id);
  for (const name of [id, "a"]) {
    const found = await resolve(tenantId, name);
    assert.deepEqual([found!.definitionId, found!.version, found!.archived], [id, 1, true]);
  }
  const next = await published(tenantId, "a", 2);
  assert.equal((await resolve(tenantId, "a"))!.definitionId, next);
  assert.equal((await resolve(tenantId, id, 1))!.archived, true);
});

test("a version is read and parsed once while it stays in memory", async () => {
  const tenantId = freshTenant();
  await published(tenantId, "a");
  const found = await Promise.all([resolve(tenantId, "a"), resolve(tenantId, "a"), resolve(tenantId, "a", 1)]);
  assert.equal(new Set(found.map((each) => each!.definition)).size, 1);
});

test("parsed versions are dropped when they exceed their memory, least recently used first", async () => {
  const tenantId = freshTenant();
  for (const key of ["a", "b", "c"]) await published(tenantId, key, "x".repeat(1000));
  const { changes } = announcedChanges();
  const versions = createPublishedVersions({ db, changes, bytesMax: 2500 });
  const definitionOf = async (key: string) => (await versions.resolve(tenantId, key))!.definition;
  const [a, b] = [await definitionOf("a"), await definitionOf("b")];
  assert.equal(await definitionOf("a"), a);
  await definitionOf("c");
  assert.equal(await definitionOf("a"), a);
  assert.notEqual(await definitionOf("b"), b);
});

test("a version that another node just published is not archived on a node that did not hear of it yet", async () => {
  const tenantId = freshTenant();
  const id = await published(tenantId, "a", 1);
  const versions = createPublishedVersions({ db, changes: announcedChanges().changes });
  assert.equal((await versions.resolve(tenantId, "a"))!.version, 1);
  await fixture.update({ tenantId }, id, keyed("a", 2));
  await fixture.publish({ tenantId }, id);
  const { version, archived } = (await versions.resolve(tenantId, "a", 2))!;
  assert.deepEqual([version, archived], [2, false]);
});

test("a withdrawn version stays archived after a newer one is published", async () => {
  const tenantId = freshTenant();
  const id = await published(tenantId, "a", 1);
  const publishNext = async (value: number) => {
    await fixture.update({ tenantId }, id, keyed("a", value));
    await fixture.publish({ tenantId }, id);
  };
  await publishNext(2);
  assert.equal((await resolve(tenantId, "a", 2))!.archived, false);
  const store = definitionStore(db.sql);
  await store.withdrawVersions((await store.findHead(tenantId, id))!, 1, new Date());
  await publishNext(3);
  const { version, archived } = (await resolve(tenantId, "a"))!;
  assert.deepEqual([version, archived], [3, false]);
  assert.equal((await resolve(tenantId, "a", 2))!.archived, true);
});

test("while changes of other nodes are unknown, the active version is read from the database", async () => {
  const tenantId = freshTenant();
  const id = await published(tenantId, "a", 1);
  const { changes, standing } = announcedChanges();
  const versions = createPublishedVersions({ db, changes });
  assert.equal((await versions.resolve(tenantId, "a"))!.version, 1);
  // This node does not hear of the change.
  await fixture.update({ tenantId }, id, keyed("a", 2));
  await fixture.publish({ tenantId }, id);
  assert.equal((await versions.resolve(tenantId, "a"))!.version, 1);
  standing.fresh = false;
  assert.equal((await versions.resolve(tenantId, "a"))!.version, 2);
  standing.fresh = true;
  changes.published(tenantId);
  assert.equal((await versions.resolve(tenantId, "a"))!.version, 2);
});
