import assert from "node:assert/strict";
import { test } from "node:test";
import { freshTenant, recordedEvents, testDatabase } from "../../../../../test/harness/context.ts";
import type { Database } from "../../../../platform/db/index.ts";
import { ulid } from "../../../../platform/ids/ulid.ts";
import type { DependencyOutcome, Resumption } from "../domain/dependency.ts";
import { createDependencySweep } from "./dependency-sweep.ts";

const db = await testDatabase();
const tenantId = freshTenant();

type Outcome = DependencyOutcome | null;

/** An item that waits for others, which have these outcomes; null for an unfinished one. */
async function storeWaitingItem(onFailure: Resumption["onFailure"], outcomes: readonly Outcome[]): Promise<string> {
  const id = ulid(Date.now());
  await db.sql`
    insert into queue_items (tenant_id, id, pool_id, state, hold_reason, resume, priority, rank, expires_at, type, key,
      attributes, requirements, payload, decided_priority, outcome, decided_for, snapshot_digest, seed, evidence)
    values (${tenantId}, ${id}, ${id}, 'held', 'dependency', ${db.sql.json({ onFailure, reason: "" })}, 0, 0,
      now() + interval '1 hour', 't', '', '{}', '{}', '{}', 0, 'held', '', '00', 0, '{}')`;
  await db.sql`
    insert into queue_dependencies (tenant_id, item_id, on_id, outcome)
    select ${tenantId}, ${id}, lpad(nth::text, 26, '0'), outcome
    from unnest(${outcomes as Outcome[]}::text[]) with ordinality as given(outcome, nth)`;
  return id;
}

/** Sweeps once; `beforeWrite` runs after the sweep has read the outcomes. */
async function sweep(beforeWrite: () => Promise<unknown> = async () => {}): Promise<void> {
  const transaction: Database["transaction"] = async (work, call) => {
    await beforeWrite();
    return db.transaction(work, call);
  };
  const events = recordedEvents() as never;
  await createDependencySweep({
    db: { ...db, transaction },
    now: Date.now,
    events,
    wake: () => {},
    onEnded: () => {},
  })();
}

async function stateOf(id: string): Promise<string> {
  const [row] = await db.sql<{ state: string }[]>`
    select state from all_items where tenant_id = ${tenantId} and id = ${id}`;
  return row!.state;
}

const cases: readonly [Resumption["onFailure"], readonly Outcome[], string][] = [
  ["cancel", ["completed", "completed"], "ready"],
  ["cancel", ["completed", null], "held"],
  ["cancel", ["failed", null], "cancelled"],
  ["run", ["completed", "failed"], "ready"],
  ["run", ["failed", null], "held"],
];

for (const [onFailure, outcomes, state] of cases) {
  const ended = outcomes.map((outcome) => outcome ?? "unfinished").join(" and ");
  test(`after ${ended} dependencies, an item with after_failure ${onFailure} is ${state}`, async () => {
    const id = await storeWaitingItem(onFailure, outcomes);
    await sweep();
    assert.equal(await stateOf(id), state);
  });
}

test("of two nodes that sweep at once, one releases an item, and the other leaves it to its worker", async () => {
  const id = await storeWaitingItem("cancel", ["completed"]);
  await sweep(async () => {
    await sweep();
    assert.equal(await stateOf(id), "ready");
    await db.sql`update queue_items set state = 'leased' where tenant_id = ${tenantId} and id = ${id}`;
  });
  assert.equal(await stateOf(id), "leased");
});

test("a failure that is stored while a sweep releases the item cancels it", async () => {
  const id = await storeWaitingItem("cancel", ["completed", null]);
  await sweep(
    () => db.sql`
      update queue_dependencies set outcome = 'failed'
      where tenant_id = ${tenantId} and item_id = ${id} and outcome is null`,
  );
  assert.equal(await stateOf(id), "held");
  await sweep();
  assert.equal(await stateOf(id), "cancelled");
});
