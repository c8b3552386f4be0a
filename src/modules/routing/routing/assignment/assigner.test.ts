import assert from "node:assert/strict";
import { test } from "node:test";
import { afterFile } from "../../../../../test/harness/after-file.ts";
import { announcedChanges } from "../../../../../test/harness/changes.ts";
import { freshTenant, recordedEvents, testDatabase } from "../../../../../test/harness/context.ts";
import { until } from "../../../../../test/harness/until.ts";
import type { TenantId } from "../../../../platform/access/index.ts";
import type { Database, Signals, Sql } from "../../../../platform/db/index.ts";
import { createEventLoopScheduler } from "../../../../platform/event-loop/index.ts";
import { ulid } from "../../../../platform/ids/ulid.ts";
import type { PoolSnapshot } from "../../pools/index.ts";
import { capacityReasons } from "../domain/assignment-retry.ts";
import { poolOf } from "../domain/testing/fixtures.ts";
import { createLivePools, type LivePools } from "../outcomes/live-pools.ts";
import { type Assigner, createAssigner } from "./assigner.ts";
import { snapshotName } from "./assignment-page.ts";

const db = await testDatabase();
const clock = { now: Date.now };
const log = { warn: ({ err }: { err: unknown }) => assert.fail(err as Error) } as never;

interface TestNode {
  readonly assigner: Assigner;
  readonly live: LivePools;
  /** The pools that were searched. */
  readonly searches: readonly string[];
  /** Notifies the nodes that signals may have been lost. */
  loseSignals(): void;
}

/** Nodes that share one database and receive each other's signals. Each reads its clock once per decision. */
function nodes(pools: ReadonlyMap<string, PoolSnapshot>, { now } = clock) {
  const listeners: { prefix: string; listener: (rest: string) => void; onLost: () => void }[] = [];
  const signals = {
    wake(topic: string) {
      for (const { prefix, listener } of [...listeners])
        if (topic.startsWith(prefix)) listener(topic.slice(prefix.length));
    },
    onWakeUnder(prefix: string, listener: (rest: string) => void, onLost: () => void) {
      const entry = { prefix, listener, onLost };
      listeners.push(entry);
      return () => void listeners.splice(listeners.indexOf(entry), 1);
    },
    onDue:
      (..._: unknown[]) =>
      () => {},
  } as Signals;
  const stops: (() => Promise<void>)[] = [];
  afterFile(async () => {
    for (const stop of stops) await stop();
  });
  const loseSignals = () => {
    for (const { onLost } of listeners) onLost();
  };
  return (afterSearch = async () => {}): TestNode => {
    const searches: string[] = [];
    const counted: Database = { ...db, sql: countingSearches(searches) };
    const events = recordedEvents() as never;
    const live = createLivePools({ db, clock, log, events });
    const assigner = createAssigner({
      db: counted,
      signals,
      changes: announcedChanges().changes,
      clock: { now },
      log,
      shares: createEventLoopScheduler(),
      pools: { snapshot: async (_tenantId: TenantId, poolId: string) => pools.get(poolId) } as never,
      live: {
        ...live,
        view: async (snapshot) => {
          await afterSearch();
          return live.view(snapshot);
        },
      },
      events,
      unassignedItems: {} as never,
      wake: () => {},
      onOffered: () => {},
      pollMs: 3_600_000,
    });
    stops.push(assigner.stop, live.stop);
    return { assigner, live, searches, loseSignals };
  };
}

/** A connection that records which pools are searched for items without a recipient. */
function countingSearches(searches: string[]): Sql {
  return new Proxy(db.sql, {
    apply(sql, self, args) {
      const [strings, ...values] = args as [readonly string[], ...unknown[]];
      // The part of the search that names the pool.
      if (strings.length === 3 && strings[1]?.includes("and q.pool_id = ")) searches.push(String(values[1]));
      return Reflect.apply(sql as never, self, args);
    },
  });
}

interface Fixture {
  readonly tenantId: TenantId;
  readonly poolId: string;
  /** A pool without waiting items. */
  readonly otherId: string;
  readonly pools: ReadonlyMap<string, PoolSnapshot>;
}

/** A tenant with two pools, each with one recipient of the given capacity that has the id of its pool. */
function newFixture(capacity = 1, others: readonly { id: string; capacity: number }[] = []): Fixture {
  const tenantId = freshTenant();
  const [poolId, otherId] = [ulid(Date.now()), ulid(Date.now())];
  const pools = new Map(
    [poolId, otherId].map((id) => {
      const { snapshot } = poolOf({ strategy: "round_robin", recipients: [{ id, capacity }, ...others] });
      return [id, { ...snapshot, pool: { ...snapshot.pool, tenantId, id } } as PoolSnapshot];
    }),
  );
  return { tenantId, poolId, otherId, pools };
}

/** Queues items without a recipient; returns their ids in order. */
async function enqueue({ tenantId, poolId }: Fixture, count: number, assign: object = {}): Promise<string[]> {
  const rows = Array.from({ length: count }, (_, rank) => ({ id: ulid(Date.now()), rank, ...assign }));
  await db.sql`
    with input as (
      select * from jsonb_to_recordset(${db.sql.json(rows as never)})
        as input(id text, rank int, delivery text, tries int, reason text, snapshot text, after timestamptz)
    )
    insert into queue_items (tenant_id, id, pool_id, state, delivery, priority, rank, expires_at, assign_tries,
      assign_reason, assign_snapshot, assign_after, type, key, attributes, requirements, payload, decided_priority,
      outcome, decided_for, snapshot_digest, seed, evidence)
    select ${tenantId}, id, ${poolId}, 'ready', coalesce(delivery, 'pull'), 0, rank, now() + interval '1 hour', tries,
      reason, snapshot, after, 't', '', '{}', '{"skills":{},"recipientId":"","excludedRecipientIds":[]}', '{}', 0,
      'queued', '', '', 0, '{}'
    from input`;
  return rows.map(({ id }) => id);
}

/** The state of an item that only a scan for a free place reads. */
function notDue({ poolId, pools }: Fixture) {
  const snapshot = snapshotName(pools.get(poolId)!);
  return { tries: 1, reason: "all_at_capacity", snapshot, after: new Date(Date.now() + 3_600_000) };
}

/** Writes a fixture's pools and recipients to the database, where a scan of all pools finds them. */
async function inDatabase({ tenantId, pools }: Fixture): Promise<void> {
  const environmentId = ulid(Date.now());
  await db.sql`
    insert into environments (tenant_id, id, key, name, mode, status, created_at, updated_at)
    values (${tenantId}, ${environmentId}, 'e', 'e', 'live', 'active', now(), now())`;
  for (const id of pools.keys()) {
    await db.sql`
      insert into pools (tenant_id, id, environment_id, name, strategy, status, config, created_at, updated_at)
      values (${tenantId}, ${id}, ${environmentId}, ${id}, 'round_robin', 'active', '{}', now(), now())`;
    await db.sql`
      insert into recipients (tenant_id, id, pool_id, name, status, weight, capacity, priority, delivery, available_since,
        created_at, updated_at)
      values (${tenantId}, ${id}, ${id}, 'r', 'active', 1, 1, 0, '{}', now(), now(), now())`;
  }
}

const recipientOf = async ({ tenantId }: Fixture, id: string): Promise<string> =>
  (await db.sql`select recipient_id from queue_items where tenant_id = ${tenantId} and id = ${id}`)[0]!.recipientId;

/** Counts the items that were assigned in a transaction before that of another one. */
async function countAssignedBefore({ tenantId }: Fixture, id: string, others: readonly string[]): Promise<number> {
  const { length } = await db.sql`
    select from queue_items one join queue_items other using (tenant_id)
    where tenant_id = ${tenantId} and one.id = ${id} and other.id = any(${others as string[]}::text[])
      and other.recipient_id <> '' and other.xmin::text::bigint < one.xmin::text::bigint`;
  return length;
}

/** Waits until a node has processed its signals: a tenant's pools are searched one after the other. */
async function served({ assigner, searches }: TestNode, fixture: Fixture): Promise<void> {
  const before = searches.length;
  assigner.announceReadyItem(fixture.tenantId, fixture.otherId);
  await until(async () => searches.slice(before).includes(fixture.otherId));
}

const searchesOf = (searches: readonly string[], poolId: string) => searches.filter((each) => each === poolId).length;

test("a freed place triggers no search while the node knows that no item waits in the pool", async () => {
  const fixture = newFixture();
  const node = nodes(fixture.pools)();
  node.assigner.start();
  await node.live.view(fixture.pools.get(fixture.poolId)!);
  for (let nth = 0; nth < 5; nth++) {
    node.live.recordRelease(fixture.tenantId, fixture.poolId as never, fixture.poolId);
    await served(node, fixture);
  }
  assert.equal(searchesOf(node.searches, fixture.poolId), 1);
});

test("a paused queue with reservations is not searched without end, and makes its offers after the resumption", async () => {
  const fixture = newFixture();
  for (const { pool } of fixture.pools.values()) {
    Object.assign(pool.config, { reservation: { timeoutS: 3600, reofferAfterS: 60 } });
  }
  const { tenantId, poolId } = fixture;
  await db.sql`insert into queue_states (tenant_id, pool_id, paused) values (${tenantId}, ${poolId}, true)`;
  const node = nodes(fixture.pools)();
  node.assigner.start();
  const [id] = await enqueue(fixture, 1);
  node.assigner.announceReadyItem(tenantId, poolId);
  // Each round would search once more for a place that the previous one gave back.
  for (let nth = 0; nth < 10; nth++) await served(node, fixture);
  assert.ok(searchesOf(node.searches, poolId) <= 1, `${searchesOf(node.searches, poolId)} searches`);
  assert.equal(await recipientOf(fixture, id!), "");
  await db.sql`update queue_states set paused = false where tenant_id = ${tenantId}`;
  node.assigner.announceReadyItem(tenantId, poolId);
  await until(() => recipientOf(fixture, id!));
});

for (const when of ["before the item comes, and was searched for in vain", "after the item has come"]) {
  test(`an item that another node leaves waiting gets the place that was freed ${when}`, async () => {
    const fixture = newFixture();
    const start = nodes(fixture.pools);
    const [node, other] = [start(), start()];
    node.assigner.start();
    await node.live.view(fixture.pools.get(fixture.poolId)!);
    const free = async () => {
      node.live.recordRelease(fixture.tenantId, fixture.poolId, fixture.poolId);
      await served(node, fixture);
    };
    const isBefore = when.startsWith("before");
    if (isBefore) await free();
    else node.assigner.announceReadyItem(fixture.tenantId, fixture.poolId);
    await served(node, fixture);
    const [id] = await enqueue(fixture, 1);
    if (!isBefore) await free();
    assert.equal(await recipientOf(fixture, id!), "");
    other.assigner.announceWaitingItem(fixture.tenantId, fixture.poolId);
    await until(() => recipientOf(fixture, id!));
  });
}

test("after lost signals, an item gets a free place in a pool that the node considers idle", async () => {
  const fixture = newFixture();
  await inDatabase(fixture);
  const node = nodes(fixture.pools)();
  node.assigner.start();
  await node.live.view(fixture.pools.get(fixture.poolId)!);
  node.assigner.announceReadyItem(fixture.tenantId, fixture.poolId);
  await served(node, fixture);
  const [id] = await enqueue(fixture, 1, notDue(fixture));
  node.assigner.announceReadyItem(fixture.tenantId, fixture.poolId);
  await served(node, fixture);
  assert.equal(await recipientOf(fixture, id!), "");
  node.loseSignals();
  await until(() => recipientOf(fixture, id!));
});

test("an item that becomes ready in an idle pool triggers a search, and so do items that wait after it", async () => {
  const fixture = newFixture();
  const node = nodes(fixture.pools)();
  node.assigner.start();
  await node.live.view(fixture.pools.get(fixture.poolId)!);
  const free = () => node.live.recordRelease(fixture.tenantId, fixture.poolId, fixture.poolId);
  free();
  await served(node, fixture);
  const [first, second] = await enqueue(fixture, 2);
  node.assigner.announceReadyItem(fixture.tenantId, fixture.poolId);
  await until(() => recipientOf(fixture, first!));
  await served(node, fixture);
  assert.equal(await recipientOf(fixture, second!), "");
  await db.sql`delete from queue_items where tenant_id = ${fixture.tenantId} and id = ${first!}`;
  free();
  await until(() => recipientOf(fixture, second!));
});

test("scans for freed places do not keep routine scans from items far behind", async () => {
  const fixture = newFixture();
  // More items than a scan for a freed place reads, and none of them due.
  const waits = { tries: 1, reason: "requirements_unmet", snapshot: "", after: new Date(Date.now() + 3_600_000) };
  const ids = await enqueue(fixture, 1300, waits);
  const last = ids.at(-1)!;
  await db.sql`update queue_items set assign_after = null where tenant_id = ${fixture.tenantId} and id = ${last}`;
  const node = nodes(fixture.pools)();
  node.assigner.start();
  await node.live.view(fixture.pools.get(fixture.poolId)!);
  for (let nth = 0; nth < 7; nth++) {
    node.assigner.announceReadyItem(fixture.tenantId, fixture.poolId);
    await served(node, fixture);
    node.live.recordRelease(fixture.tenantId, fixture.poolId, fixture.poolId);
    await served(node, fixture);
  }
  assert.notEqual(await recipientOf(fixture, last), "");
});

/** Restricts items to one recipient; to one that does not exist unless it is given. */
async function wantOnly({ tenantId }: Fixture, ids: readonly string[], recipientId = "somebody else"): Promise<void> {
  const requirements = { skills: {}, recipientId, excludedRecipientIds: [] };
  await db.sql`
    update queue_items set requirements = ${db.sql.json(requirements as never)}
    where tenant_id = ${tenantId} and id = any(${ids as string[]}::text[])`;
}

/** A fixture whose pools have another recipient that is at capacity. */
async function newStageWithBusy(): Promise<Fixture & { readonly busyId: string }> {
  const busyId = ulid(Date.now());
  const fixture = newFixture(1, [{ id: busyId, capacity: 1 }]);
  const [id] = await enqueue(fixture, 1);
  await db.sql`
    update queue_items set state = 'leased', recipient_id = ${busyId}, lease_until = now() + interval '1 hour'
    where tenant_id = ${fixture.tenantId} and id = ${id!}`;
  return { ...fixture, busyId };
}

test("an item announced by another node gets a place that no other waiting item can use", async () => {
  const fixture = newFixture();
  const start = nodes(fixture.pools);
  const [node, other] = [start(), start()];
  node.assigner.start();
  await node.live.view(fixture.pools.get(fixture.poolId)!);
  const hopeless = await enqueue(fixture, 3);
  await wantOnly(fixture, hopeless);
  node.assigner.announceReadyItem(fixture.tenantId, fixture.poolId);
  await served(node, fixture);
  node.live.recordRelease(fixture.tenantId, fixture.poolId, fixture.poolId);
  await served(node, fixture);
  const [id] = await enqueue(fixture, 1, notDue(fixture));
  other.assigner.announceWaitingItem(fixture.tenantId, fixture.poolId);
  await until(() => recipientOf(fixture, id!));
});

test("an item announced during a scan that finds only items without a possible recipient gets the place", async () => {
  const fixture = newFixture();
  const start = nodes(fixture.pools);
  const other = start();
  let late: Promise<string[]> | undefined;
  const node = start(async () => {
    if (late !== undefined) return;
    late = enqueue(fixture, 1, notDue(fixture));
    await late;
    other.assigner.announceWaitingItem(fixture.tenantId, fixture.poolId);
  });
  node.assigner.start();
  await node.live.view(fixture.pools.get(fixture.poolId)!);
  await wantOnly(fixture, await enqueue(fixture, 1));
  node.live.recordRelease(fixture.tenantId, fixture.poolId, fixture.poolId);
  await until(async () => late);
  const [id] = await late!;
  await until(() => recipientOf(fixture, id!));
});

test("a place that no waiting item can use triggers a bounded number of scans", async () => {
  const fixture = await newStageWithBusy();
  const start = nodes(fixture.pools);
  const [node, other] = [start(), start()];
  for (const each of [node, other]) {
    each.assigner.start();
    await each.live.view(fixture.pools.get(fixture.poolId)!);
  }
  const ids = await enqueue(fixture, 5);
  await wantOnly(fixture, ids, fixture.busyId);
  for (const each of [node, other]) each.live.recordRelease(fixture.tenantId, fixture.poolId, fixture.poolId);
  for (let nth = 0; nth < 10; nth++) for (const each of [node, other]) await served(each, fixture);
  for (const { searches } of [node, other]) {
    const count = searchesOf(searches, fixture.poolId);
    assert.ok(count > 0 && count <= 4, `${count} searches`);
  }
  const reasons = await db.sql`
    select distinct assign_reason from queue_items where tenant_id = ${fixture.tenantId} and id = any(${ids}::text[])`;
  assert.ok(reasons.length === 1 && capacityReasons.includes(reasons[0]!.assignReason), JSON.stringify(reasons));
});

/** A clock by which a time slice ends after two or three decisions. */
const slowClock = {
  now() {
    const untilMs = performance.now() + 110;
    while (performance.now() < untilMs);
    return Date.now();
  },
};

test("undecided items do not starve decided ones, however many and costly they are", async () => {
  const fixture = newFixture(0);
  const undecided = await enqueue(fixture, 12, { delivery: "undecided" });
  const [decided] = await enqueue(fixture, 1);
  const node = nodes(fixture.pools, slowClock)();
  node.assigner.start();
  node.assigner.announceReadyItem(fixture.tenantId, fixture.poolId);
  await until(() => recipientOf(fixture, decided!));
  const earlier = await countAssignedBefore(fixture, decided!, undecided);
  assert.ok(earlier < 8, `${earlier} undecided ones went first`);
  await until(() => recipientOf(fixture, undecided.at(-1)!));
});

test("a scan whose time slice is used up by undecided items continues behind those that are not due", async () => {
  const fixture = newFixture(0);
  const waits = { tries: 1, reason: "requirements_unmet", snapshot: "", after: new Date(Date.now() + 3_600_000) };
  const last = (await enqueue(fixture, 250, waits)).at(-1)!;
  await db.sql`update queue_items set assign_after = null where tenant_id = ${fixture.tenantId} and id = ${last}`;
  const undecided = await enqueue(fixture, 12, { delivery: "undecided" });
  const node = nodes(fixture.pools, slowClock)();
  node.assigner.start();
  node.assigner.announceReadyItem(fixture.tenantId, fixture.poolId);
  await until(() => recipientOf(fixture, last));
  const earlier = await countAssignedBefore(fixture, last, undecided);
  assert.ok(earlier < 10, `${earlier} undecided ones went first`);
});

test("a scan for a place whose time slice ends continues behind the tried items, and so does the scan for the next place", async () => {
  const fixture = await newStageWithBusy();
  const waits = notDue(fixture);
  await wantOnly(fixture, await enqueue(fixture, 8, waits), fixture.busyId);
  const [first, second] = await enqueue(fixture, 2, waits);
  // Behind the other items.
  await db.sql`
    update queue_items set rank = rank + 100 where tenant_id = ${fixture.tenantId} and id = any(${[first!, second!]}::text[])`;
  const node = nodes(fixture.pools, slowClock)();
  node.assigner.start();
  await node.live.view(fixture.pools.get(fixture.poolId)!);
  const free = () => node.live.recordRelease(fixture.tenantId, fixture.poolId, fixture.poolId);
  free();
  await until(async () => searchesOf(node.searches, fixture.poolId) > 1);
  // While the first scan is interrupted.
  free();
  await until(() => recipientOf(fixture, first!));
  await db.sql`delete from queue_items where tenant_id = ${fixture.tenantId} and id = ${first!}`;
  free();
  await until(() => recipientOf(fixture, second!));
});
