import assert from "node:assert/strict";
import { test } from "node:test";
import { freshTenant, testDatabase } from "../../../../test/harness/context.ts";
import { fc } from "../../../../test/harness/random.ts";
import { ulid } from "../../../platform/ids/ulid.ts";
import type { AdmissionConfig } from "../pools/index.ts";
import { admit, type Candidate, type Verdict } from "./domain/admission.ts";
import { constraintKinds, createEmptyGroup, type GroupRef, type GroupState, groupKey } from "./domain/group.ts";
import { admitOptimistically } from "./domain/optimistic-admission.ts";
import { claimPlaces, isGroupFull, type OwnedGroup, readGroups, saveGroups } from "./group-store.ts";
import { debounces, singletons } from "./testing/arbitrary-constraints.ts";

const db = await testDatabase();
const nowMs = 1_800_000_000_000;
const places = { environmentId: ulid(nowMs), poolId: ulid(nowMs) };

const around = fc.integer({ min: -20_000, max: 20_000 }).map((offset) => nowMs + offset);
const constraints = {
  singleton: singletons,
  debounce: debounces,
  throttle: fc.record({
    key: fc.constant(""),
    limit: fc.integer({ min: 1, max: 50 }),
    periodS: fc.integer({ min: 1, max: 10 }),
    burst: fc.integer({ min: 0, max: 60 }),
    cost: fc.integer({ min: 1, max: 3 }),
    onLimit: fc.constant("reject" as const),
  }),
  concurrency: fc.record({
    key: fc.constant(""),
    limit: fc.integer({ min: 1, max: 6 }),
    scope: fc.constant("tenant" as const),
  }),
};
const { singleton, debounce, throttle, concurrency } = constraints;
// Mostly one constraint at a time: a constraint that holds an item prevents the evaluation of the others.
const configs: fc.Arbitrary<AdmissionConfig> = fc.oneof(
  { weight: 1, arbitrary: fc.record({ singleton, debounce }) },
  { weight: 2, arbitrary: fc.record({ singleton, throttle, concurrency }, { requiredKeys: [] }) },
  { weight: 4, arbitrary: fc.record({ throttle }) },
);
/** Two groups of each kind: items of a batch share some of them. */
const groupRefs = constraintKinds.flatMap((kind) => [0, 1].map((n): GroupRef => ({ kind, groupId: `${kind} ${n}` })));

/** Groups with arbitrary stored states; each kind with its own fields. */
const storedGroups: fc.Arbitrary<readonly GroupState[]> = fc
  .tuple(
    ...groupRefs.map((ref): fc.Arbitrary<GroupState | null> => {
      const cleared = fc.option(fc.constant(nowMs - 1), { nil: undefined, freq: 3 });
      const fields = {
        singleton: { itemId: fc.constantFrom("", "x"), untilMs: around },
        debounce: { itemId: fc.constantFrom("", "x"), sinceMs: around, untilMs: around },
        throttle: { tatMs: fc.integer({ min: -1 << 24, max: 1 << 24 }).map((parts) => nowMs + parts / 2048) },
        concurrency: { inUse: fc.integer({ min: 0, max: 6 }), slots: fc.integer({ min: 1, max: 6 }) },
      }[ref.kind] as unknown as Record<string, fc.Arbitrary<never>>;
      return fc.option(
        fc.record({ ...fields, clearedAtMs: cleared }).map((own) => ({ ...createEmptyGroup(ref), ...own })),
        { freq: 2 },
      );
    }),
  )
  .map((groups) => groups.filter((group) => group !== null));

/** Items of one or two pools. */
const batches: fc.Arbitrary<readonly Candidate[]> = fc
  .tuple(
    configs,
    configs,
    fc.array(fc.record({ second: fc.boolean(), picks: fc.array(fc.nat(1), { minLength: 4, maxLength: 4 }) }), {
      minLength: 1,
      maxLength: 4,
    }),
  )
  .map(([one, other, items]) =>
    items.map(({ second, picks }, nth) => ({
      itemId: `item ${nth}`,
      refs: picks.map((pick, k) => groupRefs[2 * k + pick]!),
      config: second ? other : one,
      nowMs,
    })),
  );

test("items are admitted without reading their groups only with the same result as after reading them; otherwise nothing changes", async () => {
  let passed = 0;
  await fc.assert(
    fc.asyncProperty(storedGroups, batches, async (left, batch) => {
      const tenantId = freshTenant();
      const own = (state: GroupState): OwnedGroup => ({ tenantId, ...state, ...places, state, stored: false });
      await saveGroups(db.sql, left.map(own), nowMs - 1);
      const ended = left.filter(({ clearedAtMs }) => clearedAtMs !== undefined).map(({ groupId }) => groupId);
      await db.sql`
        update admission_groups set cleared_at = ${new Date(nowMs - 1)}
        where tenant_id = ${tenantId} and group_id = any(${ended})`;
      const before = await statesOf(tenantId);

      const passage = admitOptimistically(batch);
      if (passage === undefined) return;
      // This path never ends another item.
      for (const { supersedes, cancels } of passage.verdicts) assert.deepEqual([supersedes, cancels], [[], ""]);
      const expectedAdmission = admitAfterReading(batch, left);
      if (!(await passes(passage.taken.map(own)))) {
        assert.deepEqual(await statesOf(tenantId), before);
        return;
      }
      passed++;
      assert.deepEqual(passage.verdicts.map(comparableVerdict), expectedAdmission.verdicts.map(comparableVerdict));
      const after = await statesOf(tenantId);
      for (const [key, expected] of expectedAdmission.states) {
        const { untilMs, ...rest } = after.get(key)!;
        const { untilMs: expectedUntilMs, ...expectedRest } = expected;
        assert.deepEqual(rest, expectedRest);
        // A throttle's `until` is truncated to whole milliseconds twice.
        const slackMs = expected.kind === "throttle" ? 1 : 0;
        if (expectedUntilMs === undefined) assert.equal(untilMs, undefined);
        else assert.ok(expectedUntilMs - untilMs! >= 0 && expectedUntilMs - untilMs! <= slackMs, key);
      }
    }),
    { numRuns: 1500 },
  );
  assert.ok(passed > 300, `only ${passed} batches passed`);
});

test("concurrent claims never take the same place of a group", async () => {
  const tenantId = freshTenant();
  const group = (itemId: string, state: Partial<GroupState>): OwnedGroup => {
    const ref = { kind: state.kind!, groupId: "g" };
    return { tenantId, ...ref, ...places, stored: false, state: { ...createEmptyGroup(ref), itemId, ...state } };
  };
  const many = Array.from({ length: 40 }, (_, nth) => `item ${nth}`);
  const singles = await Promise.all(
    many.map((id) => passes([group(id, { kind: "singleton", untilMs: nowMs + 1000 })])),
  );
  assert.equal(singles.filter(Boolean).length, 1);
});

test("groups that one statement saves keep their tenants and pools", async () => {
  const [tenantId, other] = [freshTenant(), freshTenant()];
  const [a, b, c] = [ulid(1), ulid(2), ulid(3)];
  const ref = { kind: "singleton", groupId: "g" } as const;
  const group = (fields: Partial<OwnedGroup>): OwnedGroup => {
    const state = createEmptyGroup({ ...ref, groupId: fields.groupId ?? ref.groupId });
    return { tenantId, ...ref, ...places, stored: false, state, ...fields };
  };
  const ofOneTenant = [group({ poolId: a, groupId: "a" }), group({ poolId: b, groupId: "b" })];
  const ofOnePool = [group({ poolId: c }), group({ poolId: c, tenantId: other })];
  for (const groups of [ofOneTenant, ofOnePool]) await saveGroups(db.sql, groups, nowMs);
  const poolsOf = async (owner: string) => {
    const rows = await db.sql<{ poolId: string }[]>`
      select pool_id from admission_groups where tenant_id = ${owner} order by pool_id`;
    return rows.map(({ poolId }) => poolId);
  };
  assert.deepEqual([await poolsOf(tenantId), await poolsOf(other)], [[a, b, c], [c]]);
});

/** Whether every group had a free place; claims all of them, or none. */
async function passes(groups: readonly OwnedGroup[]): Promise<boolean> {
  try {
    await db.transaction((tx) => claimPlaces(tx, groups, nowMs));
    return true;
  } catch (error) {
    if (isGroupFull(error)) return false;
    throw error;
  }
}

/** Admits items one after the other with the groups' states known. */
function admitAfterReading(batch: readonly Candidate[], left: readonly GroupState[]) {
  const states = new Map(left.map((state) => [groupKey(state), state]));
  const verdicts = batch.map((candidate) => {
    const { verdict, next } = admit(candidate, states);
    for (const state of next) states.set(groupKey(state), state);
    return verdict;
  });
  const touched = new Set(batch.flatMap(({ refs }) => refs.map(groupKey)));
  return { verdicts, states: new Map([...states].filter(([key, state]) => touched.has(key) && !left.includes(state))) };
}

/** The stored part of a verdict. */
function comparableVerdict({ perConstraint, ...verdict }: Verdict): object {
  return { ...verdict, rulings: perConstraint.map(({ kind, ruling }) => [kind, ruling]) };
}

async function statesOf(tenantId: string): Promise<ReadonlyMap<string, GroupState>> {
  const names = groupRefs.concat(constraintKinds.map((kind) => ({ kind, groupId: "g" })));
  const owned = await readGroups(
    db.sql,
    names.map((ref) => ({ tenantId: tenantId as OwnedGroup["tenantId"], ...ref })),
    false,
  );
  return new Map([...owned].map(([key, { state }]) => [key, state]));
}
