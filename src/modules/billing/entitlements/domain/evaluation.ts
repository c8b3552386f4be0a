/** How entitlements are enforced. */
export type EnforcementMode = "off" | "report" | "strict";

/** The result for a call: it passes, it passes without the entitlement, or it is denied. */
export type Verdict = "pass" | "grace" | "deny";

/** Why an evaluation has its verdict. */
export type Reason = "allowed" | "explicit_deny" | "missing" | "stale" | "unprovisioned" | "not_evaluated";

/** The part of a snapshot that is evaluated. */
export interface EntitlementState {
  readonly version: number;
  readonly freshUntilMs: number;
  readonly allow: ReadonlySet<string>;
  readonly deny: ReadonlySet<string>;
}

/** How an instance enforces entitlements. */
export interface Enforcement {
  readonly mode: EnforcementMode;
  /** Whether a tenant that never had a snapshot is admitted. */
  readonly graceUnprovisioned: boolean;
}

export interface Evaluation {
  readonly verdict: Verdict;
  readonly reason: Reason;
  /** Whether the call is recorded as evidence. */
  readonly evidence: boolean;
}

const notEvaluated: Evaluation = { verdict: "pass", reason: "not_evaluated", evidence: false };
const allowed: Evaluation = { verdict: "pass", reason: "allowed", evidence: false };
const denied: Evaluation = { verdict: "deny", reason: "explicit_deny", evidence: true };

/** Evaluates an entitlement. `state` is undefined for a tenant that never had a snapshot. */
export function evaluate(
  { mode, graceUnprovisioned }: Enforcement,
  state: EntitlementState | undefined,
  item: string,
  nowMs: number,
): Evaluation {
  // A deny counts in every mode, even if the snapshot is stale.
  if (state?.deny.has(item)) return denied;
  if (mode === "off") return notEvaluated;
  if (state === undefined && graceUnprovisioned) {
    return { verdict: "grace", reason: "unprovisioned", evidence: mode === "strict" };
  }
  const reason = lackOf(state, item, nowMs);
  if (reason === undefined) return allowed;
  return { verdict: mode === "strict" ? "deny" : "grace", reason, evidence: true };
}

/** The reason why a tenant lacks an entitlement; undefined if it has it. */
function lackOf(state: EntitlementState | undefined, item: string, nowMs: number): Reason | undefined {
  if (state === undefined) return "unprovisioned";
  if (!state.allow.has(item)) return "missing";
  return nowMs < state.freshUntilMs ? undefined : "stale";
}
