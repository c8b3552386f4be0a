import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { AdmissionConfig } from "../../pools/index.ts";
import { admit, type Candidate } from "./admission.ts";
import {
  type ConstraintKind,
  constraintKinds,
  createEmptyGroup,
  type GroupState,
  groupKey,
  groupStatus,
} from "./group.ts";

const now = 1_800_000_000_000;
const all: Required<AdmissionConfig> = {
  singleton: { key: "", mode: "skip", ttlS: 60 },
  debounce: { key: "", periodS: 5, maxDelayS: 12, take: "last" },
  throttle: { key: "", limit: 3, periodS: 1, burst: 0, cost: 1, onLimit: "delay" },
  concurrency: { key: "", limit: 2, scope: "pool" },
};

/** Stores groups after each admission, like the queue. */
function ledger(config: AdmissionConfig, begin: readonly Partial<GroupState>[] = []) {
  const groups = new Map<string, GroupState>();
  const keep = (states: readonly GroupState[]) => {
    for (const state of states) groups.set(groupKey(state), state);
  };
  keep(begin.map((state) => ({ ...createEmptyGroup({ kind: state.kind!, groupId: state.kind! }), ...state })));
  const candidate = (itemId: string, atMs: number, changed: AdmissionConfig, payloadBytes?: number): Candidate => ({
    itemId,
    payloadBytes,
    refs: constraintKinds.map((kind) => ({ kind, groupId: kind })),
    config: changed,
    nowMs: now + atMs,
  });
  return {
    groups,
    group: (kind: ConstraintKind) => groups.get(groupKey({ kind, groupId: kind })),
    admit(itemId: string, atMs = 0, changed = config, payloadBytes?: number) {
      const { verdict, next } = admit(candidate(itemId, atMs, changed, payloadBytes), groups);
      keep(next);
      return verdict;
    },
    change(kind: ConstraintKind, change: Partial<GroupState>) {
      keep([{ ...groups.get(groupKey({ kind, groupId: kind }))!, ...change }]);
    },
  };
}

const rulings = ({ perConstraint }: ReturnType<typeof admit>["verdict"]) =>
  perConstraint.map(({ kind, ruling }) => `${kind} ${ruling}`);

test("a pool without constraints admits everything and has no groups", () => {
  const { groups, ...pool } = ledger({});
  const verdict = pool.admit("a");
  assert.deepEqual([verdict.status, verdict.constraint], ["admitted", undefined]);
  assert.equal(groups.size, 0);
});

test("a constraint without a group does not apply to the item", () => {
  const { verdict, next } = admit({ itemId: "a", refs: [], config: all, nowMs: now }, new Map());
  assert.deepEqual([verdict.status, verdict.perConstraint, next], ["admitted", [], []]);
});

describe("singleton", () => {
  const modes = [
    // The mode, whether the holder is running, and the results for the second and the first item.
    ["skip", false, "deduplicated", { existingItemId: "a", supersedes: [], cancels: "" }],
    ["skip", true, "deduplicated", { existingItemId: "a", supersedes: [], cancels: "" }],
    ["replace_pending", false, "admitted", { existingItemId: "", supersedes: ["a"], cancels: "" }],
    ["replace_pending", true, "deduplicated", { existingItemId: "a", supersedes: [], cancels: "" }],
    ["cancel_running", false, "admitted", { existingItemId: "", supersedes: ["a"], cancels: "" }],
    ["cancel_running", true, "admitted", { existingItemId: "", supersedes: [], cancels: "a" }],
  ] as const;
  for (const [mode, started, status, shown] of modes) {
    test(`${mode}, while the holder ${started ? "is running" : "waits"}: the next item is ${status}`, () => {
      const pool = ledger({ singleton: { ...all.singleton, mode } });
      assert.equal(pool.admit("a").status, "admitted");
      pool.change("singleton", { itemStarted: started });
      const { existingItemId, supersedes, cancels, ...verdict } = pool.admit("b", 1);
      assert.equal(verdict.status, status);
      assert.deepEqual({ existingItemId, supersedes, cancels }, shown);
      const holder = status === "admitted" ? "b" : "a";
      assert.equal(pool.group("singleton")!.itemId, holder);
      if (holder === "b") assert.equal(pool.group("singleton")!.itemStarted, false);
    });
  }

  test("a holder that does not end loses its slot exactly when its time is up and keeps running", () => {
    const pool = ledger({ singleton: all.singleton });
    pool.admit("a");
    assert.equal(pool.admit("b", 59_999).status, "deduplicated");
    const verdict = pool.admit("c", 60_000);
    assert.deepEqual([verdict.status, verdict.supersedes, verdict.cancels], ["admitted", [], ""]);
  });

  test("an item that already holds the slot is admitted", () => {
    const pool = ledger({ singleton: all.singleton });
    pool.admit("a");
    assert.equal(pool.admit("a", 1).status, "admitted");
  });
});

describe("debounce", () => {
  test("each item replaces the waiting one, and the window is extended up to the maximum delay", () => {
    const pool = ledger({ debounce: all.debounce });
    const steps: [item: string, atMs: number, dueMs: number, supersedes: string[]][] = [
      ["a", 0, 5000, []],
      ["b", 4000, 9000, ["a"]],
      ["c", 8000, 12_000, ["b"]],
      ["d", 11_999, 12_000, ["c"]],
      // The window has ended; d is due even though no sweep has released it yet.
      ["e", 12_000, 17_000, []],
    ];
    for (const [item, atMs, dueMs, supersedes] of steps) {
      const verdict = pool.admit(item, atMs);
      assert.deepEqual([verdict.status, verdict.holdReason, verdict.constraint], ["debounced", "debounce", "debounce"]);
      assert.deepEqual([verdict.dueAtMs! - now, verdict.retryAfterMs], [dueMs, dueMs - atMs], item);
      assert.deepEqual(verdict.supersedes, supersedes, item);
    }
  });

  test("a shortened maximum delay ends the window immediately, never in the past", () => {
    const pool = ledger({ debounce: all.debounce });
    pool.admit("a");
    const shortened = { debounce: { ...all.debounce, periodS: 1, maxDelayS: 1 } };
    assert.equal(pool.admit("b", 3000, shortened).dueAtMs, now + 3000);
  });

  test("an item released from its window is not replaced", () => {
    const pool = ledger({ debounce: all.debounce });
    pool.admit("a");
    pool.change("debounce", { itemStarted: true });
    assert.deepEqual(pool.admit("b", 1).supersedes, []);
  });

  test("take first keeps the first item, and every other one makes its window longer", () => {
    const pool = ledger({ debounce: { ...all.debounce, take: "first" } });
    assert.equal(pool.admit("a").status, "debounced");
    for (const [atMs, untilMs] of [
      [4000, 9000],
      [8000, 12_000],
    ] as const) {
      const { status, existingItemId, window, supersedes } = pool.admit("b", atMs);
      assert.deepEqual([status, existingItemId, supersedes], ["deduplicated", "a", []]);
      assert.deepEqual(window, { itemId: "a", untilMs: now + untilMs, collects: false });
    }
    assert.equal(pool.group("debounce")!.itemId, "a");
    assert.deepEqual([pool.admit("c", 12_000).status, pool.group("debounce")!.itemId], ["debounced", "c"]);
  });

  test("take all collects payloads until the batch is full or the window ends", () => {
    const config = { debounce: { ...all.debounce, take: "all" as const } };
    const pool = ledger(config);
    const admit = (itemId: string, bytes?: number) => pool.admit(itemId, 0, config, bytes);
    assert.equal(admit("a", 10).existingItemId, "");
    for (let n = 1; n < 100; n++) assert.equal(admit(`b${n}`, 10).existingItemId, "a");
    const { status, existingItemId, window, supersedes } = admit("c", 10);
    assert.deepEqual([status, existingItemId, window, supersedes], ["debounced", "", undefined, []]);
    assert.equal(admit("d", 10).existingItemId, "c");
    assert.equal(admit("e", 256 * 1024).existingItemId, "");
    // An item that is in the queue already keeps its payload.
    assert.deepEqual([admit("f").existingItemId, pool.group("debounce")!.itemId], ["", "f"]);
  });
});

describe("throttle that rejects", () => {
  const rejecting = { ...all.throttle, onLimit: "reject" as const };

  test("a burst passes immediately, and so does the next one a period later", () => {
    const pool = ledger({ throttle: { ...rejecting, burst: 2 } });
    const burst = (atMs: number) => ["a", "b", "c", "d"].map((item) => pool.admit(item, atMs).status);
    assert.deepEqual(burst(0), ["admitted", "admitted", "admitted", "rejected"]);
    assert.deepEqual(burst(1000), ["admitted", "admitted", "admitted", "rejected"]);
  });

  test("a rejected item consumes nothing and gets a retry time, at which it is admitted", () => {
    const pool = ledger({ throttle: rejecting });
    pool.admit("a");
    const before = pool.group("throttle");
    const verdict = pool.admit("b", 100);
    assert.deepEqual([verdict.status, verdict.retryAfterMs, verdict.dueAtMs], ["rejected", 233, undefined]);
    assert.equal(pool.group("throttle"), before);
    assert.equal(pool.admit("b", 332).status, "rejected");
    assert.equal(pool.admit("b", 333).status, "admitted");
  });

  test("an item with a higher cost uses more of the rate; one above the burst still passes", () => {
    const costly = ledger({ throttle: { ...rejecting, limit: 10, burst: 3, cost: 2 } });
    assert.deepEqual(
      ["a", "b", "c"].map((item) => costly.admit(item).status),
      ["admitted", "admitted", "rejected"],
    );
    const huge = ledger({ throttle: { ...rejecting, limit: 10, burst: 0, cost: 10 } });
    assert.equal(huge.admit("a").status, "admitted");
    assert.equal(huge.admit("b").retryAfterMs, 1000);
  });

  test("behind a debounce it is not evaluated on admission: there it delays", () => {
    const pool = ledger({ debounce: all.debounce, throttle: rejecting }, [{ kind: "throttle", tatMs: now + 5400 }]);
    assert.deepEqual(rulings(pool.admit("a")), ["debounce debounce"]);
  });
});

test("a delaying throttle and a concurrency limit consume nothing on admission", () => {
  const pool = ledger({ throttle: all.throttle, concurrency: all.concurrency });
  for (const item of ["a", "b", "c", "d"]) {
    const verdict = pool.admit(item);
    assert.deepEqual([verdict.status, verdict.perConstraint], ["admitted", []]);
  }
  assert.equal(pool.groups.size, 0);
});

test("constraints are evaluated in order, and the first one that stops the item ends the evaluation", () => {
  const pool = ledger(all);
  assert.deepEqual(rulings(pool.admit("a")), ["singleton admit", "debounce debounce"]);
  assert.deepEqual(rulings(pool.admit("b", 1)), ["singleton deduplicate", "debounce not_asked"]);
});

test("one item may replace two others: the holder of a singleton and the item that waits in its debounce window", () => {
  const config = { singleton: { ...all.singleton, mode: "replace_pending" as const }, debounce: all.debounce };
  const pool = ledger(config, [
    { kind: "singleton", itemId: "a", untilMs: now + 1000 },
    { kind: "debounce", itemId: "b", sinceMs: now, untilMs: now + 1000 },
  ]);
  assert.deepEqual(pool.admit("c").supersedes, ["a", "b"]);
  assert.deepEqual(pool.admit("d").supersedes, ["c"]);
});

test("no item is replaced or cancelled if a later constraint rejects the new item", () => {
  for (const itemStarted of [false, true]) {
    const config = {
      singleton: { ...all.singleton, mode: "cancel_running" as const },
      throttle: { ...all.throttle, onLimit: "reject" as const },
    };
    const pool = ledger(config, [
      { kind: "singleton", itemId: "a", itemStarted, untilMs: now + 1000 },
      { kind: "throttle", tatMs: now + 1000 },
    ]);
    const before = new Map(pool.groups);
    const verdict = pool.admit("b");
    assert.deepEqual([verdict.status, verdict.supersedes, verdict.cancels], ["rejected", [], ""]);
    assert.deepEqual(pool.groups, before);
  }
});

test("a cleared group is empty for the next item, which puts it into use again", () => {
  const clearedAtMs = now;
  const used: Partial<GroupState>[] = [
    { kind: "singleton", itemId: "x", untilMs: now + 9000, clearedAtMs },
    { kind: "debounce", itemId: "x", sinceMs: now - 11_000, untilMs: now + 9000, clearedAtMs },
    { kind: "throttle", tatMs: now + 9000, clearedAtMs },
  ];
  const constraints = { ...all, throttle: { ...all.throttle, onLimit: "reject" as const } };
  for (const group of used) {
    const config = { [group.kind!]: constraints[group.kind!] };
    const pool = ledger(config, [group]);
    const verdict = pool.admit("a");
    assert.deepEqual(verdict, ledger(config).admit("a"));
    assert.notEqual(groupStatus(pool.group(group.kind!)!, now), "cleared");
  }
});

describe("a group's status", () => {
  const cases: [when: string, shown: string, state: Partial<GroupState> & { kind: ConstraintKind }][] = [
    ["a singleton with a free slot", "open", { kind: "singleton" }],
    ["a singleton with a holder", "saturated", { kind: "singleton", itemId: "a", untilMs: now + 1 }],
    ["a singleton with an expired holder", "expired", { kind: "singleton", itemId: "a", untilMs: now }],
    ["a debounce without a waiting item", "open", { kind: "debounce" }],
    ["a debounce in its window", "cooling", { kind: "debounce", itemId: "a", untilMs: now + 1 }],
    ["a debounce after its window", "expired", { kind: "debounce", itemId: "a", untilMs: now }],
    ["a throttle without a token", "cooling", { kind: "throttle", tatMs: now + 500, untilMs: now + 1 }],
    ["a throttle with some burst left", "open", { kind: "throttle", tatMs: now + 500, untilMs: now }],
    ["a throttle that has recovered", "expired", { kind: "throttle", tatMs: now, untilMs: now - 500 }],
    ["a concurrency group with a free slot", "open", { kind: "concurrency", slots: 2, inUse: 1 }],
    ["a concurrency group without a free slot", "saturated", { kind: "concurrency", slots: 2, inUse: 2 }],
    ["a concurrency group above a lowered limit", "saturated", { kind: "concurrency", slots: 1, inUse: 2 }],
    ["a cleared singleton", "cleared", { kind: "singleton", clearedAtMs: now - 1 }],
    ["a cleared throttle", "cleared", { kind: "throttle", clearedAtMs: now - 1 }],
  ];
  for (const [when, shown, state] of cases) {
    test(`${when} is ${shown}`, () => {
      assert.equal(groupStatus({ ...createEmptyGroup({ kind: state.kind, groupId: "g" }), ...state }, now), shown);
    });
  }
});
