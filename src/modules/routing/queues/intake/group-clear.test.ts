import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { toJson } from "@bufbuild/protobuf";
import {
  AdmissionExplanationSchema,
  AdmissionGroupSchema,
  AdmissionPreviewSchema,
  ListAdmissionGroupsResponseSchema,
} from "../../../../../gen/service/api/admission_pb.ts";
import { failsWith, testDatabase } from "../../../../../test/harness/context.ts";
import { readRows } from "../../../../../test/harness/rows.ts";
import { admissionFixture, constraints } from "../testing/admission-fixture.ts";

const db = await testDatabase();
const fixture = admissionFixture(db);
const { preview, explain, list, get, clear } = fixture;

async function itemRow(id: string) {
  const [row] = await db.sql<{ state: string; dueAt: Date | null }[]>`
    select state, due_at from all_items where id = ${id}`;
  return row!;
}

describe("clear", () => {
  test("frees a singleton's place immediately; the former holder continues, and its end does not affect the next holder", async () => {
    const pool = await fixture.pool({ singleton: constraints.singleton });
    const holder = await fixture.enqueue(pool);
    assert.equal((await fixture.enqueue(pool)).verdict.status, "deduplicated");
    const group = await clear(pool, holder.refs[0]!);
    assert.deepEqual([group.status, group.queueItemId, group.inUse], ["cleared", "", 0]);
    assert.deepEqual([group.clearedBy, group.clearedReason], ["user:ada", "stuck since noon"]);
    assert.ok(group.clearedAt !== undefined);
    assert.equal((await itemRow(holder.id)).state, "ready");
    const next = await fixture.enqueue(pool);
    assert.equal(next.verdict.status, "admitted");
    await fixture.end(pool, holder);
    const used = await get(pool, holder.refs[0]!);
    assert.deepEqual([used.status, used.queueItemId, used.clearedBy], ["saturated", next.id, ""]);
  });

  test("releases the waiting item of a debounce immediately; the next item begins a new window", async () => {
    const pool = await fixture.pool({ debounce: constraints.debounce });
    const waiting = await fixture.enqueue(pool);
    const nowMs = Date.now();
    const woken = fixture.woken.length;
    assert.equal((await clear(pool, waiting.refs[0]!, { nowMs })).status, "cleared");
    assert.deepEqual(fixture.woken.slice(woken), [pool.poolId]);
    const row = await itemRow(waiting.id);
    assert.deepEqual([row.state, row.dueAt!.getTime()], ["held", nowMs]);
    const next = await fixture.enqueue(pool, {}, nowMs);
    assert.deepEqual([next.verdict.dueAtMs, next.verdict.supersedes], [nowMs + 600_000, []]);
  });

  test("resets a throttle and releases its items; items of other groups keep waiting", async () => {
    const pool = await fixture.pool({ throttle: constraints.throttle });
    const items = [];
    for (let n = 0; n < 3; n++) items.push(await fixture.enqueue(pool));
    for (let n = 0; n < 2; n++) await fixture.enqueue(pool, { key: "other" });
    assert.equal((await fixture.lease(pool, 9)).length, 2);
    assert.equal((await get(pool, items[0]!.refs[0]!)).waiting, 2);
    await clear(pool, items[0]!.refs[0]!);
    assert.deepEqual(
      await fixture.lease(pool, 9),
      items.slice(1).map(({ id }) => id),
    );
    const next = await fixture.enqueue(pool);
    await fixture.enqueue(pool);
    assert.deepEqual(await fixture.lease(pool, 9), [next.id]);
  });

  test("is refused for a concurrency group, which stays unchanged because leased items hold its slots", async () => {
    const pool = await fixture.pool({ concurrency: constraints.concurrency });
    const { refs } = await fixture.enqueue(pool);
    const before = await readRows(db.sql as never);
    await assert.rejects(clear(pool, refs[0]!), failsWith("FAILED_PRECONDITION", /concurrency/));
    assert.deepEqual(await readRows(db.sql as never), before);
  });

  test("records an event with the reason and without any key", async () => {
    const pool = await fixture.pool({ throttle: constraints.throttle });
    const { refs } = await fixture.enqueue(pool, { key: "hidden-4711" });
    await clear(pool, refs[0]!);
    assert.deepEqual(fixture.events.recorded.at(-1), {
      tenantId: pool.tenantId,
      type: "admission.group.cleared",
      subject: refs[0]!.groupId,
      data: { pool_id: pool.poolId, constraint_kind: "throttle", reason: "stuck since noon" },
    });
  });

  test("loses no item among many concurrent ones: each is superseded by an existing item or proceeds", async () => {
    const pool = await fixture.pool({ debounce: constraints.debounce });
    const { refs } = await fixture.enqueue(pool);
    const work = Array.from({ length: 60 }, (_, n) => (n % 6 === 0 ? clear(pool, refs[0]!) : fixture.enqueue(pool)));
    await Promise.all(work);
    const rows = await db.sql<{ id: string; state: string; supersededById: string; dueAt: Date | null }[]>`
      select id, state, superseded_by_id, due_at from all_items where pool_id = ${pool.poolId}`;
    assert.equal(rows.length, 51);
    const byId = new Map(rows.map((row) => [row.id, row]));
    const waiting = rows.filter(({ state }) => state === "held");
    for (const row of rows) {
      if (row.state === "superseded") assert.ok(byId.has(row.supersededById));
      else assert.ok(row.state === "held" && row.dueAt !== null);
    }
    // A clear released every item except the one in the current window, so they are due.
    const [group] = await db.sql<{ itemId: string }[]>`
      select item_id from admission_groups where group_id = ${refs[0]!.groupId}`;
    const late = waiting.filter(({ dueAt }) => dueAt!.getTime() > Date.now());
    assert.deepEqual(
      late.map(({ id }) => id),
      group!.itemId === "" ? [] : [group!.itemId],
    );
  });
});

test("the value of a key is in no response, no event and no group row", async () => {
  const hidden = "hidden-4711";
  const key = "item.attributes.customer";
  const pool = await fixture.pool({
    singleton: { ...constraints.singleton, key },
    throttle: { ...constraints.throttle, key },
    concurrency: { ...constraints.concurrency, key },
  });
  const item = { attributes: { customer: hidden } };
  const previewed = await preview(pool, item);
  const { id, refs } = await fixture.enqueue(pool, item);
  const explained = await explain(pool, id);
  const listed = await list(pool);
  const cleared = await clear(pool, refs[0]!);
  const rows = await db.sql`select * from admission_groups where tenant_id = ${pool.tenantId}`;
  const everything = [
    toJson(AdmissionPreviewSchema, previewed),
    toJson(AdmissionExplanationSchema, explained),
    toJson(ListAdmissionGroupsResponseSchema, listed),
    toJson(AdmissionGroupSchema, cleared),
    fixture.events.recorded,
    rows,
  ].map((each) => JSON.stringify(each));
  assert.equal(listed.groups.length, 3);
  for (const text of everything) assert.ok(!text.includes(hidden));
});
