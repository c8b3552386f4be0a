import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../../../../test/harness/random.ts";
import type { AdmissionConfig } from "../../pools/index.ts";
import { admit } from "./admission.ts";
import { selectAdmissionRefs } from "./constraint-stage.ts";
import { constraintKinds, createEmptyGroup, type GroupRef, type GroupState, groupKey } from "./group.ts";

const nowMs = 1_800_000_000_000;
const all: AdmissionConfig = {
  singleton: { key: "", mode: "replace_pending", ttlS: 60 },
  debounce: { key: "", periodS: 1, maxDelayS: 5, take: "last" },
  throttle: { key: "", limit: 1, periodS: 1, burst: 0, cost: 1, onLimit: "reject" },
  concurrency: { key: "", limit: 1, scope: "pool" },
};
const kindsOf = fc.subarray([...constraintKinds]);
const used = (ref: GroupRef): GroupState => ({
  ...createEmptyGroup(ref),
  itemId: "other",
  sinceMs: nowMs - 500,
  untilMs: nowMs + 500,
  tatMs: nowMs + 5000,
  slots: 1,
  inUse: 1,
});

function candidateOf(kinds: readonly (typeof constraintKinds)[number][]) {
  const refs = kinds.map((kind) => ({ kind, groupId: kind }));
  const config: AdmissionConfig = Object.fromEntries(kinds.map((kind) => [kind, all[kind]]));
  return { itemId: "new", refs, config, nowMs };
}

function statesOf(refs: readonly GroupRef[]): ReadonlyMap<string, GroupState> {
  return new Map(refs.map((ref) => [groupKey(ref), used(ref)]));
}

test("admission reads and changes only the groups that are evaluated on admission", () => {
  fc.assert(
    fc.property(kindsOf, (kinds) => {
      const candidate = candidateOf(kinds);
      const groups = selectAdmissionRefs(candidate.refs, candidate.config);
      const known = admit(candidate, statesOf(groups));
      assert.deepEqual(known, admit(candidate, statesOf(candidate.refs)));
      for (const state of known.next) assert.ok(groups.some(({ kind }) => kind === state.kind));
    }),
  );
});
