import { type AdmissionConfig, admit, type Candidate, type GroupState, groupKey, type Verdict } from "./admission.ts";

/** What letting items in comes to when no group stands in their way. */
export interface Passage {
  /** One for each candidate, in order. */
  readonly verdicts: readonly Verdict[];
  /** What they take of each group: its state as it would be if nobody else had ever used it. */
  readonly taken: readonly GroupState[];
}

/**
 * Lets items in on the assumption that nobody else has or wants the places that they ask for; undefined when that cannot
 * be told without a look at their groups. It holds only where every group has room for what is taken of it, which
 * whoever keeps the items has to make sure of.
 */
export function passAll(candidates: readonly Candidate[]): Passage | undefined {
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

/** Nobody has to go for it, and nothing but a window that it begins has it wait. What it repeats is one of these. */
function isPlain({ status, supersedes, cancels }: Verdict): boolean {
  return status !== "rejected" && supersedes.length === 0 && cancels === "";
}
