import assert from "node:assert/strict";
import { test } from "node:test";
import { freshTenant, testDatabase } from "../../../test/harness/context.ts";
import type { TenantId } from "../access/index.ts";
import { newStamps, recordTable, type Stamps } from "./index.ts";

interface Thing extends Stamps {
  readonly tenantId: TenantId;
  readonly id: string;
  readonly environmentKey: string;
  readonly displayName: string;
  readonly active: boolean;
  readonly tags: readonly string[];
  readonly settings: Readonly<Record<string, unknown>>;
  readonly choices: readonly unknown[] | null;
  readonly endsAt: Date | null;
  readonly tagCount: number;
}

const db = await testDatabase();
const { sql } = db;
await sql`
  create table things (tenant_id text, id text collate "C", environment_key text not null, display_name text not null,
    active boolean not null default true, tags text[] not null default '{}', settings json not null, choices jsonb,
    ends_at timestamptz, ciphertext text not null default '', removed boolean not null default false,
    created_at timestamptz not null, updated_at timestamptz not null, record_version int not null default 1,
    primary key (tenant_id, id))`;
const things = recordTable<Thing, { readonly ciphertext: string }>("things", {
  fixed: "tenant_id id environment_key created_at",
  mutable: "display_name active tags settings choices ends_at updated_at record_version",
  internal: "ciphertext",
  computed: (tagged) => tagged`cardinality(tags) as tag_count`,
  exists: "not removed",
});
const store = things(sql);
const now = new Date("2030-01-02T03:04:05Z");
const page = { fetch: 10, offset: 0, after: undefined };

function thing(tenantId: TenantId, id: string, fields: Partial<Thing> = {}) {
  return {
    ...{
      tenantId,
      id,
      environmentKey: "production",
      displayName: id,
      active: true,
      tags: ["a"],
      settings: { z: 1, a: 2 },
    },
    ...{ tagCount: 1, choices: [true, "b"], endsAt: now, ...fields, ...newStamps(0), ciphertext: "sealed" },
  };
}

const read = ({ ciphertext: _, ...rest }: ReturnType<typeof thing>) => rest;

test("a record is found, listed and removed with the values it was inserted with, by its own tenant only", async () => {
  const [tenantId, other] = [freshTenant(), freshTenant()];
  const inserted = thing(tenantId, "one");
  assert.deepEqual(await store.insert(inserted), read(inserted));
  assert.deepEqual(await store.find(tenantId, "one"), read(inserted));
  assert.deepEqual([...(await store.list(tenantId, page)).rows], [read(inserted)]);
  assert.equal(await store.count(tenantId), 1);
  // A json column keeps the order of members.
  assert.equal(JSON.stringify((await store.find(tenantId, "one"))!.settings), '{"z":1,"a":2}');
  for (const missing of [store.find, store.hold, store.lock, store.findFull, store.lockFull, store.remove]) {
    assert.equal(await missing(other, "one"), undefined);
  }
  assert.deepEqual(await store.remove(tenantId, "one"), read(inserted));
  assert.equal(await store.find(tenantId, "one"), undefined);
});

test("only reads that ask for internal columns get them", async () => {
  const tenantId = freshTenant();
  const inserted = thing(tenantId, "one");
  await store.insert(inserted);
  assert.deepEqual(await store.findFull(tenantId, "one"), inserted);
  await db.transaction(async (tx) => {
    assert.deepEqual(await things(tx).lockFull(tenantId, "one"), inserted);
    assert.deepEqual(await things(tx).lock(tenantId, "one"), read(inserted));
    assert.deepEqual(await things(tx).hold(tenantId, "one"), read(inserted));
  });
});

test("an update leaves undefined fields unchanged and clears null ones", async () => {
  const tenantId = freshTenant();
  const inserted = thing(tenantId, "one");
  await store.insert(inserted);
  const renamed = await store.update(tenantId, "one", { displayName: "new", active: false }, undefined, now);
  const expected = { ...read(inserted), displayName: "new", active: false, updatedAt: now, recordVersion: 2 };
  assert.deepEqual(renamed, expected);
  const cleared = await store.update(tenantId, "one", { endsAt: null, choices: null, ciphertext: "b" }, 2, now);
  assert.deepEqual(cleared, { ...expected, endsAt: null, choices: null, recordVersion: 3 });
  const rest = {
    tags: ["b", "c"],
    tagCount: 2,
    settings: { y: [] },
    choices: [{ d: null }],
    endsAt: inserted.createdAt,
  };
  assert.deepEqual(await store.update(tenantId, "one", rest, 3, now), { ...cleared!, ...rest, recordVersion: 4 });
  assert.equal((await store.findFull(tenantId, "one"))!.ciphertext, "b");
});

test("an update with another version than expected changes nothing", async () => {
  const tenantId = freshTenant();
  await store.insert(thing(tenantId, "one"));
  assert.equal(await store.update(tenantId, "one", { displayName: "new" }, 2, now), undefined);
  assert.deepEqual(await store.find(tenantId, "one"), read(thing(tenantId, "one")));
});

test("updates of different fields share one statement", async () => {
  const tenantId = freshTenant();
  await store.insert(thing(tenantId, "one"));
  await db.transaction(async (tx) => {
    const { update } = things(tx);
    const prepared = async () => {
      const rows = await tx<{ text: string }[]>`
        select distinct statement as text from pg_prepared_statements
        where statement ~ '^\\s*update things' order by text`;
      return rows.map(({ text }) => text);
    };
    await update(tenantId, "one", {}, undefined, now);
    const first = await prepared();
    assert.notEqual(first.length, 0);
    await update(tenantId, "one", { displayName: "new", tags: [] }, 2, now);
    await update(tenantId, "one", { active: false, settings: {} }, 3, now);
    assert.deepEqual(await prepared(), first);
  });
});

test("SQL sets fields of a record that fulfils a condition", async () => {
  const tenantId = freshTenant();
  await store.insert(thing(tenantId, "one"));
  const stop = () => store.set(tenantId, "one", now, sql`active = false`, sql`active`);
  assert.equal((await stop())?.recordVersion, 2);
  assert.equal(await stop(), undefined);
});

test("a record that keeps its row when it is deleted is never found, changed, counted or listed", async () => {
  const tenantId = freshTenant();
  await store.insert(thing(tenantId, "one"));
  assert.notEqual(await store.set(tenantId, "one", now, sql`ends_at = null`), undefined);
  await sql`update things set removed = true where tenant_id = ${tenantId}`;
  for (const missing of [store.find, store.hold, store.lock, store.findFull, store.lockFull, store.remove]) {
    assert.equal(await missing(tenantId, "one"), undefined);
  }
  assert.equal(await store.update(tenantId, "one", { displayName: "new" }, undefined, now), undefined);
  assert.equal(await store.count(tenantId), 0);
  assert.equal((await store.list(tenantId, page)).rows.length, 0);
});

test("an insert of a taken key fails, or inserts nothing if that is allowed", async () => {
  const tenantId = freshTenant();
  assert.equal((await store.insertUnlessTaken(thing(tenantId, "one")))?.id, "one");
  assert.equal(await store.insertUnlessTaken(thing(tenantId, "one")), undefined);
  await assert.rejects(store.insert(thing(tenantId, "one")), { code: "23505" });
});

test("a list compares columns with the given values only, and refuses names that are no columns", async () => {
  const tenantId = freshTenant();
  await store.insert(thing(tenantId, "one"));
  await store.insert(thing(tenantId, "three", { environmentKey: "test" }));
  await store.insert(thing(tenantId, "two", { active: false }));
  const ids = async (filter: Parameters<typeof store.listWhere>[1], options?: Parameters<typeof store.listWhere>[3]) =>
    (await store.listWhere(tenantId, filter, page, options)).rows.map(({ id }) => id);
  assert.deepEqual(await ids({ displayName: "", active: undefined }), ["one", "three", "two"]);
  assert.deepEqual(await ids({ active: true, environmentKey: "production" }), ["one"]);
  assert.deepEqual(await ids({ active: false }), ["two"]);
  assert.deepEqual(await ids({ inProduction: true }), ["one", "two"]);
  assert.deepEqual(await ids({ inProduction: false }), ["three"]);
  assert.deepEqual(await ids({}, { where: sql`id > 'p'`, newestFirst: true }), ["two", "three"]);
  await assert.rejects(() => ids({ "id = '' or id": "x" } as never), TypeError);
});
