import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { failsWith } from "../../../../../test/harness/context.ts";
import { fc } from "../../../../../test/harness/random.ts";
import { Failure } from "../../../../errors/index.ts";
import type { TenantId } from "../../../../platform/access/index.ts";
import type { AdmissionConfig, PoolId } from "../../pools/index.ts";
import { createAdmissionKeys, type KeyedItem, type KeyedPool } from "./admission-keys.ts";
import { constraintKinds } from "./group.ts";

const keys = createAdmissionKeys(Buffer.alloc(32, 7));

function poolWith(admission: AdmissionConfig, place: Partial<KeyedPool> = {}): KeyedPool {
  const pool = { tenantId: "t1" as TenantId, id: "p1" as PoolId, name: "pool", environmentId: "e1" };
  return { ...pool, ...place, config: { admission } };
}
function itemWith(change: Partial<KeyedItem> = {}): KeyedItem {
  const requirements = { skills: { french: 3 }, recipientId: "", excludedRecipientIds: [] };
  return { type: "ticket", key: "k", attributes: {}, requirements, priority: 0, ...change };
}
const singleton = (key: string): AdmissionConfig => ({ singleton: { key, mode: "skip", ttlS: 60 } });
const concurrency = (key: string, scope: "pool" | "environment" | "tenant"): AdmissionConfig => ({
  concurrency: { key, limit: 1, scope },
});
const groupOf = (pool: KeyedPool, item = itemWith()) => keys.refsOf(pool, item)[0]!.groupId;

test("an item has one group per constraint of its pool, in the order of evaluation", () => {
  const pool = poolWith({
    concurrency: { key: "item.key", limit: 1, scope: "pool" },
    throttle: { key: "item.key", limit: 1, periodS: 1, burst: 0, cost: 1, onLimit: "delay" },
    debounce: { key: "item.key", periodS: 1, maxDelayS: 1, take: "last" },
    singleton: { key: "item.key", mode: "skip", ttlS: 1 },
  });
  const refs = keys.refsOf(pool, itemWith());
  assert.deepEqual(
    refs.map(({ kind }) => kind),
    constraintKinds,
  );
  assert.equal(new Set(refs.map(({ groupId }) => groupId)).size, 4);
  for (const { groupId } of refs) assert.match(groupId, /^[0-9a-f]{32}$/);
  assert.deepEqual(keys.refsOf(poolWith({}), itemWith()), []);
});

describe("a key", () => {
  const same: [name: string, key: string, a: Partial<KeyedItem>, b: Partial<KeyedItem>][] = [
    ["of items that differ in other fields", "item.key", { priority: 1 }, { priority: 2 }],
    ["of an integer in any notation", "item.attributes.n", { attributes: { n: 1 } }, { attributes: { n: 1.0 } }],
    ["without an expression", "", { key: "a" }, { key: "b" }],
  ];
  for (const [name, key, a, b] of same) {
    test(`${name} gives one group`, () => {
      const pool = poolWith(singleton(key));
      assert.equal(groupOf(pool, itemWith(a)), groupOf(pool, itemWith(b)));
    });
  }

  const different: [name: string, key: string, a: Partial<KeyedItem>, b: Partial<KeyedItem>][] = [
    ["texts", "item.key", { key: "a" }, { key: "b" }],
    ["a number and its text", "item.attributes.n", { attributes: { n: 1 } }, { attributes: { n: "1" } }],
    ["a boolean and its text", "item.attributes.n", { attributes: { n: true } }, { attributes: { n: "true" } }],
    ["an empty text and none", "item.attributes.n", { attributes: { n: "" } }, { attributes: { n: [] } }],
    ["lists with different boundaries", "[item.type, item.key]", { type: "a", key: "b,c" }, { type: "a,b", key: "c" }],
    ["lists in another order", "[item.type, item.key]", { type: "a", key: "b" }, { type: "b", key: "a" }],
    ["attributes", "item.attributes.customer", { attributes: { customer: "a" } }, { attributes: { customer: "b" } }],
    ["priorities", "item.priority", { priority: 1 }, { priority: 2 }],
  ];
  for (const [name, key, a, b] of different) {
    test(`of ${name} gives two groups`, () => {
      const pool = poolWith(singleton(key));
      assert.notEqual(groupOf(pool, itemWith(a)), groupOf(pool, itemWith(b)));
    });
  }

  test("can use the requirements of the item and the pool by their wire names", () => {
    const key =
      "[item.requirements.skills.french, item.requirements.recipient_id, pool.name, pool.id, pool.environment_id]";
    assert.match(groupOf(poolWith(singleton(key))), /^[0-9a-f]{32}$/);
    assert.throws(() => groupOf(poolWith(singleton("item.payload"))), failsWith("INVALID_ARGUMENT"));
  });

  test("of equal texts gives the same group, and of different texts different groups", () => {
    const pool = poolWith(singleton("item.key"));
    fc.assert(
      fc.property(fc.string(), fc.string(), (a, b) => {
        const group = (key: string) => groupOf(pool, itemWith({ key }));
        assert.equal(group(a) === group(b), a === b);
      }),
    );
  });
});

describe("groups are separate", () => {
  const separate: [name: string, a: KeyedPool, b: KeyedPool][] = [
    ["in two pools", poolWith(singleton("1")), poolWith(singleton("1"), { id: "p2" as PoolId })],
    ["in two tenants", poolWith(singleton("1")), poolWith(singleton("1"), { tenantId: "t2" as TenantId })],
    [
      "in two environments",
      poolWith(concurrency("1", "environment")),
      poolWith(concurrency("1", "environment"), { environmentId: "e2" }),
    ],
    ["in two scopes", poolWith(concurrency("1", "pool")), poolWith(concurrency("1", "environment"))],
  ];
  for (const [name, a, b] of separate) test(name, () => assert.notEqual(groupOf(a), groupOf(b)));

  test("but pools of one environment or tenant share the groups of that scope", () => {
    const other = { id: "p2" as PoolId, name: "other" };
    for (const scope of ["environment", "tenant"] as const) {
      assert.equal(groupOf(poolWith(concurrency("1", scope))), groupOf(poolWith(concurrency("1", scope), other)));
    }
    const elsewhere = { ...other, environmentId: "e2" };
    assert.equal(
      groupOf(poolWith(concurrency("1", "tenant"))),
      groupOf(poolWith(concurrency("1", "tenant"), elsewhere)),
    );
  });

  test("under two secrets: a known key does not reveal its group", () => {
    const others = createAdmissionKeys(Buffer.alloc(32, 8));
    const pool = poolWith(singleton("item.key"));
    assert.notDeepEqual(others.refsOf(pool, itemWith()), keys.refsOf(pool, itemWith()));
  });
});

test("an item without an attribute that a key reads is rejected with the expression and the attribute", () => {
  const pool = poolWith(singleton('item.attributes.customer + ":" + item.attributes.region'));
  assert.throws(
    () => groupOf(pool, itemWith({ attributes: { region: "eu" } })),
    /item\.attributes\.customer \+ ":" \+ item\.attributes\.region failed for this item, which has no item\.attributes\.customer\./,
  );
});

describe("an item without a valid key is rejected with the constraint and without item values", () => {
  const hidden = "hidden-4711";
  const attributes = { customer: hidden, nested: { a: hidden }, none: null, list: [hidden, { a: 1 }] };
  const broken = [
    "item.attributes.absent",
    "item.attributes.nested",
    "item.attributes.none",
    "item.attributes.list",
    "int(item.attributes.customer)",
    "timestamp(item.attributes.customer)",
    "1.0 / 0.0",
    "item.attributes.customer.",
  ];
  for (const key of broken) {
    test(key, () => {
      assert.throws(
        () => groupOf(poolWith(singleton(key)), itemWith({ attributes })),
        (error) => {
          assert.ok(error instanceof Failure && error.code === "INVALID_ARGUMENT");
          assert.match(error.message, /singleton/);
          // The cause would be logged, and the message of the engine may contain the value.
          assert.equal(error.cause, undefined);
          assert.ok(![error.stack, JSON.stringify(error)].join().includes(hidden));
          return true;
        },
      );
    });
  }
});
