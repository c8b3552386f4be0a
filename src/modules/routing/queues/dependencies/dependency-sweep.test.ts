import assert from "node:assert/strict";
import { test } from "node:test";
import { freshTenant, recordedEvents, testDatabase } from "../../../../../test/harness/context.ts";
import type { Database } from "../../../../platform/db/index.ts";
import { ulid } from "../../../../platform/ids/ulid.ts";
import { createDependencySweep } from "./dependency-sweep.ts";

const db = await testDatabase();
const tenantId = freshTenant();

/** An item that waits for two others, of which the first is completed. */
async function storeWaitingItem(onFailure: "cancel" | "run") {
  const [id, first, second] = [ulid(Date.now()), ulid(Date.now()), ulid(Date.now())];
  await db.sql`
    insert into queue_items (tenant_id, id, pool_id, state, hold_reason, resume, priority, rank, expires_at, type, key,
      attributes, payload)
    values (${tenantId}, ${id}, ${id}, 'held', 'dependency', ${db.sql.json({ onFailure, reason: "" })}, 0, 0,
      now() + interval '1 hour', 't', '', '{}', '{}')`;
  await db.sql`
    insert into queue_dependencies (tenant_id, item_id, on_id, outcome)
    values (${tenantId}, ${id}, ${first}, 'completed'), (${tenantId}, ${id}, ${second}, null)`;
  return { id, second };
}

function sweepOn(database: Database) {
  const ended: string[] = [];
  const sweep = createDependencySweep({
    db: database,
    now: Date.now,
    events: recordedEvents() as never,
    wake: () => {},
    onEnded: (items) => ended.push(...items.map(({ id }) => id)),
  });
  return { sweep, ended };
}

const stateOf = async (id: string) =>
  (await db.sql<{ state: string }[]>`select state from queue_items where tenant_id = ${tenantId} and id = ${id}`)[0]!.state;

for (const [onFailure, end] of [["cancel", "cancelled"], ["run", "ready"]] as const) {
  test(`a failure that is stored while a sweep looks at the other outcomes still counts: ${onFailure}`, async () => {
    const { id, second } = await storeWaitingItem(onFailure);
    // The other dependency fails between the read and the transaction of the sweep.
    const transaction: Database["transaction"] = async (run) => {
      await db.sql`
        update queue_dependencies set outcome = 'failed' where tenant_id = ${tenantId} and on_id = ${second}`;
      return db.transaction(run);
    };
    const { ended, sweep } = sweepOn({ ...db, transaction } as Database);
    await sweep();
    assert.equal(await stateOf(id), onFailure === "cancel" ? "held" : "ready");
    await sweepOn(db).sweep();
    const [row] = await db.sql`select state from all_items where tenant_id = ${tenantId} and id = ${id}`;
    assert.equal(row!.state, end);
    assert.deepEqual(ended, []);
  });
}
