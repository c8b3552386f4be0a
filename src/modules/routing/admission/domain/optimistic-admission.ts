import type { AdmissionConfig } from "../../pools/index.ts";
import { admit, type Candidate, type Verdict } from "./admission.ts";
import { type GroupState, groupKey } from "./group.ts";

/** The result of admitting items under the assumption that their groups have room. */
export interface OptimisticAdmission {
  /** One per candidate, in order. */
  readonly verdicts: readonly Verdict[];
  /** The state of each group if no other item had ever used it. */
  readonly taken: readonly GroupState[];
}

/**
 * Admits items without reading their groups, under the assumption that no other item uses them. Returns undefined
 * if the groups must be read. The result is valid only if every group has room for what is taken; the code that
 * stores the items must verify that.
 */
export function admitOptimistically(candidates: readonly Candidate[]): OptimisticAdmission | undefined {
  const states = new Map<string, GroupState>();
  const throttles = new Map<string, AdmissionConfig["throttle"]>();
  const verdicts: Verdict[] = [];
  for (const candidate of candidates) {
    const { verdict, next } = admit(candidate, states);
    if (!isPlain(verdict)) return undefined;
    verdicts.push(verdict);
    for (const state of next) {
      const key = groupKey(state);
      const before = states.get(key);
      if (state.kind === "throttle") {
        const { throttle } = candidate.config;
        if (before !== undefined && throttles.get(key) !== throttle) return undefined;
        throttles.set(key, throttle);
      }
      states.set(key, state);
    }
  }
  return { verdicts, taken: [...states.values()] };
}

/**
 * Whether an item changes no other item and is not rejected. It may start a debounce window, or duplicate another
 * item of the same call.
 */
function isPlain({ status, supersedes, cancels, window }: Verdict): boolean {
  return status !== "rejected" && supersedes.length === 0 && cancels === "" && window === undefined;
}
