import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { AdmissionConfig } from "../../pools/index.ts";
import { createEmptyGroup, type GroupState, groupKey } from "./group.ts";
import { evaluateLease, groupsAfterLease, selectForLease } from "./lease-limits.ts";

const now = 1_800_000_000_000;
const throttle: AdmissionConfig["throttle"] = { key: "", limit: 3, periodS: 1, burst: 0, cost: 1, onLimit: "delay" };
const concurrency: AdmissionConfig["concurrency"] = { key: "", limit: 2, scope: "pool" };
const item = (id: string, group = "g") => ({ id, throttleGroup: group, concurrencyGroup: group });

/** Stores groups after each lease. */
function ledger(limits: AdmissionConfig) {
  let groups: ReadonlyMap<string, GroupState> = new Map();
  return {
    group: (kind: "throttle" | "concurrency", groupId = "g") => groups.get(groupKey({ kind, groupId })),
    handOut(items: readonly ReturnType<typeof item>[], atMs = 0, count = 99) {
      const choice = selectForLease(items, limits, groups, count, now + atMs);
      const chosen = items.filter(({ id }) => choice.ids.includes(id));
      groups = new Map([...groups, ...groupsAfterLease(chosen, limits, groups, now + atMs)]);
      return choice;
    },
    free() {
      const state = groups.get("concurrency:g")!;
      groups = new Map([...groups, ["concurrency:g", { ...state, inUse: state.inUse - 1 }]]);
    },
  };
}

describe("throttle", () => {
  test("tokens are evenly spread, and a held item gets the time of the next one", () => {
    const pool = ledger({ throttle });
    const items = ["a", "b"].map((id) => item(id));
    assert.deepEqual(pool.handOut(items), { ids: ["a"], againAtMs: now + 333 });
    assert.deepEqual(pool.handOut(items.slice(1), 332).ids, []);
    assert.deepEqual(pool.handOut(items.slice(1), 333).ids, ["b"]);
  });

  test("an idle group has its burst and no more, however long it was idle", () => {
    const pool = ledger({ throttle: { ...throttle!, burst: 2 } });
    const items = Array.from({ length: 20 }, (_, n) => item(`${n}`));
    assert.equal(pool.handOut(items).ids.length, 3);
    assert.equal(pool.handOut(items.slice(3), 3_600_000).ids.length, 3);
  });

  test("a throttle that rejects new items delays queued ones", () => {
    const group = { ...createEmptyGroup({ kind: "throttle", groupId: "g" }), tatMs: now + 400 };
    const rejecting = { throttle: { ...throttle!, onLimit: "reject" as const } };
    const { heldBy } = evaluateLease([group], rejecting, new Map([[groupKey(group), group]]), now);
    assert.equal(heldBy?.notBeforeMs, now + 400);
  });
});

describe("concurrency", () => {
  test("slots are granted up to the limit, and the time of the next free one is unknown", () => {
    const pool = ledger({ concurrency });
    const items = ["a", "b", "c"].map((id) => item(id));
    assert.deepEqual(pool.handOut(items), { ids: ["a", "b"], againAtMs: undefined });
    assert.deepEqual([pool.group("concurrency")!.inUse, pool.group("concurrency")!.slots], [2, 2]);
    pool.free();
    assert.deepEqual(pool.handOut(items.slice(2)).ids, ["c"]);
  });

  test("an item without a slot consumes no token, and one without a token no slot", () => {
    const pool = ledger({ throttle: { ...throttle!, burst: 9 }, concurrency: { ...concurrency!, limit: 1 } });
    pool.handOut(["a", "b"].map((id) => item(id)));
    const { tatMs } = pool.group("throttle")!;
    assert.deepEqual(pool.handOut([item("b")]).ids, []);
    assert.equal(pool.group("throttle")!.tatMs, tatMs);
    const slow = ledger({ throttle, concurrency });
    slow.handOut(["a", "b"].map((id) => item(id)));
    assert.equal(slow.group("concurrency")!.inUse, 1);
  });
});

test("items whose group is full are skipped, and the others keep their order", () => {
  const pool = ledger({ concurrency: { ...concurrency!, limit: 1 } });
  const items = [item("a", "x"), item("b", "x"), item("c", "y"), item("d", "x"), item("e", "z")];
  assert.deepEqual(pool.handOut(items, 0, 2).ids, ["a", "c"]);
  assert.deepEqual(pool.handOut(items.slice(3)).ids, ["e"]);
});

test("an item without groups is not limited", () => {
  const pool = ledger({ throttle, concurrency });
  const free = { id: "free", throttleGroup: "", concurrencyGroup: "" };
  assert.deepEqual(pool.handOut([item("a"), item("b"), free]).ids, ["a", "free"]);
});
