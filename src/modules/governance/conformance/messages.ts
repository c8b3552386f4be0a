import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import {
  type ConformanceExplanation,
  ConformanceExplanationSchema,
  ConformanceReportSchema,
  ConformanceRunSchema,
  ConformanceSuiteSchema,
  type ConformanceReport as ReportMessage,
  type ConformanceRun as RunMessage,
  type ConformanceSuite as SuiteMessage,
} from "../../../../gen/service/api/conformance_pb.ts";
import { optionalTime, stampFields } from "../../../platform/records/index.ts";
import type { Explanation } from "./domain/explanation.ts";
import { type ConformanceReport, coverageOf } from "./domain/report.ts";
import type { ConformanceRun } from "./domain/run.ts";
import type { SuiteDescription } from "./domain/suite.ts";

export function fromSuite({ id, name, description, version, cases }: SuiteDescription): SuiteMessage {
  return create(ConformanceSuiteSchema, {
    ...{ id, name, description, version },
    cases: cases.map((each) => ({
      ...{ id: each.id, guarantee: each.guarantee, dryRun: each.dryRun },
      capabilities: [...each.capabilities],
    })),
  });
}

export function fromRun(run: ConformanceRun): RunMessage {
  const { id, tenantId, environmentId, suiteId, mode, state, casesDone, casesTotal } = run;
  return create(ConformanceRunSchema, {
    ...{ id, tenantId, environmentId, suiteId, mode, state, casesDone, casesTotal },
    ...{ reportId: run.reportId, verdict: run.verdict, requestedBy: run.requestedBy },
    deadlineAt: timestampFromDate(run.deadlineAt),
    startedAt: optionalTime(run.startedAt),
    endedAt: optionalTime(run.endedAt),
    ...stampFields(run),
  });
}

/** Converts a report to its message; a summary has no cases. */
export function fromReport(report: ConformanceReport, form: "whole" | "summary"): ReportMessage {
  const { id, environmentId, suiteId, mode, verdict, content, producedCount, lastRunId } = report;
  const { not_applicable: notApplicable, ...counts } = coverageOf(content.cases);
  return create(ConformanceReportSchema, {
    ...{ id, environmentId, suiteId, suiteVersion: content.suiteVersion, mode, verdict, producedCount, lastRunId },
    build: { ...content.build },
    coverage: { ...counts, notApplicable },
    cases: form === "summary" ? [] : content.cases.map((each) => ({ ...each, checks: [...each.checks] })),
    firstProducedAt: timestampFromDate(report.firstProducedAt),
    lastProducedAt: timestampFromDate(report.lastProducedAt),
  });
}

export function fromExplanation({ cases, changes, ...rest }: Explanation): ConformanceExplanation {
  return create(ConformanceExplanationSchema, {
    ...rest,
    cases: cases.map((each) => ({ ...each, failedChecks: [...each.failedChecks] })),
    changes: [...changes],
  });
}
