import assert from "node:assert/strict";
import { test } from "node:test";
import { untilBlocked } from "../../../../../test/harness/blocked-statements.ts";
import { freshTenant, testDatabase } from "../../../../../test/harness/context.ts";
import type { Sql } from "../../../../platform/db/index.ts";
import { lowestUlid } from "../../../../platform/ids/ulid.ts";
import { type ItemKey, moveDependencies } from "./dependency-store.ts";
import { deleteDependencies, deleteSettled } from "./settled-dependency-store.ts";

const db = await testDatabase();
const onId = lowestUlid(1);

/** Stores items that wait for the same one, and that are stored from the last to the first. Returns them in this order. */
async function storeDependencies(): Promise<ItemKey[]> {
  const tenantId = freshTenant();
  const items = Array.from({ length: 20 }, (_, nth) => ({ tenantId, id: lowestUlid(100 - nth) }));
  await db.sql`
    insert into queue_dependencies (tenant_id, item_id, on_id, outcome)
    select ${tenantId}, id, ${onId}, 'completed' from unnest(${items.map(({ id }) => id)}::text[]) as item(id)`;
  return items;
}

const writes: Record<string, (tx: Sql, items: readonly ItemKey[]) => Promise<void>> = {
  deleteDependencies,
  deleteSettled,
  moveDependencies: (tx, [item]) => moveDependencies(tx, [{ ...item!, id: onId, supersededById: lowestUlid(2) }]),
};

for (const [name, write] of Object.entries(writes)) {
  test(`${name} locks dependencies in the global lock order, in whichever order they are named and stored`, async () => {
    const items = await storeDependencies();
    const { tenantId, id } = items.at(-1)!;
    let writing: Promise<void> | undefined;
    await db.transaction(async (tx) => {
      await tx`select from queue_dependencies where tenant_id = ${tenantId} and item_id = ${id} for update`;
      writing = db.transaction((other) => write(other, items));
      await untilBlocked(db.sql);
      const free = await tx`
        select from queue_dependencies where tenant_id = ${tenantId} for update skip locked`;
      assert.equal(free.length, items.length, "it waits for the first row and holds no later one");
    });
    await writing;
    const left = await db.sql`select from queue_dependencies where tenant_id = ${tenantId} and on_id = ${onId}`;
    assert.equal(left.length, 0);
  });
}
