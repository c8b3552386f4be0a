import { type Failure, fail } from "../../../../errors/index.ts";

export type RunStatus =
  | "pending"
  | "running"
  | "succeeded"
  | "failed"
  | "cancelled"
  | "lease_expired"
  | "deadline_exceeded";

/** The calls that depend on the status. Claim: a heartbeat without a token. Report: a receipt of the run. */
export type RunCall = "claim" | "heartbeat" | "report" | "cancel";

/** The next statuses by status and call. A call that is not listed is refused. Time ends pending and running runs too. */
const transitions: Readonly<Record<RunStatus, Readonly<Partial<Record<RunCall, readonly RunStatus[]>>>>> = {
  pending: { claim: ["running"], cancel: ["cancelled"] },
  running: { heartbeat: ["running"], report: ["succeeded", "failed"], cancel: ["cancelled"] },
  lease_expired: { claim: ["running"], cancel: ["cancelled"] },
  succeeded: {},
  failed: {},
  cancelled: {},
  deadline_exceeded: {},
};

export function possibleRunCalls(status: RunStatus): readonly RunCall[] {
  return Object.keys(transitions[status]) as RunCall[];
}

export function hasEnded(status: RunStatus): boolean {
  return possibleRunCalls(status).length === 0;
}

/** Throws FAILED_PRECONDITION, with what is possible, if the status does not allow a call. */
export function requirePossible(status: RunStatus, call: RunCall): void {
  if (transitions[status][call] !== undefined) return;
  throw fail("FAILED_PRECONDITION", {
    public: `The run is ${described(status)}, which does not allow ${call}. ${possibleText(status)}`,
    extra: refusalFields(status),
  });
}

/** The failure of a call whose token does not hold the lease. */
export function leaseLost(status: RunStatus): Failure {
  return fail("LEASE_LOST", {
    public: `The token does not hold the lease of the run, which is ${described(status)}. ${possibleText(status)}`,
    extra: refusalFields(status),
  });
}

function possibleText(status: RunStatus): string {
  const possible = possibleRunCalls(status);
  return possible.length === 0 ? "Nothing more is possible; start another run." : `Possible: ${possible.join(", ")}.`;
}

function refusalFields(status: RunStatus) {
  return { current_status: status, possible_calls: possibleRunCalls(status) };
}

function described(status: RunStatus): string {
  return status.replace("_", " ");
}
