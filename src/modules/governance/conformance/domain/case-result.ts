import { catalogue } from "../../../../errors/index.ts";

/** The status of a case: `blocked` could not be decided or is turned off, `not_applicable` needs a capability that is off. */
export type CaseStatus = "passed" | "failed" | "blocked" | "not_applicable";

/** Why a case did not pass. */
export type ReasonCode =
  | "check_failed"
  | "unexpected_error"
  | "timed_out"
  | "needs_sandbox"
  | "refused"
  | "capability_off"
  | "setting_off";

/** A value that a check compares. */
export type Fact = boolean | number | string;

/** One check of a case. */
export interface Check {
  readonly name: string;
  readonly passed: boolean;
  readonly expected: string;
  readonly observed: string;
}

/** The result of a case. It contains only texts of this service, so that nothing from a response can reach a report. */
export interface CaseResult {
  readonly caseId: string;
  readonly status: CaseStatus;
  readonly reasonCode: ReasonCode | "";
  /** The error code, setting or capability that the reason is about. */
  readonly reasonSubject: string;
  readonly checks: readonly Check[];
}

/** Replaces an observed text that is neither expected nor an error code. */
const otherText = "other";

/**
 * Compares an observation with what is expected. An observed text appears only if it equals the expected one or is an error
 * code: other texts may contain anything. Numbers and booleans cannot.
 */
export function checkFact(name: string, observed: Fact, expected: Fact): Check {
  const passed = observed === expected;
  return { name, passed, expected: String(expected), observed: passed ? String(expected) : showFact(observed) };
}

function showFact(observed: Fact): string {
  return typeof observed === "string" ? knownCode(observed) : String(observed);
}

/** An error code of the catalogue, or `other`. */
export function knownCode(code: string): string {
  return Object.hasOwn(catalogue, code) ? code : otherText;
}

/** The result of a case that ran to its end. */
export function decide(caseId: string, checks: readonly Check[]): CaseResult {
  const failed = checks.some(({ passed }) => !passed);
  return {
    caseId,
    status: failed ? "failed" : "passed",
    reasonCode: failed ? "check_failed" : "",
    reasonSubject: "",
    checks,
  };
}

/** The status that follows from each reason other than a failed check. */
const statusByReason = {
  unexpected_error: "failed",
  timed_out: "failed",
  needs_sandbox: "blocked",
  refused: "blocked",
  capability_off: "not_applicable",
  setting_off: "blocked",
} as const satisfies Partial<Record<ReasonCode, CaseStatus>>;

/** The result of a case that did not run to its end. */
export function undecided(
  caseId: string,
  reasonCode: keyof typeof statusByReason,
  reasonSubject: string,
  checks: readonly Check[] = [],
): CaseResult {
  return { caseId, status: statusByReason[reasonCode], reasonCode, reasonSubject, checks };
}

/** Errors by which limits of the instance keep a case from being decided. They say nothing about the guarantee. */
export const limitCodes: ReadonlySet<string> = new Set([
  "ENTITLEMENT_DENIED",
  "QUOTA_EXCEEDED",
  "RATE_LIMITED",
  "UNAVAILABLE",
  "FEATURE_DISABLED",
]);
