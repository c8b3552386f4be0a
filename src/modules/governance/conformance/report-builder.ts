import { hash } from "node:crypto";
import { canonicalJson } from "../../../platform/crypto/index.ts";
import type { CaseResult } from "./domain/case-result.ts";
import { type Build, type ConformanceReport, type ReportContent, sortResults, verdictOf } from "./domain/report.ts";
import type { ConformanceRun } from "./domain/run.ts";
import type { SuiteDescription } from "./domain/suite.ts";

/** Builds the report of a run. The order in which the results arrived does not matter. */
export function buildReport(
  { environmentId, mode }: ConformanceRun,
  suite: SuiteDescription,
  build: Build,
  results: readonly CaseResult[],
): Pick<ConformanceReport, "id" | "verdict" | "content"> {
  const cases = sortResults(results);
  const content: ReportContent = {
    ...{ format: 1, environmentId, suiteId: suite.id, suiteVersion: suite.version, mode, build, cases },
  };
  return { id: digestOf(content), verdict: verdictOf(cases), content };
}

/** The id of a report: the SHA-256 of its content in canonical JSON, with the names that REST responses have. */
function digestOf({ format, environmentId, suiteId, suiteVersion, mode, build, cases }: ReportContent): string {
  return hash(
    "sha256",
    canonicalJson({
      ...{ format, environment_id: environmentId, suite_id: suiteId, suite_version: suiteVersion, mode },
      build: { version: build.version, definitions_digest: build.definitionsDigest },
      cases: cases.map(({ caseId, status, reasonCode, reasonSubject, checks }) => ({
        ...{ case_id: caseId, status, reason_code: reasonCode, reason_subject: reasonSubject },
        checks: checks.map(({ name, passed, expected, observed }) => ({ name, passed, expected, observed })),
      })),
    }),
  );
}
