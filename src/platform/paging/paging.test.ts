import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { failsWith, testDatabase } from "../../../test/harness/context.ts";
import { createCursors } from "../cursor/index.ts";
import { type Page, pageBytesMax, pageLimit, pageOf, pageOffset, readKeyset, readPage } from "./index.ts";

const db = await testDatabase();
await db.sql`
  create table items (tenant_id text, id text collate "C", note text not null default '', primary key (tenant_id, id))`;
const cursors = createCursors(randomBytes(32));
const scope = { tenantId: "t", operation: "List", filter: ["x"] };

interface Item {
  readonly id: string;
  readonly note: string;
}

async function fill(tenantId: string, ids: readonly string[]): Promise<void> {
  await db.sql`insert into items select ${tenantId}, unnest(${ids as string[]}::text[])`;
}

function list(
  tenantId: string,
  request: { pageSize?: number; pageToken?: string; skip?: number },
  newestFirst = false,
  filter?: string,
) {
  return readPage(
    cursors,
    { pageSize: 0, pageToken: "", skip: 0, ...request },
    { ...scope, tenantId },
    (item: Item) => item.id,
    (page: Page) =>
      readKeyset<Item>(
        db.sql,
        {
          columns: db.sql`id, note`,
          table: "items",
          where: db.sql`tenant_id = ${tenantId}`,
          filter: filter === undefined ? undefined : db.sql`note <> ${filter}`,
          newestFirst,
        },
        page,
      ),
  );
}

async function walk(tenantId: string, pageSize: number, newestFirst = false, onPage = async () => {}) {
  const seen: string[] = [];
  const totals: number[] = [];
  for (let pageToken = ""; ; ) {
    const page = await list(tenantId, { pageSize, pageToken }, newestFirst);
    seen.push(...page.items.map((item) => item.id));
    totals.push(page.totalSize);
    if (page.nextPageToken === "") return { seen, totals };
    pageToken = page.nextPageToken;
    await onPage();
  }
}

test("a page holds 50 items by default and 1000 at most; a negative offset counts as 0", () => {
  const limits = [
    [0, 50],
    [-1, 50],
    [-2_147_483_648, 50],
    [1, 1],
    [1000, 1000],
    [1001, 1000],
    [2_147_483_647, 1000],
  ];
  for (const [asked, limit] of limits) assert.equal(pageLimit(asked!), limit);
  for (const [asked, offset] of [
    [0, 0],
    [-5, 0],
    [7, 7],
  ])
    assert.equal(pageOffset(asked!), offset);
});

test("pages of any size follow each other without gaps or duplicates, in either direction", async () => {
  const ids = Array.from({ length: 23 }, (_, n) => `id-${String(n).padStart(3, "0")}`);
  await fill("walk", ids);
  for (const pageSize of [1, 2, 5, 22, 23, 24, 1000]) {
    assert.deepEqual((await walk("walk", pageSize)).seen, ids);
    assert.deepEqual((await walk("walk", pageSize, true)).seen, ids.toReversed());
  }
});

test("concurrent inserts and deletes shift nothing: every remaining item is returned once", async () => {
  const ids = Array.from({ length: 20 }, (_, n) => `m-${String(n * 10).padStart(4, "0")}`);
  await fill("moving", ids);
  let n = 0;
  const { seen } = await walk("moving", 3, false, async () => {
    // One insert before the reader's position, and one delete of the first item that it read.
    await fill("moving", [`a-${n++}`]);
    await db.sql`delete from items where tenant_id = 'moving' and id = ${ids[0]!}`;
  });
  assert.deepEqual(seen, ids);
});

test("all pages report the total that was counted for the first page", async () => {
  await fill("total", ["1", "2", "3", "4", "5"]);
  const { totals } = await walk("total", 2, false, () => fill("total", [`0${Math.random()}`]));
  assert.deepEqual(totals, [5, 5, 5]);
});

test("an offset skips that many items, and an empty list is one empty page", async () => {
  await fill("offset", ["1", "2", "3"]);
  const page = await list("offset", { skip: 1, pageSize: 1 });
  assert.deepEqual([page.items[0]!.id, page.totalSize], ["2", 3]);
  assert.deepEqual((await list("offset", { skip: 9 })).items, []);
  assert.deepEqual(await list("nobody", {}), {
    items: [],
    nextPageToken: "",
    totalSize: 0,
    totalCapped: false,
  });
});

test("a page that ends the list shows its total; only a longer list or an offset beyond it is counted", async () => {
  await fill("short", ["1", "2", "3"]);
  let counts = 0;
  const sql = new Proxy(db.sql, {
    apply(target, self, [strings, ...values]) {
      if (strings.raw?.join("").includes("seen from")) counts++;
      return Reflect.apply(target as never, self, [strings, ...values]);
    },
  });
  const read = async (fetch: number, offset: number) => {
    counts = 0;
    const selection = { columns: sql`id`, table: "items", where: sql`tenant_id = 'short'` };
    const { total } = await readKeyset<{ id: string }>(sql, selection, { fetch, offset, after: undefined });
    return [total?.count, counts];
  };
  assert.deepEqual(await read(4, 0), [3, 0]);
  assert.deepEqual(await read(4, 1), [3, 0]);
  assert.deepEqual(await read(3, 0), [3, 1]);
  assert.deepEqual(await read(4, 3), [3, 1]);
});

test("a cursor is valid for its own tenant, operation and filter only", async () => {
  await fill("mine", ["1", "2"]);
  await fill("theirs", ["1", "2"]);
  const { nextPageToken } = await list("mine", { pageSize: 1 });
  await assert.rejects(list("theirs", { pageToken: nextPageToken }), failsWith("INVALID_ARGUMENT", /page_token/));
  const read = async () => ({ rows: [], total: { count: 0, capped: false }, isCut: false });
  const request = { pageSize: 0, pageToken: nextPageToken, skip: 0 };
  for (const other of [{ operation: "Other" }, { filter: ["y"] }, { filter: undefined }]) {
    const bound = { ...scope, tenantId: "mine", ...other };
    await assert.rejects(readPage(cursors, request, bound, String, read), failsWith("INVALID_ARGUMENT"));
  }
});

test("an in-memory list is paged the same way", () => {
  const items = ["a", "b", "c", "d"];
  const page = (given: Partial<Page>) => pageOf(items, String, { fetch: 10, offset: 0, after: undefined, ...given });
  assert.deepEqual(page({}), { rows: items, total: { count: 4, capped: false }, isCut: false });
  assert.deepEqual(page({ after: "b" }).rows, ["c", "d"]);
  assert.deepEqual(page({ after: "bb", fetch: 1 }).rows, ["c"]);
  assert.deepEqual(page({ offset: 3 }).rows, ["d"]);
});

const ids = Array.from({ length: 100 }, (_, n) => `id-${String(n).padStart(3, "0")}`);

/** Adds a hundred items; PostgreSQL stores each note of equal letters in a fraction of its size. */
async function fillWide(tenantId: string, bytes: (nth: number) => number): Promise<void> {
  await db.sql`
    insert into items select ${tenantId}, *
    from unnest(${ids}::text[], ${ids.map((_, nth) => "x".repeat(bytes(nth)))}::text[])`;
}

test("a page of large records ends early, and its cursor continues with the next record", async () => {
  await fillWide("wide", (nth) => (nth % 2 === 0 ? 200_000 : 10));
  for (const filter of [undefined, "absent"]) {
    for (const newestFirst of [false, true]) {
      const seen: string[] = [];
      for (let pageToken = "", pages = 0; pages === 0 || pageToken !== ""; pages++) {
        const page = await list("wide", { pageSize: 1000, pageToken }, newestFirst, filter);
        const bytes = page.items.reduce((sum, { note }) => sum + note.length, 0);
        assert.ok(bytes <= pageBytesMax, `${bytes} bytes`);
        assert.ok(page.items.length >= 20 || page.nextPageToken === "", `${page.items.length} items`);
        assert.equal(page.totalSize, 100);
        seen.push(...page.items.map(({ id }) => id));
        pageToken = page.nextPageToken;
      }
      assert.deepEqual(seen, newestFirst ? ids.toReversed() : ids);
    }
  }
});

test("a record that is larger than a page is a page of its own", async () => {
  await fillWide("huge", (nth) => (nth < 3 ? pageBytesMax + 1 : 10));
  const first = await list("huge", { pageSize: 1000 });
  assert.deepEqual([first.items.length, first.nextPageToken === ""], [1, false]);
  const second = await list("huge", { pageSize: 1000, pageToken: first.nextPageToken });
  assert.deepEqual(
    second.items.map(({ id }) => id),
    ["id-001"],
  );
});

test("a page that is exactly full has a cursor only if another record follows", async () => {
  await fillWide("exact", (nth) => (nth === 99 ? 2 * pageBytesMax : 1));
  const page = await list("exact", { pageSize: 99 });
  assert.deepEqual([page.items.length, page.nextPageToken === ""], [99, false]);
  const last = await list("exact", { pageSize: 99, pageToken: page.nextPageToken });
  assert.deepEqual([last.items.length, last.nextPageToken], [1, ""]);
});

test("a page of a large in-memory list ends early", () => {
  const large = ids.map((id) => ({ id, note: "x".repeat(200_000) }));
  const seen: string[] = [];
  for (let after: string | undefined; ; after = seen.at(-1)) {
    const { rows, isCut } = pageOf(large, ({ id }) => id, { fetch: 1001, offset: 0, after });
    assert.ok(rows.length > 0 && rows.length <= 10);
    seen.push(...rows.map(({ id }) => id));
    if (!isCut) break;
  }
  assert.deepEqual(seen, ids);
});
