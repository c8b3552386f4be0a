import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { untilBlocked } from "../../../../../test/harness/blocked-statements.ts";
import { contextFor, recordedEvents, testDatabase } from "../../../../../test/harness/context.ts";
import { until } from "../../../../../test/harness/until.ts";
import type { Context } from "../../../../chain/call.ts";
import { createSignals } from "../../../../platform/db/index.ts";
import { createQueueService, type QueueService } from "../queue-service.ts";
import { admissionFixture, type StagedPool } from "../testing/admission-fixture.ts";
import { leaseParts, leaseRequestOf } from "../testing/lease-parts.ts";
import { shardCount } from "../transitions/queue-counts.ts";
import { canLeaseAhead } from "./lease-ahead.ts";
import { ageMaxMs } from "./lease-buffer.ts";
import { createLeaseService, type LeaseRequest } from "./lease-service.ts";

const db = await testDatabase();
const fixture = admissionFixture(db);

/** A node with a clock that the test sets. It hears the signals of other nodes only when it listens. */
async function startNode(t: TestContext, { listens = false } = {}) {
  const signals = createSignals(db);
  if (listens) await signals.start();
  const clock = { ms: 0 };
  const changed = new Set<(tenantId: string) => void>();
  const leaseService = createLeaseService({
    ...leaseParts(db, signals),
    changes: {
      onChange: (listener) => {
        changed.add(listener);
        return () => changed.delete(listener);
      },
    },
    nowMs: () => clock.ms,
  });
  t.after(async () => {
    leaseService.endWaits();
    await leaseService.idle();
    await signals.stop();
  });
  return {
    leaseService,
    clock,
    announceChange: (tenantId: string) => {
      for (const listener of changed) listener(tenantId);
    },
  };
}

type TestNode = Awaited<ReturnType<typeof startNode>>;

const requestOf = (pool: StagedPool, fields: Partial<LeaseRequest> = {}) =>
  leaseRequestOf(pool, { leaseAhead: true, ...fields });

async function poolWith(count: number, recipientId = ""): Promise<StagedPool> {
  const pool = await fixture.pool({});
  await Promise.all(Array.from({ length: count }, () => fixture.enqueue(pool)));
  await db.sql`update queue_items set recipient_id = ${recipientId} where pool_id = ${pool.poolId}`;
  return pool;
}

async function lease({ leaseService }: TestNode, pool: StagedPool, fields: Partial<LeaseRequest> = {}) {
  return (await leaseService.lease(requestOf(pool, fields))).rows;
}

/** The number of items that workers have received when a drain is fast enough to lease ahead. */
const warmUpItems = 200;

/** Lets many workers lease at the same time, and then one more, whose statement leases ahead. */
async function warmUp(node: TestNode, pool: StagedPool, fields: Partial<LeaseRequest> = {}) {
  const many = await Promise.all(Array.from({ length: warmUpItems }, () => lease(node, pool, fields)));
  return [...many.flat(), ...(await lease(node, pool, fields))];
}

/** The number of statements that leased these items; each has its own time. */
async function statementsOf(leases: readonly { id: string }[]): Promise<number> {
  const [row] = await db.sql<{ count: number }[]>`
    select count(distinct leased_at)::int as count from queue_items where id = any(${leases.map(({ id }) => id)}::text[])`;
  return row!.count;
}

async function itemsOf({ poolId }: StagedPool) {
  return db.sql<
    { id: string; state: string; attempt: number; leasedAt: Date | null; leaseUntil: Date | null; leaseToken: string }[]
  >`select id, state, attempt, leased_at, lease_until, lease_token from queue_items where pool_id = ${poolId}`;
}

async function countIn(pool: StagedPool, state: string): Promise<number> {
  return (await itemsOf(pool)).filter((item) => item.state === state).length;
}

/** Asserts that depth, leased items and waiting time are those of the items that workers received. */
async function assertCounts({ tenantId, poolId }: StagedPool, handedOut: number): Promise<void> {
  const [counts] = await db.sql`
    select (select sum(depth) from queue_depths where tenant_id = ${tenantId} and pool_id = ${poolId})::int as depth,
      sum(leased)::int as leased, sum(wait_ms)::bigint as wait_ms
    from queue_daily_counts where tenant_id = ${tenantId} and pool_id = ${poolId}`;
  const [items] = await db.sql`
    select count(*) filter (where state = 'ready')::int as depth, count(*) filter (where state = 'leased')::int as leased,
      sum(floor(extract(epoch from leased_at) * 1000) - rank - priority * 60000)
        filter (where state = 'leased')::bigint as wait_ms
    from queue_items where tenant_id = ${tenantId} and pool_id = ${poolId}`;
  assert.deepEqual(counts, items);
  assert.equal(counts!.leased, handedOut);
}

test("a busy pool is served from memory: few statements, each item once", async (t) => {
  const node = await startNode(t);
  const pool = await poolWith(400);
  const received = await warmUp(node, pool);
  const next = [];
  for (let n = 0; n < 100; n++) next.push(...(await lease(node, pool)));
  assert.equal(next.length, 100);
  assert.equal(new Set([...received, ...next].map(({ id }) => id)).size, warmUpItems + 101);
  // In memory there are about 10 items at a time.
  const statements = await statementsOf(next);
  assert.ok(statements <= 25, `${statements} statements`);
});

/** The requests of a worker that names a recipient with a capacity, and of one that serves the whole pool. */
const boundedRequests: readonly [string, (capacity: number) => Partial<LeaseRequest>][] = [
  ["a recipient", (capacity) => ({ recipientId: "r1", capacity })],
  [
    "a whole pool",
    (capacity) => ({ recipientIds: ["r1"], unassigned: false, capacities: new Map([["r1", capacity]]) }),
  ],
];

for (const [whose, within] of boundedRequests) {
  test(`busy workers of ${whose} with a capacity are served from memory`, async (t) => {
    const node = await startNode(t);
    const pool = await poolWith(400, "r1");
    const fields = within(1000);
    const received = await warmUp(node, pool, fields);
    for (let n = 0; n < 100; n++) received.push(...(await lease(node, pool, fields)));
    assert.equal(new Set(received.map(({ id }) => id)).size, warmUpItems + 101);
    const statements = await statementsOf(received.slice(-100));
    assert.ok(statements <= 25, `${statements} statements`);
  });

  test(`items of ${whose} that are leased ahead leave half of the capacity to the workers of other nodes`, async (t) => {
    const node = await startNode(t);
    const other = await startNode(t);
    const half = warmUpItems + 4;
    const pool = await poolWith(2 * half + 10, "r1");
    const fields = within(2 * half);
    const received = await warmUp(node, pool, fields);
    assert.equal(received.length, warmUpItems + 1);
    assert.equal(await countIn(pool, "leased"), half);
    assert.equal((await lease(other, pool, { ...fields, max: 500 })).length, half);
    assert.deepEqual(await lease(other, pool, fields), []);
    assert.equal((await lease(node, pool, { ...fields, max: 3 })).length, 3);
    assert.deepEqual(await lease(node, pool, fields), []);
    assert.equal(await countIn(pool, "leased"), 2 * half);
  });
}

test("a worker is told a lease from the hand-out on, and the row is leased longer", async (t) => {
  const node = await startNode(t);
  const pool = await poolWith(warmUpItems + 50);
  await warmUp(node, pool);
  const untilOf = async (id: string) => (await itemsOf(pool)).find((item) => item.id === id)!.leaseUntil!.getTime();
  const [first] = await lease(node, pool);
  assert.equal((await untilOf(first!.id)) - first!.leaseUntil.getTime(), ageMaxMs);
  node.clock.ms += 30;
  const [second] = await lease(node, pool);
  assert.equal((await untilOf(second!.id)) - second!.leaseUntil.getTime(), ageMaxMs - 30);
});

test("an item whose only attempt is its own setting is not kept for a worker", async (t) => {
  const node = await startNode(t);
  const pool = await poolWith(warmUpItems + 50);
  await db.sql`update queue_items set retry = '{"maxAttempts": 1}' where pool_id = ${pool.poolId}`;
  const received = await warmUp(node, pool);
  await until(async () => (await countIn(pool, "leased")) === received.length);
  assert.equal(received.length, warmUpItems + 1);
  const others = (await itemsOf(pool)).filter(({ state }) => state === "ready");
  assert.ok(others.every(({ attempt }) => attempt === 0));
  assert.equal((await lease(node, pool)).length, 1);
});

test("requests that are rare take no extra item, however many items they receive", async (t) => {
  const node = await startNode(t);
  const pool = await poolWith(150);
  let received = 0;
  for (const max of [1, 1, 1, 50, 50, 1, 1]) {
    received += (await lease(node, pool, { max })).length;
    node.clock.ms += 1000;
    assert.equal(await countIn(pool, "leased"), received);
  }
  assert.equal(received, 105);
});

test("requests for many items take no extra item", async (t) => {
  const node = await startNode(t);
  const pool = await poolWith(900);
  const received = [];
  for (let n = 0; n < 25; n++) received.push(...(await lease(node, pool, { max: 33 })));
  assert.equal(received.length, 825);
  assert.equal(await countIn(pool, "leased"), 825);
});

test("items that no worker requests in time are given back as if they had not been leased", async (t) => {
  const node = await startNode(t);
  const pool = await poolWith(warmUpItems + 50);
  // Two items were tried before.
  await db.sql`
    update queue_items set attempt = 2 where id in (
      select id from queue_items where pool_id = ${pool.poolId} order by id desc limit 2)`;
  const received = await warmUp(node, pool);
  assert.ok((await countIn(pool, "leased")) > received.length);
  node.clock.ms += ageMaxMs + 1;
  await until(async () => (await countIn(pool, "leased")) === received.length);
  await node.leaseService.idle();
  const ready = (await itemsOf(pool)).filter(({ state }) => state === "ready");
  assert.deepEqual(ready.map(({ attempt, leaseToken, leaseUntil }) => [attempt, leaseToken, leaseUntil]).toSorted(), [
    ...Array(ready.length - 2).fill([0, "", null]),
    ...Array(2).fill([2, "", null]),
  ]);
  assert.ok(ready.every(({ attempt, leasedAt }) => attempt === 2 || leasedAt === null));
  await assertCounts(pool, received.length);
  // A new lease counts as the same attempt.
  node.clock.ms += 10_000;
  const [again] = await lease(node, pool, { max: 1 });
  assert.equal(again!.attempt, 1);
});

test("an item that was cancelled in the buffer is not made ready", async (t) => {
  const node = await startNode(t);
  const pool = await poolWith(warmUpItems + 50);
  const received = await warmUp(node, pool);
  const buffered = await bufferedItem(pool, received);
  await fixture.end(pool, { id: buffered, refs: [] });
  node.clock.ms += ageMaxMs + 1;
  await until(async () => (await countIn(pool, "leased")) === received.length);
  const [ended] = await db.sql`select state from all_items where id = ${buffered}`;
  assert.deepEqual(ended, { state: "cancelled" });
  await node.leaseService.idle();
  const [{ depth } = { depth: 0 }] = await db.sql<{ depth: number }[]>`
    select sum(depth)::int as depth from queue_depths where pool_id = ${pool.poolId}`;
  assert.equal(depth, await countIn(pool, "ready"));
});

test("an item that becomes too old during a call is either handed out or given back, never both", async (t) => {
  const stepMs = 0.01;
  // The items become too old at another look at the clock each time.
  for (let looks = 2; looks <= 40; looks += 3) {
    const node = await startNode(t);
    const pool = await poolWith(warmUpItems + 50);
    const received = await warmUp(node, pool);
    const buffered = (await countIn(pool, "leased")) - received.length;
    assert.ok(buffered > 1, `${buffered} items are buffered`);
    let ms = ageMaxMs - looks * stepMs;
    Object.defineProperty(node.clock, "ms", { get: () => (ms += stepMs) });
    const rows = await lease(node, pool, { max: buffered + 20 });
    node.leaseService.endWaits();
    await node.leaseService.idle();
    const leased = (await itemsOf(pool))
      .filter(({ state }) => state === "leased")
      .map(({ leaseToken, id }) => id + leaseToken);
    const handedOut = [...received, ...rows].map(({ leaseToken, id }) => id + leaseToken);
    assert.deepEqual(leased.sort(), handedOut.sort());
  }
});

test("an item that changes while it is given back is counted only if it was given back", async (t) => {
  const node = await startNode(t);
  const pool = await poolWith(warmUpItems + 50);
  const received = await warmUp(node, pool);
  const buffered = await bufferedItem(pool, received);
  await db.transaction(async (tx) => {
    await tx`update queue_items set reported = true where id = ${buffered}`;
    node.clock.ms += ageMaxMs + 1;
    await until(async () => {
      const [row] = await tx`select count(*)::int as n from pg_locks where not granted`;
      return row!.n > 0;
    });
  });
  await node.leaseService.idle();
  const [{ depth } = { depth: 0 }] = await db.sql<{ depth: number }[]>`
    select sum(depth)::int as depth from queue_depths where pool_id = ${pool.poolId}`;
  assert.equal(depth, await countIn(pool, "ready"));
});

async function pause({ tenantId, poolId }: StagedPool): Promise<void> {
  await db.sql`
    insert into queue_states (tenant_id, pool_id, paused) values (${tenantId}, ${poolId}, true)`;
}

test("without any signal, a pause stops hand-outs when the buffered items are too old", async (t) => {
  const node = await startNode(t);
  const pool = await poolWith(warmUpItems + 50);
  const received = await warmUp(node, pool);
  await pause(pool);
  node.clock.ms += ageMaxMs;
  assert.equal((await lease(node, pool)).length, 1);
  node.clock.ms += 1;
  assert.deepEqual(await lease(node, pool), []);
  await until(async () => (await countIn(pool, "leased")) === received.length + 1);
  await node.leaseService.idle();
  await assertCounts(pool, received.length + 1);
});

test("a recall empties the buffers of all nodes at once, and nothing is leased ahead for a while", async (t) => {
  const nodes = [await startNode(t, { listens: true }), await startNode(t, { listens: true })] as const;
  const pool = await poolWith(2 * warmUpItems + 100);
  const received = [...(await warmUp(nodes[0], pool)), ...(await warmUp(nodes[1], pool))].length;
  assert.ok((await countIn(pool, "leased")) > received);
  await nodes[0].leaseService.recall(pool.tenantId, pool.poolId);
  await until(async () => (await countIn(pool, "leased")) === received);
  for (const node of nodes) await lease(node, pool);
  await Promise.all(nodes.map(({ leaseService }) => leaseService.idle()));
  assert.equal(await countIn(pool, "leased"), received + 2);
  await assertCounts(pool, received + 2);
});

test("a change of the tenant empties the buffers of its pools only", async (t) => {
  const node = await startNode(t);
  const [pool, other] = [await poolWith(warmUpItems + 50), await poolWith(warmUpItems + 50)];
  const received = (await warmUp(node, pool)).length;
  await warmUp(node, other);
  const before = await countIn(other, "leased");
  node.announceChange(pool.tenantId);
  await node.leaseService.idle();
  assert.deepEqual([await countIn(pool, "leased"), await countIn(other, "leased")], [received, before]);
});

test("an item of a recipient that receives no work any more is not handed out", async (t) => {
  const node = await startNode(t);
  const pool = await poolWith(warmUpItems + 50, "r1");
  await warmUp(node, pool, { recipientIds: ["r1", "r2"] });
  assert.deepEqual(await lease(node, pool, { recipientIds: ["r2"] }), []);
  assert.equal((await lease(node, pool, { recipientIds: ["r1", "r2"] })).length, 1);
});

test("a stopping node gives everything back and leases nothing ahead", async (t) => {
  const node = await startNode(t);
  const pool = await poolWith(warmUpItems + 50);
  const received = (await warmUp(node, pool)).length;
  node.leaseService.endWaits();
  await node.leaseService.idle();
  assert.equal(await countIn(pool, "leased"), received);
  await lease(node, pool);
  assert.equal(await countIn(pool, "leased"), received + 1);
  await assertCounts(pool, received + 1);
});

/** Runs an operator's call on a node, in one transaction. */
async function operate<T>(
  { leaseService }: TestNode,
  { tenantId, poolId }: StagedPool,
  work: (service: QueueService, context: Context) => Promise<T>,
): Promise<T> {
  const active = { status: "active", delivery: { mode: "pull" } };
  const pool = async () => ({ pool: { config: { itemEvents: false } }, recipients: [{ id: "r1", ...active }] });
  const service = createQueueService({
    pools: { requirePool: pool, requireKnownPool: pool } as never,
    waits: {} as never,
    onEnded: () => {},
    events: recordedEvents() as never,
    onOffered: () => {},
    onOfferEnded: () => {},
    wake: () => {},
    wakeReady: () => {},
    recall: leaseService.recall,
  });
  // Leases are recent by the database's clock too, however long the test takes.
  await db.sql`update queue_items set leased_at = now() + interval '1 minute' where pool_id = ${poolId} and state = 'leased'`;
  return db.transaction((sql) => work(service, { ...contextFor(db, { tenantId }), sql }));
}

/** The first item that a node has leased and no worker has received. */
async function bufferedItem(pool: StagedPool, received: readonly { readonly id: string }[]): Promise<string> {
  const known = new Set(received.map(({ id }) => id));
  return (await itemsOf(pool)).find(({ id, state }) => state === "leased" && !known.has(id))!.id;
}

// The nodes' clocks stand still in these tests, so no item is given back because of its age.
test("a drain removes the items that this node and other nodes have leased ahead", async (t) => {
  const nodes = [await startNode(t, { listens: true }), await startNode(t, { listens: true })] as const;
  const pool = await poolWith(2 * warmUpItems + 60);
  const received = [...(await warmUp(nodes[0], pool)), ...(await warmUp(nodes[1], pool))];
  // On a busy machine, the other node may give its items back after the first drain has looked.
  let drained = 0;
  await until(async () => {
    const drain = await operate(nodes[0], pool, (service, context) =>
      service.drainQueue(context, pool.poolId, 100_000, ""),
    );
    drained += drain.drained;
    return drain.remaining === 0;
  });
  assert.equal(drained, 2 * warmUpItems + 60 - received.length);
  assert.equal(await countIn(pool, "leased"), received.length);
});

test("an item that was leased ahead can be assigned, and then is only handed out to its recipient", async (t) => {
  const node = await startNode(t);
  const pool = await poolWith(warmUpItems + 50);
  const id = await bufferedItem(pool, await warmUp(node, pool));
  const item = await operate(node, pool, (service, context) => service.assignItem(context, pool.poolId, id, "r1"));
  assert.deepEqual([item.state, item.recipientId, item.attempt], ["ready", "r1", 0]);
  const others = await lease(node, pool, { max: 100 });
  assert.ok(others.length > 0 && !others.some((each) => each.id === id));
  assert.deepEqual(
    (await lease(node, pool, { recipientId: "r1" })).map((each) => each.id),
    [id],
  );
});

test("an item that was leased ahead and is cancelled is not handed out", async (t) => {
  const node = await startNode(t);
  const pool = await poolWith(warmUpItems + 50);
  const id = await bufferedItem(pool, await warmUp(node, pool));
  const item = await operate(node, pool, (service, context) => service.cancelItem(context, pool.poolId, id, ""));
  assert.equal(item.state, "cancelled");
  const others = await lease(node, pool, { max: 100 });
  assert.ok(others.length > 0 && !others.some((each) => each.id === id));
});

/** Blocks lease statements of a pool after they have chosen their items; the result lets them continue. */
async function holdLeases({ tenantId, poolId }: StagedPool): Promise<() => Promise<void>> {
  const held = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  const holding = db.transaction(async (tx) => {
    // A statement writes one of these rows last.
    await tx`
      insert into queue_depths (tenant_id, pool_id, shard, depth)
      select ${tenantId}, ${poolId}, shard, 0 from generate_series(0, ${shardCount - 1}::int) shard
      on conflict (tenant_id, pool_id, shard) do update set depth = queue_depths.depth`;
    held.resolve();
    await released.promise;
  });
  await held.promise;
  return async () => {
    released.resolve();
    await holding;
  };
}

test("a statement that is overtaken by a pause hands nothing out", async (t) => {
  const node = await startNode(t);
  const pool = await poolWith(3);
  const release = await holdLeases(pool);
  const leasing = lease(node, pool, { max: 2 });
  await untilBlocked(db.sql);
  await pause(pool);
  node.clock.ms += ageMaxMs + 1;
  await release();
  assert.deepEqual(await leasing, []);
  await node.leaseService.idle();
  assert.deepEqual(
    (await itemsOf(pool)).map(({ state, attempt }) => [state, attempt]),
    Array(3).fill(["ready", 0]),
  );
});

test("a slow statement of a running queue hands its items out", async (t) => {
  const node = await startNode(t);
  const pool = await poolWith(3);
  const release = await holdLeases(pool);
  const leasing = lease(node, pool, { max: 2 });
  await untilBlocked(db.sql);
  node.clock.ms += ageMaxMs + 1;
  await release();
  assert.equal((await leasing).length, 2);
});

test("the items of a worker that disconnects during the statement go to others", async (t) => {
  const node = await startNode(t);
  const pool = await poolWith(2);
  const gone = new AbortController();
  const release = await holdLeases(pool);
  const leasing = lease(node, pool, { signal: gone.signal });
  await untilBlocked(db.sql);
  gone.abort();
  await release();
  assert.deepEqual(await leasing, []);
  await node.leaseService.idle();
  const [first] = await lease(node, pool);
  assert.equal(first!.attempt, 1);
  await assertCounts(pool, 1);
});

test("pools whose items have one attempt, or whose singletons replace items, are not leased ahead", () => {
  const retry = { maxAttempts: 5 } as never;
  assert.equal(canLeaseAhead({ retry, admission: {} }), true);
  assert.equal(canLeaseAhead({ retry: { maxAttempts: 1 } as never, admission: {} }), false);
  for (const mode of ["skip", "replace_pending", "cancel_running"] as const) {
    const singleton = { key: "item.key", mode, ttlS: 60 };
    assert.equal(canLeaseAhead({ retry, admission: { singleton } }), mode === "skip");
  }
});
