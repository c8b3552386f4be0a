import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  type AdmissionConfig,
  admit,
  type Candidate,
  type ConstraintKind,
  constraintKinds,
  freshGroup,
  type GroupState,
  groupKey,
  groupStatus,
} from "./admission.ts";

const now = 1_800_000_000_000;
const all: Required<AdmissionConfig> = {
  singleton: { key: "", mode: "skip", ttlS: 60 },
  debounce: { key: "", periodS: 5, maxDelayS: 12, take: "last" },
  throttle: { key: "", limit: 3, periodS: 1, burst: 0, cost: 1, onLimit: "delay" },
  concurrency: { key: "", limit: 2, scope: "pool" },
};

/** Groups that remember what was let in, as the queue does. */
function ledger(config: AdmissionConfig, begin: readonly Partial<GroupState>[] = []) {
  const groups = new Map<string, GroupState>();
  const keep = (states: readonly GroupState[]) => {
    for (const state of states) groups.set(groupKey(state), state);
  };
  keep(begin.map((state) => ({ ...freshGroup({ kind: state.kind!, groupId: state.kind! }), ...state })));
  const candidate = (itemId: string, atMs: number, changed: AdmissionConfig): Candidate => ({
    itemId,
    refs: constraintKinds.map((kind) => ({ kind, groupId: kind })),
    config: changed,
    nowMs: now + atMs,
  });
  return {
    groups,
    group: (kind: ConstraintKind) => groups.get(groupKey({ kind, groupId: kind })),
    admit(itemId: string, atMs = 0, changed = config) {
      const { verdict, next } = admit(candidate(itemId, atMs, changed), groups);
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

test("a pool without constraints lets everything in and keeps no groups", () => {
  const { groups, ...pool } = ledger({});
  const verdict = pool.admit("a");
  assert.deepEqual([verdict.status, verdict.constraint], ["admitted", undefined]);
  assert.equal(groups.size, 0);
});

test("a constraint that the item has no group for does not concern it", () => {
  const { verdict, next } = admit({ itemId: "a", refs: [], config: all, nowMs: now }, new Map());
  assert.deepEqual([verdict.status, verdict.perConstraint, next], ["admitted", [], []]);
});

describe("singleton", () => {
  const modes = [
    // The mode, whether the holder is worked on, and what becomes of the second item and of the first.
    ["skip", false, "deduplicated", { existingItemId: "a", supersedes: [], cancels: "" }],
    ["skip", true, "deduplicated", { existingItemId: "a", supersedes: [], cancels: "" }],
    ["replace_pending", false, "admitted", { existingItemId: "", supersedes: ["a"], cancels: "" }],
    ["replace_pending", true, "deduplicated", { existingItemId: "a", supersedes: [], cancels: "" }],
    ["cancel_running", false, "admitted", { existingItemId: "", supersedes: ["a"], cancels: "" }],
    ["cancel_running", true, "admitted", { existingItemId: "", supersedes: [], cancels: "a" }],
  ] as const;
  for (const [mode, started, status, shown] of modes) {
    test(`${mode}, while the holder ${started ? "is worked on" : "waits"}: the next item is ${status}`, () => {
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

  test("a holder that does not end gives up its place when its time runs out, to the millisecond, and keeps its work", () => {
    const pool = ledger({ singleton: all.singleton });
    pool.admit("a");
    assert.equal(pool.admit("b", 59_999).status, "deduplicated");
    const verdict = pool.admit("c", 60_000);
    assert.deepEqual([verdict.status, verdict.supersedes, verdict.cancels], ["admitted", [], ""]);
  });

  test("an item that has the place already is let in with it", () => {
    const pool = ledger({ singleton: all.singleton });
    pool.admit("a");
    assert.equal(pool.admit("a", 1).status, "admitted");
  });
});

describe("debounce", () => {
  test("each item replaces the one that waits, and the window is put off up to its longest delay", () => {
    const pool = ledger({ debounce: all.debounce });
    const steps: [item: string, atMs: number, dueMs: number, supersedes: string[]][] = [
      ["a", 0, 5000, []],
      ["b", 4000, 9000, ["a"]],
      ["c", 8000, 12_000, ["b"]],
      ["d", 11_999, 12_000, ["c"]],
      // The window ended; nobody has come by yet to let d go on, and it goes on all the same.
      ["e", 12_000, 17_000, []],
    ];
    for (const [item, atMs, dueMs, supersedes] of steps) {
      const verdict = pool.admit(item, atMs);
      assert.deepEqual([verdict.status, verdict.holdReason, verdict.constraint], ["debounced", "debounce", "debounce"]);
      assert.deepEqual([verdict.dueAtMs! - now, verdict.retryAfterMs], [dueMs, dueMs - atMs], item);
      assert.deepEqual(verdict.supersedes, supersedes, item);
    }
  });

  test("a longest delay that was shortened meanwhile ends the window at once, never in the past", () => {
    const pool = ledger({ debounce: all.debounce });
    pool.admit("a");
    const shortened = { debounce: { ...all.debounce, periodS: 1, maxDelayS: 1 } };
    assert.equal(pool.admit("b", 3000, shortened).dueAtMs, now + 3000);
  });

  test("an item that has gone on is not replaced any more", () => {
    const pool = ledger({ debounce: all.debounce });
    pool.admit("a");
    pool.change("debounce", { itemStarted: true });
    assert.deepEqual(pool.admit("b", 1).supersedes, []);
  });
});

describe("throttle that rejects", () => {
  const rejecting = { ...all.throttle, onLimit: "reject" as const };

  test("a burst passes at once, and so does the next one a period later", () => {
    const pool = ledger({ throttle: { ...rejecting, burst: 2 } });
    const burst = (atMs: number) => ["a", "b", "c", "d"].map((item) => pool.admit(item, atMs).status);
    assert.deepEqual(burst(0), ["admitted", "admitted", "admitted", "rejected"]);
    assert.deepEqual(burst(1000), ["admitted", "admitted", "admitted", "rejected"]);
  });

  test("a rejected item takes nothing and is told when to come again; then it is let in", () => {
    const pool = ledger({ throttle: rejecting });
    pool.admit("a");
    const before = pool.group("throttle");
    const verdict = pool.admit("b", 100);
    assert.deepEqual([verdict.status, verdict.retryAfterMs, verdict.dueAtMs], ["rejected", 233, undefined]);
    assert.equal(pool.group("throttle"), before);
    assert.equal(pool.admit("b", 332).status, "rejected");
    assert.equal(pool.admit("b", 333).status, "admitted");
  });

  test("an item that costs more takes more of the rate; one that costs more than a burst holds still passes", () => {
    const costly = ledger({ throttle: { ...rejecting, limit: 10, burst: 3, cost: 2 } });
    assert.deepEqual(
      ["a", "b", "c"].map((item) => costly.admit(item).status),
      ["admitted", "admitted", "rejected"],
    );
    const huge = ledger({ throttle: { ...rejecting, limit: 10, burst: 0, cost: 10 } });
    assert.equal(huge.admit("a").status, "admitted");
    assert.equal(huge.admit("b").retryAfterMs, 1000);
  });

  test("behind a debounce it is not asked on the way in: there it delays", () => {
    const pool = ledger({ debounce: all.debounce, throttle: rejecting }, [{ kind: "throttle", tatMs: now + 5400 }]);
    assert.deepEqual(rulings(pool.admit("a")), ["debounce debounce"]);
  });
});

test("a throttle that delays and a concurrency limit take nothing when an item comes in", () => {
  const pool = ledger({ throttle: all.throttle, concurrency: all.concurrency });
  for (const item of ["a", "b", "c", "d"]) {
    const verdict = pool.admit(item);
    assert.deepEqual([verdict.status, verdict.perConstraint], ["admitted", []]);
  }
  assert.equal(pool.groups.size, 0);
});

test("constraints are asked in their order, and one that stops the item ends the asking", () => {
  const pool = ledger(all);
  assert.deepEqual(rulings(pool.admit("a")), ["singleton admit", "debounce debounce"]);
  assert.deepEqual(rulings(pool.admit("b", 1)), ["singleton deduplicate", "debounce not_asked"]);
});

test("one item may take two places at once: of a singleton's holder and of whoever waits in its debounce window", () => {
  const config = { singleton: { ...all.singleton, mode: "replace_pending" as const }, debounce: all.debounce };
  const pool = ledger(config, [
    { kind: "singleton", itemId: "a", untilMs: now + 1000 },
    { kind: "debounce", itemId: "b", sinceMs: now, untilMs: now + 1000 },
  ]);
  assert.deepEqual(pool.admit("c").supersedes, ["a", "b"]);
  assert.deepEqual(pool.admit("d").supersedes, ["c"]);
});

test("what would have been replaced or cancelled is left alone when a later constraint rejects the item", () => {
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

test("a group that an operator ended is a fresh one to the next item, which brings it back into use", () => {
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
    ["a singleton whose place is free", "open", { kind: "singleton" }],
    ["one whose place is taken", "saturated", { kind: "singleton", itemId: "a", untilMs: now + 1 }],
    ["one whose holder ran out of time", "expired", { kind: "singleton", itemId: "a", untilMs: now }],
    ["a debounce in which nothing waits", "open", { kind: "debounce" }],
    ["one in its window", "cooling", { kind: "debounce", itemId: "a", untilMs: now + 1 }],
    ["one whose window has ended", "expired", { kind: "debounce", itemId: "a", untilMs: now }],
    ["a throttle that has the next wait", "cooling", { kind: "throttle", tatMs: now + 500, untilMs: now + 1 }],
    ["one with some of its burst left", "open", { kind: "throttle", tatMs: now + 500, untilMs: now }],
    ["one that has recovered", "expired", { kind: "throttle", tatMs: now, untilMs: now - 500 }],
    ["a concurrency with a free place", "open", { kind: "concurrency", slots: 2, inUse: 1 }],
    ["one without", "saturated", { kind: "concurrency", slots: 2, inUse: 2 }],
    ["one above a limit that was lowered", "saturated", { kind: "concurrency", slots: 1, inUse: 2 }],
    ["a singleton that was cleared", "cleared", { kind: "singleton", clearedAtMs: now - 1 }],
    ["a throttle that was cleared", "cleared", { kind: "throttle", clearedAtMs: now - 1 }],
  ];
  for (const [when, shown, state] of cases) {
    test(`${when} is ${shown}`, () => {
      assert.equal(groupStatus({ ...freshGroup({ kind: state.kind, groupId: "g" }), ...state }, now), shown);
    });
  }
});
