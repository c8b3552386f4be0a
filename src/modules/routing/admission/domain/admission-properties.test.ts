import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../../../../test/harness/random.ts";
import type { AdmissionConfig } from "../../pools/index.ts";
import { debounces, singletons } from "../testing/arbitrary-constraints.ts";
import { type Admission, admit, type Candidate } from "./admission.ts";
import { selectLeaseRefs } from "./constraint-stage.ts";
import { remainingIn } from "./constraints.ts";
import { constraintKinds, createEmptyGroup, type GroupState, groupKey, groupStatus } from "./group.ts";
import { evaluateLease, groupsAfterLease, limitRefs, selectForLease } from "./lease-limits.ts";
import { consumeTokens } from "./throttle.ts";

const start = 1_800_000_000_000;
const refs = constraintKinds.map((kind) => ({ kind, groupId: kind }));

const throttles = fc.record({
  key: fc.constant(""),
  limit: fc.integer({ min: 1, max: 50 }),
  periodS: fc.integer({ min: 1, max: 10 }),
  burst: fc.integer({ min: 0, max: 20 }),
  cost: fc.integer({ min: 1, max: 5 }),
  onLimit: fc.constantFrom("delay" as const, "reject" as const),
});
const configs: fc.Arbitrary<AdmissionConfig> = fc.record(
  {
    singleton: singletons,
    debounce: debounces,
    throttle: throttles,
    concurrency: fc.record({
      key: fc.constant(""),
      limit: fc.integer({ min: 1, max: 4 }),
      scope: fc.constant("pool" as const),
    }),
  },
  { requiredKeys: [] },
);
const offsets = fc.option(fc.integer({ min: -20_000, max: 20_000 }), { nil: undefined });
const states: fc.Arbitrary<ReadonlyMap<string, GroupState>> = fc
  .tuple(
    ...refs.map((ref) =>
      fc.option(
        fc
          .record({
            itemId: fc.constantFrom("", "x", "y"),
            itemStarted: fc.boolean(),
            since: offsets,
            until: offsets,
            tat: fc.integer({ min: -20_000, max: 20_000 }),
            slots: fc.integer({ min: 0, max: 5 }),
            inUse: fc.integer({ min: 0, max: 5 }),
            cleared: fc.boolean(),
          })
          .map(
            ({ since, until, tat, cleared, ...rest }): GroupState => ({
              ...createEmptyGroup(ref),
              ...rest,
              sinceMs: since === undefined ? undefined : start + since,
              untilMs: until === undefined ? undefined : start + until,
              tatMs: start + tat,
              clearedAtMs: cleared ? start - 1 : undefined,
            }),
          ),
      ),
    ),
  )
  .map((groups) => new Map(groups.flatMap((group) => (group === null ? [] : [[groupKey(group), group]]))));

const candidates = configs.map((config): Candidate => ({ itemId: "new", refs, config, nowMs: start }));
const gaps = fc.array(fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 2500 })), { minLength: 1, maxLength: 120 });

/** Arrival times from the gaps between items. */
function moments(between: readonly number[]): number[] {
  let atMs = start;
  return between.map((gapMs) => (atMs += gapMs));
}

/** The maximum number of times within any period. */
function mostWithin(times: readonly number[], periodMs: number): number {
  const sorted = times.toSorted((a, b) => a - b);
  return Math.max(0, ...sorted.map((from, i) => sorted.slice(i).filter((at) => at < from + periodMs).length));
}

test("a throttle passes at most limit + burst in any period, whether it rejects or delays", () => {
  fc.assert(
    fc.property(throttles, gaps, (throttle, between) => {
      let tatMs = 0;
      const passed: number[] = [];
      for (const nowMs of moments(between)) {
        const turn = consumeTokens(throttle, tatMs, nowMs);
        if (throttle.onLimit === "reject" && turn.conformsAtMs > nowMs) continue;
        tatMs = turn.tatMs;
        passed.push(turn.conformsAtMs);
      }
      const tokens = mostWithin(passed, throttle.periodS * 1000) * throttle.cost;
      // One item may cost more than the burst; it passes when all earlier items are paid for.
      const bound = throttle.limit + Math.max(throttle.burst, throttle.cost - 1);
      assert.ok(tokens <= bound, `${tokens} tokens within a period`);
    }),
    { numRuns: 500 },
  );
});

test("a throttle at a high rate keeps its limit exactly, despite rounding", () => {
  for (const limit of [7, 999, 1001, 30_000]) {
    const throttle = { key: "", limit, periodS: 1, burst: 0, cost: 1, onLimit: "reject" as const };
    let tatMs = 0;
    let passed = 0;
    for (let nowMs = start; nowMs < start + 1000; nowMs++) {
      for (let turn = consumeTokens(throttle, tatMs, nowMs); turn.conformsAtMs <= nowMs; ) {
        tatMs = turn.tatMs;
        passed++;
        turn = consumeTokens(throttle, tatMs, nowMs);
      }
    }
    assert.ok(passed <= limit && passed >= limit * 0.98, `${passed} of ${limit}`);
  }
});

test("delayed items continue in order of arrival, never before they arrived and never later than necessary", () => {
  fc.assert(
    fc.property(throttles, gaps, (throttle, between) => {
      let tatMs = 0;
      let last = 0;
      for (const nowMs of moments(between)) {
        const { conformsAtMs, tatMs: next, nextAtMs } = consumeTokens(throttle, tatMs, nowMs);
        assert.ok(conformsAtMs >= last && conformsAtMs >= nowMs);
        // A millisecond before its time the item would have had to wait, and at its time it would not.
        if (conformsAtMs > nowMs) {
          assert.equal(consumeTokens(throttle, tatMs, conformsAtMs).conformsAtMs, conformsAtMs);
          assert.ok(consumeTokens(throttle, tatMs, conformsAtMs - 1).conformsAtMs > conformsAtMs - 1);
        }
        assert.equal(consumeTokens(throttle, next, nowMs).conformsAtMs, Math.max(nowMs, nextAtMs));
        tatMs = next;
        last = conformsAtMs;
      }
    }),
  );
});

test("debounce: the last item of each window continues, and none waits longer than the maximum delay", () => {
  const debounces = fc.record({ periodS: fc.integer({ min: 1, max: 3 }), extraS: fc.integer({ min: 0, max: 5 }) });
  fc.assert(
    fc.property(debounces, gaps, ({ periodS, extraS }, between) => {
      const config = { debounce: { key: "", periodS, maxDelayS: periodS + extraS, take: "last" as const } };
      const groups = new Map<string, GroupState>();
      const items = moments(between).map((nowMs, i) => {
        const itemId = `item ${i}`;
        const { verdict, next } = admit({ itemId, refs, config, nowMs }, groups);
        for (const state of next) groups.set(groupKey(state), state);
        return { itemId, nowMs, dueAtMs: verdict.dueAtMs!, supersedes: verdict.supersedes };
      });
      const superseded = new Set(items.flatMap(({ supersedes }) => supersedes));
      let first: number | undefined;
      for (const [i, { itemId, nowMs, dueAtMs, supersedes }] of items.entries()) {
        assert.ok(supersedes.length === 0 || supersedes[0] === items[i - 1]!.itemId, "only a waiting item is replaced");
        if (supersedes.length === 0) first = nowMs;
        assert.equal(dueAtMs, Math.min(nowMs + periodS * 1000, first! + config.debounce.maxDelayS * 1000));
        // An item that is not replaced continues, and no later item is in its window.
        const after = items[i + 1];
        assert.equal(superseded.has(itemId), after !== undefined && after.nowMs < dueAtMs);
      }
    }),
  );
});

test("concurrency never grants slots above the current limit, however the limit changes and items end", () => {
  const step = fc.oneof(
    fc.record({ limit: fc.integer({ min: 1, max: 6 }) }),
    fc.constant("end" as const),
    fc.constant("come" as const),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const ref = refs[3]!;
      const groups = new Map<string, GroupState>();
      let limit = 3;
      let working = 0;
      for (const each of steps) {
        if (typeof each === "object") limit = each.limit;
        else if (each === "end") {
          if (working === 0) continue;
          working--;
          groups.set(groupKey(ref), { ...groups.get(groupKey(ref))!, inUse: working });
        } else {
          const limits = { concurrency: { key: "", limit, scope: "pool" as const } };
          const { heldBy, next } = evaluateLease([ref], limits, groups, start);
          assert.equal(heldBy === undefined, working < limit);
          if (heldBy === undefined) working++;
          for (const state of next) groups.set(groupKey(ref), state);
          assert.equal(groups.get(groupKey(ref))?.inUse ?? 0, working);
        }
      }
    }),
  );
});

test("the selected candidates are those that could be leased one after the other, in order", () => {
  const items = fc.array(fc.record({ throttle: fc.nat(2), concurrency: fc.nat(2) }), { maxLength: 30 });
  fc.assert(
    fc.property(configs, items, fc.integer({ min: 1, max: 20 }), (config, picks, count) => {
      const candidates = picks.map(({ throttle, concurrency }, n) => ({
        id: `${n}`,
        throttleGroup: throttle === 0 ? "" : `t${throttle}`,
        concurrencyGroup: concurrency === 0 ? "" : `c${concurrency}`,
      }));
      const { ids } = selectForLease(candidates, config, new Map(), count, start);
      const chosen = candidates.filter(({ id }) => ids.includes(id));
      assert.deepEqual(
        chosen.map(({ id }) => id),
        ids,
      );
      assert.ok(ids.length <= count);
      const after = groupsAfterLease(chosen, config, new Map(), start);
      for (const { kind, inUse } of after.values()) {
        if (kind === "concurrency") assert.ok(inUse <= config.concurrency!.limit);
      }
      // A skipped candidate would still have to wait.
      if (ids.length === count) return;
      for (const item of candidates.filter(({ id }) => !ids.includes(id))) {
        assert.notEqual(evaluateLease(limitRefs(item), config, after, start).heldBy, undefined);
      }
    }),
    { numRuns: 500 },
  );
});

test("a rejected item changes no group and no other item, except that it makes a debounce window longer", () => {
  fc.assert(
    fc.property(candidates, states, (candidate, groups) => {
      const { verdict, next } = admit(candidate, groups);
      if (verdict.status !== "deduplicated" && verdict.status !== "rejected") return;
      assert.deepEqual([verdict.supersedes, verdict.cancels], [[], ""]);
      const changed = next.map(({ kind, itemId, untilMs }) => ({ kind, itemId, untilMs }));
      const { itemId, untilMs } = verdict.window ?? {};
      assert.deepEqual(changed, itemId === undefined ? [] : [{ kind: "debounce", itemId, untilMs }]);
    }),
    { numRuns: 1000 },
  );
});

test("evaluation has no side effects: repeated evaluations of the same groups give the same verdict", () => {
  fc.assert(
    fc.property(candidates, states, (candidate, groups) => {
      const before = structuredClone(groups);
      const first = admit(candidate, groups);
      for (let n = 0; n < 20; n++) assert.deepEqual(admit(candidate, groups), first);
      assert.deepEqual(groups, before);
    }),
  );
});

test("the verdict matches the rulings, and only constraints that passed change their groups", () => {
  const consistent = ({ verdict, next }: Admission) => {
    const last = verdict.perConstraint.filter(({ ruling }) => ruling !== "not_asked").at(-1);
    const status = {
      admit: "admitted",
      replace: "admitted",
      cancel_running: "admitted",
      debounce: "debounced",
      collect: "debounced",
      hold: "held",
      deduplicate: "deduplicated",
      reject: "rejected",
      not_asked: undefined,
    }[last?.ruling ?? "admit"];
    assert.equal(verdict.status, status);
    assert.equal(verdict.constraint, status === "admitted" ? undefined : last!.kind);
    assert.equal(verdict.holdReason !== "", last?.ruling === "debounce");
    assert.equal(verdict.dueAtMs !== undefined, status === "debounced");
    // An item that only makes the window of another one longer changes no other group.
    const asked = verdict.perConstraint.filter(({ ruling }) => ruling !== "not_asked").map(({ kind }) => kind);
    const passed = verdict.window === undefined ? asked : ["debounce"];
    if (next.length > 0)
      assert.deepEqual(
        next.map(({ kind }) => kind),
        passed,
      );
    for (const state of next) assert.equal(state.clearedAtMs, undefined);
  };
  fc.assert(
    fc.property(candidates, states, (candidate, groups) => {
      consistent(admit(candidate, groups));
    }),
    { numRuns: 1000 },
  );
});

test("a queued item is never rejected: without room it is held, and nothing is consumed", () => {
  fc.assert(
    fc.property(candidates, states, ({ config, nowMs }, groups) => {
      const limited = refs.filter(({ kind }) => kind === "throttle" || kind === "concurrency");
      const { heldBy, next, verdicts } = evaluateLease(limited, config, groups, nowMs);
      assert.equal(
        heldBy === undefined,
        verdicts.every(({ ruling }) => ruling === "admit"),
      );
      assert.ok(verdicts.every(({ ruling }) => ["admit", "hold", "not_asked"].includes(ruling)));
      assert.equal(next.length, heldBy === undefined ? verdicts.length : 0);
    }),
  );
});

test("the status of a group predicts the verdict on the next item", () => {
  fc.assert(
    fc.property(candidates, states, (candidate, groups) => {
      // The groups after an item of the same configuration has passed.
      const { next, verdict } = admit(candidate, groups);
      const { config, nowMs } = candidate;
      const handedOut = evaluateLease(selectLeaseRefs(refs, config), config, groups, nowMs);
      for (const group of handedOut.next) {
        const { kind } = group;
        const again = evaluateLease([{ kind, groupId: kind }], config, new Map([[groupKey(group), group]]), nowMs);
        const status = groupStatus(group, nowMs);
        assert.equal(
          status === "saturated" || status === "cooling",
          again.heldBy !== undefined,
          `${kind} is ${status}`,
        );
        const { remaining } = handedOut.verdicts.find((each) => each.kind === kind)!;
        if (kind === "concurrency") assert.equal(remaining! > 0, status === "open");
      }
      for (const group of next) {
        const { kind } = group;
        const known = new Map([[groupKey(group), group]]);
        const again = admit({ ...candidate, itemId: "next", refs: [{ kind, groupId: kind }] }, known);
        const status = groupStatus(group, candidate.nowMs);
        // An item without a payload of its own is not collected, and begins another window.
        if (candidate.config.debounce?.take === "all" && kind === "debounce") continue;
        const { supersedes, window } = again.verdict;
        const joins = supersedes.length > 0 || window !== undefined;
        const waits = kind === "debounce" ? joins : again.verdict.status !== "admitted";
        const replaces = again.verdict.supersedes.length > 0 || again.verdict.cancels !== "";
        assert.equal(status === "saturated" || status === "cooling", waits || replaces, `${kind} is ${status}`);
        const remaining = verdict.perConstraint.find((each) => each.kind === kind)!.remaining;
        assert.equal(remaining, remainingIn(group, candidate.config, candidate.nowMs));
      }
    }),
  );
});
