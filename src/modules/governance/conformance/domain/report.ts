import type { CaseResult, CaseStatus } from "./case-result.ts";
import type { ConformanceRun, Verdict } from "./run.ts";

/** The build that a report is about. */
export interface Build {
  readonly version: string;
  /** The SHA-256 of the API definitions. */
  readonly definitionsDigest: string;
}

/** The content of a report. It holds nothing that differs between runs of the same build in the same state. */
export interface ReportContent extends Pick<ConformanceRun, "environmentId" | "suiteId" | "mode"> {
  readonly format: 1;
  readonly suiteVersion: number;
  readonly build: Build;
  /** In the order of their ids. */
  readonly cases: readonly CaseResult[];
}

/** A stored report. */
export interface ConformanceReport
  extends Pick<ConformanceRun, "environmentId" | "environmentKey" | "suiteId" | "mode"> {
  readonly id: string;
  readonly verdict: Verdict;
  readonly content: ReportContent;
  readonly producedCount: number;
  readonly lastRunId: string;
  readonly firstProducedAt: Date;
  readonly lastProducedAt: Date;
}

/** The number of cases by status. */
export type Coverage = Readonly<Record<CaseStatus, number>> & {
  readonly total: number;
  /** The share of applicable cases that were decided. */
  readonly decidedShare: number;
};

/** Puts results into the order that reports have. */
export function sortResults(results: readonly CaseResult[]): CaseResult[] {
  return results.toSorted((a, b) => (a.caseId < b.caseId ? -1 : 1));
}

export function coverageOf(cases: readonly CaseResult[]): Coverage {
  const counts = { passed: 0, failed: 0, blocked: 0, not_applicable: 0 };
  for (const { status } of cases) counts[status]++;
  const applicable = cases.length - counts.not_applicable;
  const decided = counts.passed + counts.failed;
  return { ...counts, total: cases.length, decidedShare: applicable === 0 ? 0 : decided / applicable };
}

/** The verdict. A suite of which nothing applies is incomplete: it shows nothing. */
export function verdictOf(cases: readonly CaseResult[]): Verdict {
  const { failed, blocked, passed } = coverageOf(cases);
  if (failed > 0) return "failed";
  return blocked > 0 || passed === 0 ? "incomplete" : "passed";
}
