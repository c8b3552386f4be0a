import assert from "node:assert/strict";
import { test } from "node:test";
import { freshTenant, recordedEvents, testDatabase } from "../../../../test/harness/context.ts";
import type { Context } from "../../../chain/call.ts";
import type { Sql } from "../../../platform/db/index.ts";
import { createEventLoopScheduler } from "../../../platform/event-loop/index.ts";
import { ulid } from "../../../platform/ids/ulid.ts";
import type { PoolSnapshot } from "../pools/index.ts";
import { itemOf, poolOf } from "./domain/testing/fixtures.ts";
import { createLivePools } from "./outcomes/live-pools.ts";
import { createPreparation, type PreparationParts } from "./route-preparation.ts";

const db = await testDatabase();
const clock = { now: Date.now };
const log = { warn: ({ err }: { err: unknown }) => assert.fail(err as Error) } as never;
const tenantId = freshTenant();

/** A pool that accepts unaddressed items and chooses those of a type. */
function poolFor(type: string): PoolSnapshot {
  const id = ulid(Date.now());
  const rules = [{ condition: `item.type == '${type}'`, action: { type: "require" } as const }];
  const { snapshot } = poolOf({ recipients: [{ id: `${type}-recipient` }], rules });
  const config = { ...snapshot.pool.config, acceptsUnaddressed: true, admission: {}, queue: { defaultTtlS: 60 } };
  return { ...snapshot, digest: type, pool: { ...snapshot.pool, tenantId, id, config } } as never;
}

/** A node that has not seen any pool yet. It records its queries. */
function coldNode(pools: readonly PoolSnapshot[]) {
  const queries: string[] = [];
  const sql = new Proxy(db.sql, {
    apply(target, self, args) {
      const [strings] = args as [readonly string[]];
      queries.push(strings.join("?"));
      return Reflect.apply(target as never, self, args);
    },
  }) as Sql;
  const byId = new Map(pools.map((snapshot) => [snapshot.pool.id, snapshot]));
  const { prepare } = createPreparation({
    pools: { poolsOf: async () => ({ pools: byId }), snapshot: (_tenantId: string, id: never) => byId.get(id) },
    live: createLivePools({ db: { ...db, sql }, clock, log, events: recordedEvents() as never }),
    shares: createEventLoopScheduler(),
  } as unknown as PreparationParts);
  const principal = { environmentMode: "any" };
  const context = { tenantId, principal, nowMs: Date.now() } as Context;
  /** Decides about an unaddressed item; returns its pool. */
  const poolOfItem = async (type: string) => {
    const fields = { attributesJson: "{}", payloadJson: "{}", notBeforeMs: undefined, ttlS: 0, rejectAsError: false };
    const { snapshot } = await prepare(context, { poolId: "", item: itemOf({ type }), ...fields }, true);
    return snapshot;
  };
  /** Stores another version of a pool. */
  const change = (snapshot: PoolSnapshot) => void byId.set(snapshot.pool.id, snapshot);
  return { queries, poolOfItem, change };
}

test("the search for the pool of an unaddressed item reads the state of the chosen pool alone", async () => {
  const pools = Array.from({ length: 40 }, (_, n) => poolFor(`type${n}`));
  const { queries, poolOfItem } = coldNode(pools);
  assert.equal(await poolOfItem("type39"), pools[39]);
  const { queries: ofOne, poolOfItem: poolOfOne } = coldNode([pools[39]!]);
  assert.equal(await poolOfOne("type39"), pools[39]);
  assert.deepEqual(queries, ofOne);
  assert.equal(queries.length, 2);
  await assert.rejects(poolOfItem("other"), /must be set to the id of a pool/);
  assert.equal(queries.length, 2, "a search without a result reads nothing");
});

test("the search for the pool of an unaddressed item follows changes of rules, also in pools that chose nothing yet", async () => {
  const [first, second] = [poolFor("a"), poolFor("b")];
  const { poolOfItem, change } = coldNode([first, second]);
  assert.equal(await poolOfItem("b"), second);
  const changed = { ...poolFor("b"), pool: first.pool, digest: "changed" };
  change(changed);
  assert.equal(await poolOfItem("b"), changed, "the first pool was searched before");
  await assert.rejects(poolOfItem("a"), /must be set to the id of a pool/);
  change(first);
  assert.equal(await poolOfItem("a"), first, "the first pool was chosen before");
  assert.equal(await poolOfItem("b"), second);
});
