import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { testDatabase } from "../../../test/harness/context.ts";
import { fc } from "../../../test/harness/random.ts";
import { sized } from "../../../test/harness/run-size.ts";
import { until } from "../../../test/harness/until.ts";
import { systemClock } from "../clock/clock.ts";
import { createSignals, type Database } from "../db/index.ts";
import { createLog } from "../log/log.ts";
import { createShards, type Shards } from "./index.ts";
import { fairShare } from "./shares.ts";

const db = await testDatabase();
const log = createLog("silent");

/** Longer than any test. */
const longMs = 3_600_000;

// Records every owner of every shard.
await db.sql`create table shard_owners (kind text, shard integer, epoch bigint, node_id text)`;
await db.sql`
  create function record_owner() returns trigger language plpgsql as $$
  begin
    insert into shard_owners values (new.kind, new.shard, new.epoch, new.node_id);
    return null;
  end $$`;
await db.sql`
  create trigger record_owner after update on shards for each row when (new.node_id <> '') execute function record_owner()`;

/** A node whose statements and clock the test controls. */
interface TestNode {
  readonly shards: Shards;
  /** Added to its system clock. */
  aheadMs: number;
  isFenced: boolean;
  /** Suspends all its further statements. */
  freeze(): void;
  /** Ends it without giving anything back. */
  kill(): Promise<void>;
}

let kinds = 0;

/** A kind of work that no other test uses, with functions to start nodes. */
async function cluster(t: TestContext, { count = 16, leaseMs = longMs } = {}) {
  const kind = `test.${++kinds}`;
  const signals = createSignals(db);
  await signals.start();
  t.after(() => signals.stop());
  const alive = new Set<TestNode>();
  const start = (): TestNode => {
    let blocked = false;
    const resumed = Promise.withResolvers<never>();
    resumed.promise.catch(() => {});
    const guarded: Database = {
      ...db,
      // A statement of a frozen node fails only when the test ends the node.
      sql: new Proxy(db.sql, {
        apply: (sql, _this, values) => (blocked ? resumed.promise : Reflect.apply(sql, undefined, values)),
      }),
      transaction: (work) => (blocked ? resumed.promise : db.transaction(work)),
    };
    const node: TestNode = {
      shards: createShards({
        db: guarded,
        clock: { ...systemClock, isFenced: () => node.isFenced },
        system: { now: () => systemClock.now() + node.aheadMs },
        log,
        signals,
        kind,
        count,
        leaseMs,
      }),
      aheadMs: 0,
      isFenced: false,
      freeze: () => {
        blocked = true;
      },
      kill: async () => {
        blocked = true;
        alive.delete(node);
        resumed.reject(new Error("killed"));
        await node.shards.stop();
      },
    };
    alive.add(node);
    node.shards.start();
    t.after(() => node.kill());
    return node;
  };
  return {
    kind,
    start,
    alive,
    stop: async (node: TestNode) => {
      alive.delete(node);
      await node.shards.stop();
    },
    /** Waits until the live nodes own all shards in equal shares. */
    balanced: () =>
      until(() => {
        const sizes = [...alive].map(({ shards }) => shards.owned().size);
        const owned = new Set([...alive].flatMap(({ shards }) => [...shards.owned().keys()]));
        const total = sizes.reduce((sum, size) => sum + size, 0);
        return total === count && owned.size === count && Math.max(...sizes) - Math.min(...sizes) <= 1;
      }),
    /** The shards that the database accepts from a node with these claims. */
    accepted: async (node: TestNode, claims: Iterable<readonly [number, number]>) =>
      (await db.sql<{ shard: number }[]>`${node.shards.currentSql(db.sql, claims)}`).map(({ shard }) => shard),
  };
}

/** No epoch of a shard was ever claimed twice. */
async function assertUniqueEpochs(kind: string): Promise<void> {
  const repeated = await db.sql`
    select shard, epoch from shard_owners where kind = ${kind} group by shard, epoch having count(*) > 1`;
  assert.deepEqual([...repeated], []);
}

/** All shards in order. */
const all = (count: number) => Array.from({ length: count }, (_, shard) => shard);

test("shares differ by at most one shard and add up to all shards", () => {
  fc.assert(
    fc.property(fc.nat(300), fc.uniqueArray(fc.uuid(), { minLength: 1, maxLength: 9 }), (count, nodeIds) => {
      const shares = nodeIds.map((nodeId) => fairShare(count, nodeIds, nodeId));
      assert.equal(
        shares.reduce((sum, share) => sum + share, 0),
        count,
      );
      assert.ok(Math.max(...shares) - Math.min(...shares) <= 1);
    }),
  );
});

test("one node owns all shards, and the database accepts their epochs and no others", async (t) => {
  const { start, balanced, accepted } = await cluster(t);
  const node = start();
  await balanced();
  const owned = node.shards.owned();
  assert.deepEqual(await accepted(node, owned), all(16));
  const wrong = [...owned].map(([shard, epoch]) => [shard, shard < 3 ? epoch : epoch + 1] as const);
  assert.deepEqual(await accepted(node, wrong), [0, 1, 2]);
  assert.deepEqual(await accepted(node, []), []);
});

test("two and then three nodes divide the shards evenly, and no shard is lost", async (t) => {
  const { kind, start, balanced, accepted } = await cluster(t, { count: 256 });
  const nodes = [start(), start()];
  await balanced();
  assert.deepEqual(
    nodes.map(({ shards }) => shards.owned().size),
    [128, 128],
  );
  nodes.push(start());
  await balanced();
  assert.deepEqual(nodes.map(({ shards }) => shards.owned().size).sort(), [85, 85, 86]);
  const current = await Promise.all(nodes.map((node) => accepted(node, node.shards.owned())));
  assert.deepEqual(
    current.flat().sort((a, b) => a - b),
    all(256),
  );
  await assertUniqueEpochs(kind);
});

test("the shards of a stopped node move at once", async (t) => {
  // Nobody waits for the lease here: it outlasts the test.
  const { start, stop, balanced, accepted } = await cluster(t);
  const [first, second] = [start(), start()];
  await balanced();
  const left = first.shards.owned();
  const stopping = stop(first);
  assert.equal(first.shards.owned().size, 0);
  await stopping;
  assert.deepEqual(await accepted(first, left), []);
  await balanced();
  for (const [shard, epoch] of left) assert.equal(second.shards.owned().get(shard), epoch + 1);
});

test("the shards of a killed node move when its lease has expired, and not before", async (t) => {
  // Long enough to read the lease before it expires, even on a busy machine.
  const { kind, start, balanced } = await cluster(t, { leaseMs: 2000 });
  const [first, second] = [start(), start()];
  await balanced();
  const [shard] = first.shards.owned().keys();
  await first.kill();
  const [lease] = await db.sql<{ expiresAt: Date }[]>`
    select expires_at from shard_nodes join shards using (kind, node_id) where kind = ${kind} and shard = ${shard!}`;
  await until(() => second.shards.owned().size === 16);
  const [row] = await db.sql<{ expired: boolean }[]>`select now() > ${lease!.expiresAt} as expired`;
  assert.ok(row!.expired);
});

test("a node that is frozen for longer than its lease owns nothing, and its epochs are refused", async (t) => {
  const { kind, start, balanced, accepted } = await cluster(t, { leaseMs: 600 });
  const [frozen, other] = [start(), start()];
  await balanced();
  frozen.freeze();
  const claims = frozen.shards.owned();
  assert.equal(claims.size, 8);
  frozen.aheadMs = 600;
  assert.equal(frozen.shards.owned().size, 0);
  await until(() => other.shards.owned().size === 16);
  assert.deepEqual(await accepted(frozen, claims), []);
  assert.deepEqual(await accepted(other, other.shards.owned()), all(16));
  await assertUniqueEpochs(kind);
});

test("a node without the database gives up its shards in time, also when its clock is set back", async (t) => {
  const { start, balanced } = await cluster(t, { leaseMs: 600 });
  const [frozen, other] = [start(), start()];
  await balanced();
  frozen.freeze();
  frozen.aheadMs = -longMs;
  await until(() => other.shards.owned().size === 16);
  assert.equal(frozen.shards.owned().size, 0);
});

test("a fenced node owns nothing, the others get its shards before its lease has expired, and it joins again later", async (t) => {
  const { start, balanced, alive } = await cluster(t, { leaseMs: 9000 });
  const [fenced, other] = [start(), start()];
  await balanced();
  fenced.isFenced = true;
  assert.equal(fenced.shards.owned().size, 0);
  alive.delete(fenced);
  const fencedAtMs = performance.now();
  await balanced();
  assert.equal(other.shards.owned().size, 16);
  assert.ok(performance.now() - fencedAtMs < 9000);
  fenced.isFenced = false;
  alive.add(fenced);
  await balanced();
});

test("an expired epoch is refused even if no other node has claimed its shard, and its node joins again with new epochs", async (t) => {
  const { kind, start, balanced, accepted } = await cluster(t, { leaseMs: 300 });
  const node = start();
  await balanced();
  const before = new Map(node.shards.owned());
  await db.transaction(async (tx) => {
    // The lock keeps the node from renewing its lease.
    await tx`update shard_nodes set expires_at = now() - interval '1 second' where kind = ${kind}`;
    const current = await tx<{ shard: number }[]>`${node.shards.currentSql(tx, before)}`;
    assert.equal(current.length, 0);
  });
  await until(() => [...node.shards.owned()].some(([shard, epoch]) => epoch > before.get(shard)!));
  await balanced();
  for (const [shard, epoch] of node.shards.owned()) assert.ok(epoch > before.get(shard)!);
  assert.deepEqual(await accepted(node, before), []);
});

test("a shard cannot be claimed while a statement writes under its epoch", async (t) => {
  const { start, stop, balanced } = await cluster(t, { count: 4, leaseMs: 3000 });
  const first = start();
  await balanced();
  const claims = first.shards.owned();
  const second = await db.transaction(async (tx) => {
    const current = await tx<{ shard: number }[]>`${first.shards.currentSql(tx, [[2, claims.get(2)!]])}`;
    assert.deepEqual([...current], [{ shard: 2 }]);
    await stop(first);
    const node = start();
    await until(() => node.shards.owned().size === 3);
    assert.ok(!node.shards.owned().has(2));
    return node;
  });
  await until(() => second.shards.owned().get(2) === claims.get(2)! + 1);
});

test("listeners hear of claimed, lost and returned shards", async (t) => {
  const { start, balanced } = await cluster(t);
  const node = start();
  const sizes: number[] = [];
  const stopListening = node.shards.onChange(() => sizes.push(node.shards.owned().size));
  await balanced();
  await until(() => sizes.at(-1) === 16);
  start();
  await until(() => sizes.at(-1) === 8);
  await node.shards.stop();
  assert.equal(sizes.at(-1), 0);
  stopListening();
  node.shards.start();
  await balanced();
  assert.equal(sizes.at(-1), 0);
});

test("nodes that join, stop, freeze and die in any order never share a shard and always end in balance", async (t) => {
  const actions = fc.array(fc.constantFrom("join", "join", "stop", "kill", "freeze"), { minLength: 6, maxLength: 10 });
  for (const script of fc.sample(actions, { numRuns: sized(2, 30), seed: 7 })) {
    const { kind, start, stop, balanced, alive } = await cluster(t, { leaseMs: 250 });
    start();
    for (const [turn, action] of script.entries()) {
      const nodes = [...alive];
      const chosen = nodes[turn % nodes.length]!;
      if (action === "join" || nodes.length === 1) {
        if (nodes.length < 5) start();
      } else if (action === "stop") {
        await stop(chosen);
      } else if (action === "kill") {
        await chosen.kill();
      } else {
        chosen.freeze();
        alive.delete(chosen);
        await until(() => chosen.shards.owned().size === 0);
      }
      const owners = [...alive].flatMap(({ shards }) => [...shards.owned().keys()]);
      assert.equal(new Set(owners).size, owners.length, `two nodes own a shard after ${script.slice(0, turn + 1)}`);
      if (turn % 3 === 0) await balanced();
    }
    await balanced();
    await assertUniqueEpochs(kind);
  }
});
