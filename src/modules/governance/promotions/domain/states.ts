import { fail } from "../../../../errors/index.ts";

export type CandidateState =
  | "created"
  | "preflight_passed"
  | "preflight_blocked"
  | "guardrails_passed"
  | "guardrails_failed"
  | "canary_running"
  | "canary_stopped"
  | "canary_failed"
  | "approved"
  | "promoted"
  | "rolled_back"
  | "aborted";

/** The calls that depend on the state. */
export type CandidateCall =
  | "preflight"
  | "evaluate_guardrails"
  | "start_canary"
  | "advance_canary"
  | "stop_canary"
  | "approve"
  | "promote"
  | "rollback"
  | "abort";

/** The states that a call can lead to, by state. A call that is not listed is refused. */
const transitions: Readonly<
  Record<CandidateState, Readonly<Partial<Record<CandidateCall, readonly CandidateState[]>>>>
> = {
  created: { preflight: ["preflight_passed", "preflight_blocked"], abort: ["aborted"] },
  preflight_passed: {
    preflight: ["preflight_passed", "preflight_blocked"],
    evaluate_guardrails: ["guardrails_passed", "guardrails_failed"],
    abort: ["aborted"],
  },
  preflight_blocked: { preflight: ["preflight_passed", "preflight_blocked"], abort: ["aborted"] },
  guardrails_passed: {
    preflight: ["preflight_passed", "preflight_blocked"],
    evaluate_guardrails: ["guardrails_passed", "guardrails_failed"],
    start_canary: ["canary_running"],
    abort: ["aborted"],
  },
  guardrails_failed: {
    preflight: ["preflight_passed", "preflight_blocked"],
    evaluate_guardrails: ["guardrails_passed", "guardrails_failed"],
    abort: ["aborted"],
  },
  canary_running: {
    advance_canary: ["canary_running"],
    stop_canary: ["canary_stopped", "canary_failed"],
    abort: ["aborted"],
  },
  // A canary that showed too little can go on, with the same keys. An approval that is not the last one needed changes no state.
  canary_stopped: { start_canary: ["canary_running"], approve: ["approved", "canary_stopped"], abort: ["aborted"] },
  // Running a failed canary until it passes would be cherry-picking.
  canary_failed: { abort: ["aborted"] },
  approved: { promote: ["promoted"], abort: ["aborted"] },
  promoted: { rollback: ["rolled_back"] },
  rolled_back: {},
  aborted: {},
};

/** Whether a candidate can still change its targets for the first time. */
export function isOpen(state: CandidateState): boolean {
  return "abort" in transitions[state];
}

/** The calls that are possible for a candidate whose approval is void: it can be given again. */
export const callsOfVoidApproval: readonly CandidateCall[] = ["approve", "abort"];

/** What the possible calls of a candidate depend on. */
interface Progress {
  readonly state: CandidateState;
  readonly canary: { readonly steps: readonly unknown[] } | null;
}

export function possibleCalls({ state, canary }: Progress): readonly CandidateCall[] {
  const calls = Object.keys(transitions[state]) as CandidateCall[];
  // Only a canary with steps can go on to another one.
  return calls.filter((call) => call !== "advance_canary" || (canary?.steps.length ?? 0) > 0);
}

/** Throws FAILED_PRECONDITION, with what is possible, if a candidate does not allow a call. */
export function requireCall(candidate: Progress, call: CandidateCall): void {
  const { state } = candidate;
  const possible = possibleCalls(candidate);
  if (possible.includes(call)) return;
  const text = possible.length === 0 ? "Nothing is possible any more." : `Possible: ${possible.join(", ")}.`;
  throw fail("FAILED_PRECONDITION", {
    public: `The candidate is ${state}, which does not allow ${call}. ${text}`,
    extra: { current_state: state, possible_calls: possible },
  });
}
