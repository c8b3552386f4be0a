import { unreachable } from "../../../../errors/index.ts";
import type { CaseResult, Check, ReasonCode } from "./case-result.ts";
import { type ConformanceReport, coverageOf } from "./report.ts";
import type { SuiteDescription } from "./suite.ts";

/** The meaning of a case's result. */
export interface CaseExplanation {
  readonly caseId: string;
  readonly status: CaseResult["status"];
  readonly guarantee: string;
  readonly reason: string;
  readonly nextStep: string;
  readonly failedChecks: readonly Check[];
}

/** A case whose status differs between two reports. */
export interface StatusChange {
  readonly caseId: string;
  readonly before: string;
  readonly after: string;
}

export interface Explanation {
  readonly reportId: string;
  readonly suiteId: string;
  readonly verdict: ConformanceReport["verdict"];
  readonly summary: string;
  readonly cases: readonly CaseExplanation[];
  readonly previousReportId: string;
  readonly changes: readonly StatusChange[];
}

const order: Readonly<Record<CaseResult["status"], number>> = { failed: 0, blocked: 1, not_applicable: 2, passed: 3 };

/** Explains a report. `suite` describes its cases; a case that the suite no longer has keeps its id as its guarantee. */
export function explainReport(
  report: ConformanceReport,
  previous: ConformanceReport | undefined,
  suite: SuiteDescription | undefined,
  caseId: string,
): Explanation {
  const guarantees = new Map(suite?.cases.map(({ id, guarantee }) => [id, guarantee]));
  const isWanted = (each: { readonly caseId: string }) => caseId === "" || each.caseId === caseId;
  return {
    reportId: report.id,
    suiteId: report.suiteId,
    verdict: report.verdict,
    summary: summaryOf(report),
    cases: report.content.cases
      .filter(isWanted)
      .map((result) => explainCase(result, guarantees.get(result.caseId) ?? result.caseId))
      .sort((a, b) => order[a.status] - order[b.status]),
    previousReportId: previous?.id ?? "",
    changes: previous === undefined ? [] : changesBetween(previous, report).filter(isWanted),
  };
}

/** The cases whose status differs, in the order of their ids. */
function changesBetween(before: ConformanceReport, after: ConformanceReport): StatusChange[] {
  const earlier = new Map(before.content.cases.map(({ caseId, status }) => [caseId, status]));
  const later = new Map(after.content.cases.map(({ caseId, status }) => [caseId, status]));
  return [...new Set([...earlier.keys(), ...later.keys()])]
    .sort()
    .map((caseId) => ({ caseId, before: earlier.get(caseId) ?? "", after: later.get(caseId) ?? "" }))
    .filter(({ before, after }) => before !== after);
}

function summaryOf({ verdict, mode, content: { cases } }: ConformanceReport): string {
  const { passed, failed, blocked, total, not_applicable: off } = coverageOf(cases);
  const applicable = total - off;
  switch (verdict) {
    case "passed":
      return `All ${applicable} applicable cases passed.`;
    case "failed":
      return `${failed} of ${applicable} applicable cases failed.`;
    case "incomplete":
      if (applicable === 0) return "No case applies: the capabilities of the suite are off.";
      return `${passed} of ${applicable} applicable cases passed; ${blocked} could not be decided${mode === "dry_run" ? " without a sandbox environment" : ""}.`;
    default:
      return unreachable(verdict);
  }
}

function explainCase(result: CaseResult, guarantee: string): CaseExplanation {
  const { caseId, status, reasonCode, reasonSubject, checks } = result;
  const failedChecks = checks.filter(({ passed }) => !passed);
  const [reason, nextStep] = reasons[reasonCode](reasonSubject, failedChecks.length, checks.length);
  return { caseId, status, guarantee, reason, nextStep, failedChecks };
}

type Explain = (subject: string, failed: number, total: number) => readonly [reason: string, nextStep: string];

const reasons: Readonly<Record<ReasonCode | "", Explain>> = {
  "": (_subject, _failed, total) => [`All ${total} checks passed.`, ""],
  check_failed: (_subject, failed, total) => [
    `${failed} of ${total} checks failed.`,
    "Do not promote this build. Compare it with the build of the previous report.",
  ],
  unexpected_error: (subject) => [
    `A call failed with ${subject}, which the case does not expect.`,
    "Run the suite again. If it fails again, do not promote this build, and read the log of the node.",
  ],
  timed_out: () => [
    "The case did not end in time.",
    "Run the suite again when the instance has less load, and check that its background work is healthy.",
  ],
  needs_sandbox: () => [
    "The case makes changes, and the run was a dry run.",
    "Run the suite for a sandbox environment without dry_run.",
  ],
  refused: (subject) => [
    `A limit of the instance refused a call with ${subject}, so the case could not be decided.`,
    "Run the suite again later, or ask the operator to raise the limit for new tenants.",
  ],
  capability_off: (subject) => [
    `The capability ${subject} is off.`,
    `If callers need it, enable ${subject} as GET /api/capabilities says.`,
  ],
  setting_off: (subject) => [
    `The setting ${subject} turns the guarantee off.`,
    `If callers need the guarantee, change ${subject}.`,
  ],
};
