import type { TenantId } from "../../../../platform/access/index.ts";
import type { Database, Sql } from "../../../../platform/db/index.ts";
import { ulidMs } from "../../../../platform/ids/ulid.ts";
import type { JobKind } from "../../../../platform/jobs/index.ts";
import { type ItemState, isEndState } from "../domain/queue-item.ts";
import { archiveItems } from "./history-store.ts";

/** The key of an item and its decision. */
interface ItemKey {
  readonly tenantId: TenantId;
  readonly id: string;
}

const batchSize = 500;
const everyMs = 10_000;

/**
 * Creates the job that converts the rows of earlier versions, which stored decisions apart from their items and ended items
 * with the others. Each batch is one transaction, so the job can be interrupted at any time; the next run continues.
 */
export function convertItemsJob({ db, platformTenantId }: { db: Database; platformTenantId: () => string }): JobKind {
  return {
    kind: "queue.convert_items",
    every: { ms: everyMs, tenantId: platformTenantId },
    async handler({ signal }) {
      if (!(await hasUnconverted(db.sql))) return;
      // Unfinished items first, because workers wait for them.
      await inBatches(signal, (after) => convertUnfinished(db, after));
      await inBatches(signal, (after) => convertDecisions(db, after));
    },
  };
}

/** Calls `convert` with the last key of the previous batch until it returns undefined. */
async function inBatches(signal: AbortSignal, convert: (after: ItemKey | undefined) => Promise<ItemKey | undefined>) {
  let last: ItemKey | undefined;
  do {
    signal.throwIfAborted();
    last = await convert(last);
  } while (last !== undefined);
}

async function hasUnconverted(sql: Sql): Promise<boolean> {
  const [row] = await sql<{ found: boolean }[]>`select exists (select from unconverted_decisions) as found`;
  return row!.found;
}

/** Converts one batch of unfinished items after a key; returns the last key of the batch. */
async function convertUnfinished(db: Database, after: ItemKey | undefined): Promise<ItemKey | undefined> {
  const batch = await db.sql<ItemKey[]>`
    select tenant_id, id from queue_items
    where type is null and state in ('pending', 'held', 'ready', 'leased') ${isAfter(db.sql, after)}
    order by tenant_id, id limit ${batchSize}`;
  await db.transaction(async (tx) => {
    await lockItems(tx, batch);
    await convertInPlace(tx, batch);
  });
  return batch.at(-1);
}

/** Converts one batch of decisions after a key, with their items; returns the last key of the batch. */
async function convertDecisions(db: Database, after: ItemKey | undefined): Promise<ItemKey | undefined> {
  const batch = await db.sql<ItemKey[]>`
    select tenant_id, id from unconverted_decisions where true ${isAfter(db.sql, after)}
    order by tenant_id, id limit ${batchSize}`;
  if (batch.length === 0) return undefined;
  await db.transaction(async (tx) => {
    const items = await lockItems(tx, batch);
    const states = new Map(items.map((item) => [item.tenantId + item.id, item.state]));
    const stateOf = ({ tenantId, id }: ItemKey) => states.get(tenantId + id);
    const hasEnded = (key: ItemKey) => {
      const state = stateOf(key);
      return state !== undefined && state !== "dead_lettered" && isEndState(state);
    };
    await convertInPlace(
      tx,
      batch.filter((key) => stateOf(key) !== undefined && !hasEnded(key)),
    );
    await archiveEnded(tx, batch.filter(hasEnded));
    await archiveDecisions(
      tx,
      batch.filter((key) => stateOf(key) === undefined),
    );
  });
  return batch.at(-1);
}

/** Locks items in the global lock order. */
async function lockItems(tx: Sql, keys: readonly ItemKey[]): Promise<(ItemKey & { state: ItemState })[]> {
  return tx`
    select q.tenant_id, q.id, q.state from (${keyRows(tx, keys)}) n cross join lateral (
      select q.tenant_id, q.id, q.state from queue_items q where q.tenant_id = n.tenant_id and q.id = n.id
      limit 1 for update
    ) q`;
}

/** Adds the decisions to items that stay in the queue. A trigger does it when the item changes. */
async function convertInPlace(sql: Sql, keys: readonly ItemKey[]): Promise<void> {
  if (keys.length === 0) return;
  await sql`
    update queue_items q set type = null from (${keyRows(sql, keys)}) n
    where q.tenant_id = n.tenant_id and q.id = n.id and q.type is null`;
}

/** Moves ended items to the history. */
async function archiveEnded(tx: Sql, keys: readonly ItemKey[]): Promise<void> {
  if (keys.length === 0) return;
  const end = archiveItems(tx, {
    state: tx`e.state`,
    endedAt: tx`e.ended_at`,
    doneToken: tx`e.done_token`,
    survivorId: tx`e.survivor_id`,
  });
  await tx`
    with ended as (
      delete from queue_items q using (${keyRows(tx, keys)}) n where q.tenant_id = n.tenant_id and q.id = n.id
      returning q.*
    ), ${end}
    select`;
}

/** Moves decisions without an item to the history. */
async function archiveDecisions(tx: Sql, keys: readonly ItemKey[]): Promise<void> {
  if (keys.length === 0) return;
  await tx`
    with n as (
      select * from unnest(${keys.map(({ tenantId }) => tenantId)}::text[], ${keys.map(({ id }) => id)}::text[],
        ${keys.map(({ id }) => new Date(ulidMs(id)))}::timestamptz[]) as n(tenant_id, id, decided_at)
    ), moved as (
      delete from unconverted_decisions u using n where u.tenant_id = n.tenant_id and u.id = n.id
      returning u.*, n.decided_at
    )
    insert into routing_history (tenant_id, id, pool_id, ended_at, type, key, attributes, requirements, payload,
      decided_priority, outcome, decided_for, snapshot_digest, seed, evidence)
    select tenant_id, id, pool_id, decided_at, type, key, attributes, requirements, payload, priority, outcome,
      recipient_id, snapshot_digest, seed, evidence
    from moved`;
}

function isAfter(sql: Sql, after: ItemKey | undefined) {
  return after === undefined ? sql`` : sql`and (tenant_id, id) > (${after.tenantId}, ${after.id})`;
}

function keyRows(sql: Sql, keys: readonly ItemKey[]) {
  return sql`
    select * from unnest(${keys.map(({ tenantId }) => tenantId)}::text[], ${keys.map(({ id }) => id)}::text[])
      as n(tenant_id, id)`;
}
