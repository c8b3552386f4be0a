import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { failsWith } from "../../../../../test/harness/context.ts";
import { fc } from "../../../../../test/harness/random.ts";
import { Failure } from "../../../../errors/index.ts";
import type { TenantId } from "../../../../platform/access/index.ts";
import type { PoolId } from "../../pools/index.ts";
import { type AdmissionConfig, constraintKinds } from "./admission.ts";
import { createAdmissionKeys, type KeyedItem, type KeyedPool } from "./admission-keys.ts";

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

test("an item falls into one group for each constraint of its pool, in the order in which they are asked", () => {
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
    ["of what differs elsewhere", "item.key", { priority: 1 }, { priority: 2 }],
    [
      "of a whole number, however it is written",
      "item.attributes.n",
      { attributes: { n: 1 } },
      { attributes: { n: 1.0 } },
    ],
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
    ["lists cut differently", "[item.type, item.key]", { type: "a", key: "b,c" }, { type: "a,b", key: "c" }],
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

  test("may name the item's requirements and the pool, as they are named on the wire", () => {
    const key =
      "[item.requirements.skills.french, item.requirements.recipient_id, pool.name, pool.id, pool.environment_id]";
    assert.match(groupOf(poolWith(singleton(key))), /^[0-9a-f]{32}$/);
    assert.throws(() => groupOf(poolWith(singleton("item.payload"))), failsWith("INVALID_ARGUMENT"));
  });

  test("of any text falls into the same group every time, and into another for any other text", () => {
    const pool = poolWith(singleton("item.key"));
    fc.assert(
      fc.property(fc.string(), fc.string(), (a, b) => {
        const group = (key: string) => groupOf(pool, itemWith({ key }));
        assert.equal(group(a) === group(b), a === b);
      }),
    );
  });
});

describe("groups are apart", () => {
  const apart: [name: string, a: KeyedPool, b: KeyedPool][] = [
    ["in two pools", poolWith(singleton("1")), poolWith(singleton("1"), { id: "p2" as PoolId })],
    ["in two tenants", poolWith(singleton("1")), poolWith(singleton("1"), { tenantId: "t2" as TenantId })],
    [
      "in two environments",
      poolWith(concurrency("1", "environment")),
      poolWith(concurrency("1", "environment"), { environmentId: "e2" }),
    ],
    ["in two scopes", poolWith(concurrency("1", "pool")), poolWith(concurrency("1", "environment"))],
  ];
  for (const [name, a, b] of apart) test(name, () => assert.notEqual(groupOf(a), groupOf(b)));

  test("but the pools of an environment, or of a tenant, share those of that scope", () => {
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

  test("under two secrets: who knows a key cannot tell its group", () => {
    const others = createAdmissionKeys(Buffer.alloc(32, 8));
    const pool = poolWith(singleton("item.key"));
    assert.notDeepEqual(others.refsOf(pool, itemWith()), keys.refsOf(pool, itemWith()));
  });
});

describe("an item that a key cannot be made from is refused; the constraint is named and no value is", () => {
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
          // The engine's own words would be logged as the cause, and they may hold the value.
          assert.equal(error.cause, undefined);
          assert.ok(![error.stack, JSON.stringify(error)].join().includes(hidden));
          return true;
        },
      );
    });
  }
});
