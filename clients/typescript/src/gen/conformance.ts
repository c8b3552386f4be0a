// Generated from the definitions; do not edit.
import { bindOperations } from "../transport/bind.ts";
import type { CallOptions, Operation } from "../transport/operation.ts";
import type { Transport } from "../transport/transport.ts";
import type { List } from "../transport/list.ts";

/** Runtime conformance: checks that this instance keeps its guarantees, by calling it as its callers do. Runs work in a scratch tenant of their own and never touch records of the caller's tenant. */
export interface ConformanceService {
  /** Lists the suites. */
  listSuites(request?: ListConformanceSuitesRequest, options?: CallOptions): List<ConformanceSuite>;

  /** Returns one suite with its cases. */
  getSuite(request: GetConformanceSuiteRequest, options?: CallOptions): Promise<ConformanceSuite>;

  /** Runs a suite for an environment. A live environment accepts only a dry run, which makes no change and leaves out the cases that need one. The run is executed in the background; with wait_s the response contains its report if it ends in time. */
  runSuite(request: RunConformanceSuiteRequest, options?: CallOptions): Promise<RunConformanceSuiteResponse>;

  /** Returns one run. With wait_s the call waits for its end. */
  getRun(request: GetConformanceRunRequest, options?: CallOptions): Promise<ConformanceRun>;

  /** Lists runs, newest first. */
  listRuns(request?: ListConformanceRunsRequest, options?: CallOptions): List<ConformanceRun>;

  /** Cancels a run that has not ended. It leaves no report. */
  cancelRun(request: CancelConformanceRunRequest, options?: CallOptions): Promise<ConformanceRun>;

  /** Lists reports without their cases, the most recently produced first. */
  listReports(request?: ListConformanceReportsRequest, options?: CallOptions): List<ConformanceReport>;

  /** Returns one report with its cases. */
  getReport(request: GetConformanceReportRequest, options?: CallOptions): Promise<ConformanceReport>;

  /** Explains a report: what each case means for callers, what to do about those that did not pass, and what changed since the previous report of the suite. */
  explainReport(request: ExplainConformanceReportRequest, options?: CallOptions): Promise<ConformanceExplanation>;
}

const conformanceServiceOperations = {
  listSuites: { verb: "GET", path: "/api/runtime-conformance/suites", result: "cursor" },
  getSuite: { verb: "GET", path: "/api/runtime-conformance/suites/{suite_id}" },
  runSuite: { verb: "POST", path: "/api/runtime-conformance/suites/{suite_id}:run", body: "*", keyed: true },
  getRun: { verb: "GET", path: "/api/runtime-conformance/runs/{environment_id}/{run_id}" },
  listRuns: { verb: "GET", path: "/api/runtime-conformance/runs", result: "cursor" },
  cancelRun: { verb: "POST", path: "/api/runtime-conformance/runs/{environment_id}/{run_id}:cancel", body: "*", keyed: true },
  listReports: { verb: "GET", path: "/api/runtime-conformance/reports", result: "cursor" },
  getReport: { verb: "GET", path: "/api/runtime-conformance/reports/{environment_id}/{report_id}" },
  explainReport: { verb: "POST", path: "/api/runtime-conformance/reports/{environment_id}:explain", body: "*" },
} as const satisfies Record<keyof ConformanceService, Operation>;

/** Creates the service over a transport. */
export function createConformanceService(transport: Transport): ConformanceService {
  return bindOperations<ConformanceService>(transport, conformanceServiceOperations);
}

/** Request for a page of suites. */
export type ListConformanceSuitesRequest = {
  /** Maximum number of items per page. */
  readonly limit?: number;
  /** Cursor from a previous response; the first page when empty. */
  readonly cursor?: string;
  /** Number of items to skip. */
  readonly offset?: number;
};

/** A suite of cases about one surface. */
export type ConformanceSuite = {
  /** The stable id: runtime, bridge, worker-protocol, mcp, connector-lifecycle or admission. */
  readonly id: string;
  /** The name. */
  readonly name: string;
  /** What the suite is about. */
  readonly description: string;
  /** The version, which changes with its cases. */
  readonly version: number;
  /** The cases. */
  readonly cases: readonly ConformanceCase[];
};

/** A case: one guarantee and how it is checked. */
export type ConformanceCase = {
  /** The stable id, such as worker.lease-exclusive. Its meaning never changes. */
  readonly id: string;
  /** The guarantee. */
  readonly guarantee: string;
  /** The capabilities that the case needs, as in GET /api/capabilities. The case is not applicable while one of them is off. */
  readonly capabilities: readonly string[];
  /** Whether a dry run includes the case. */
  readonly dry_run: boolean;
};

/** Identifies a suite. */
export type GetConformanceSuiteRequest = {
  /** The suite. */
  readonly suite_id: string;
};

/** Request to run a suite. */
export type RunConformanceSuiteRequest = {
  /** The suite. */
  readonly suite_id: string;
  /** The id or the key of the environment; production when empty. */
  readonly environment_id?: string;
  /** Makes no change, not even in the scratch tenant. Cases that need a change are reported as blocked. */
  readonly dry_run?: boolean;
  /** Seconds until the run ends at the latest; at most and by default conformance.run_timeout_s. */
  readonly timeout_s?: number;
  /** Seconds to wait for the end of the run. */
  readonly wait_s?: number;
};

/** The run that was requested. */
export type RunConformanceSuiteResponse = {
  /** The run. */
  readonly run?: ConformanceRun;
  /** The report, if the run has ended with one. */
  readonly report?: ConformanceReport;
};

/** A run of a suite. */
export type ConformanceRun = {
  /** The id, a ULID. */
  readonly id: string;
  /** The owning tenant. */
  readonly tenant_id: string;
  /** The environment that the report is about. */
  readonly environment_id: string;
  /** The suite. */
  readonly suite_id: string;
  /** sandbox or dry_run. */
  readonly mode: string;
  /** queued, running, completed (it has a report), cancelled, deadline_exceeded or failed. */
  readonly state: string;
  /** The number of cases that have ended. */
  readonly cases_done: number;
  /** The number of cases. */
  readonly cases_total: number;
  /** The report of a completed run. */
  readonly report_id: string;
  /** The verdict of the report: passed, failed or incomplete. */
  readonly verdict: string;
  /** Who requested it. */
  readonly requested_by: string;
  /** When the run ends at the latest. */
  readonly deadline_at?: string;
  /** When it began. */
  readonly started_at?: string;
  /** When it ended. */
  readonly ended_at?: string;
  /** When it was requested. */
  readonly created_at?: string;
  /** When it last changed. */
  readonly updated_at?: string;
  /** The version of the record. */
  readonly record_version: number;
};

/** A report: what a suite found about a build in an environment. The same build and state give the same report. */
export type ConformanceReport = {
  /** The SHA-256 of the content in canonical JSON (RFC 8785), in hexadecimal digits. */
  readonly id: string;
  /** The environment. */
  readonly environment_id: string;
  /** The suite. */
  readonly suite_id: string;
  /** The version of the suite. */
  readonly suite_version: number;
  /** sandbox or dry_run. */
  readonly mode: string;
  /** The build. */
  readonly build?: ConformanceBuild;
  /** passed, failed (a case failed) or incomplete (none failed, but some could not be decided). */
  readonly verdict: string;
  /** The number of cases by status. */
  readonly coverage?: ConformanceCoverage;
  /** The results, in the order of the case ids. Lists do not contain them. */
  readonly cases: readonly ConformanceCaseResult[];
  /** How many runs produced it. This and the following fields are not part of the content. */
  readonly produced_count: number;
  /** The run that produced it last. */
  readonly last_run_id: string;
  /** When it was first produced. */
  readonly first_produced_at?: string;
  /** When it was last produced. */
  readonly last_produced_at?: string;
};

/** The build that was examined. */
export type ConformanceBuild = {
  /** The version of the service. */
  readonly version: string;
  /** The SHA-256 of its API definitions. */
  readonly definitions_digest: string;
};

/** The number of cases by status. */
export type ConformanceCoverage = {
  /** All cases of the suite. */
  readonly total: number;
  /** Cases that passed. */
  readonly passed: number;
  /** Cases that failed. */
  readonly failed: number;
  /** Cases that could not be decided. */
  readonly blocked: number;
  /** Cases whose capability is off. */
  readonly not_applicable: number;
  /** The share of applicable cases that were decided, from 0 to 1. */
  readonly decided_share: number;
};

/** The result of a case. */
export type ConformanceCaseResult = {
  /** The id of the case. */
  readonly case_id: string;
  /** passed, failed, blocked (it could not be decided, or a setting turns its guarantee off) or not_applicable (a capability that it needs is off). */
  readonly status: string;
  /** Why it did not pass: check_failed, unexpected_error, timed_out, needs_sandbox, refused (by a limit), capability_off or setting_off; empty if it passed. */
  readonly reason_code: string;
  /** The error code, setting or capability that the reason is about; empty if there is none. */
  readonly reason_subject: string;
  /** What was checked, in order. */
  readonly checks: readonly ConformanceCheck[];
};

/** What a case checked. */
export type ConformanceCheck = {
  /** What was checked. */
  readonly name: string;
  /** Whether it is as expected. */
  readonly passed: boolean;
  /** The expected value. */
  readonly expected: string;
  /** The observed value; "other" if it is neither an error code, a number nor a value that the check names. */
  readonly observed: string;
};

/** Identifies a run. */
export type GetConformanceRunRequest = {
  /** The id or the key of the environment. */
  readonly environment_id: string;
  /** The run. */
  readonly run_id: string;
  /** Seconds to wait for the end of the run. */
  readonly wait_s?: number;
};

/** Request for a page of runs. */
export type ListConformanceRunsRequest = {
  /** Maximum number of items per page. */
  readonly limit?: number;
  /** Cursor from a previous response; the first page when empty. */
  readonly cursor?: string;
  /** Number of items to skip. */
  readonly offset?: number;
  /** Only those of this environment: its id or its key. */
  readonly environment_id?: string;
  /** Only those of this suite. */
  readonly suite_id?: string;
  /** Only those in this state. */
  readonly state?: "" | "queued" | "running" | "completed" | "cancelled" | "deadline_exceeded" | "failed";
};

/** Identifies a run. */
export type CancelConformanceRunRequest = {
  /** The id or the key of the environment. */
  readonly environment_id: string;
  /** The run. */
  readonly run_id: string;
};

/** Request for a page of reports. */
export type ListConformanceReportsRequest = {
  /** Maximum number of items per page. */
  readonly limit?: number;
  /** Cursor from a previous response; the first page when empty. */
  readonly cursor?: string;
  /** Number of items to skip. */
  readonly offset?: number;
  /** Only those of this environment: its id or its key. */
  readonly environment_id?: string;
  /** Only those of this suite. */
  readonly suite_id?: string;
  /** Only those with this verdict. */
  readonly verdict?: "" | "passed" | "failed" | "incomplete";
};

/** Identifies a report. */
export type GetConformanceReportRequest = {
  /** The id or the key of the environment. */
  readonly environment_id: string;
  /** The report. */
  readonly report_id: string;
};

/** Request to explain a report. */
export type ExplainConformanceReportRequest = {
  /** The id or the key of the environment. */
  readonly environment_id: string;
  /** The report; the one that was produced last when empty. */
  readonly report_id?: string;
  /** With an empty report_id: only reports of this suite. */
  readonly suite_id?: string;
  /** Only this case; all cases when empty. */
  readonly case_id?: string;
};

/** The explanation of a report. */
export type ConformanceExplanation = {
  /** The report. */
  readonly report_id: string;
  /** The suite. */
  readonly suite_id: string;
  /** passed, failed or incomplete. */
  readonly verdict: string;
  /** The verdict in a sentence. */
  readonly summary: string;
  /** The cases, those that did not pass first. */
  readonly cases: readonly ConformanceCaseExplanation[];
  /** The report of the suite that was produced before this one, in the same mode; empty if there is none. */
  readonly previous_report_id: string;
  /** The cases whose status changed since then. */
  readonly changes: readonly ConformanceChange[];
};

/** What a case's result means. */
export type ConformanceCaseExplanation = {
  /** The id of the case. */
  readonly case_id: string;
  /** passed, failed, blocked or not_applicable. */
  readonly status: string;
  /** The guarantee. */
  readonly guarantee: string;
  /** Why the status is what it is. */
  readonly reason: string;
  /** What to do about it; empty if nothing has to be done. */
  readonly next_step: string;
  /** The checks that failed. */
  readonly failed_checks: readonly ConformanceCheck[];
};

/** A case whose status differs from the previous report. */
export type ConformanceChange = {
  /** The id of the case. */
  readonly case_id: string;
  /** The status in the previous report; empty if the case is new. */
  readonly before: string;
  /** The status in this report; empty if the case no longer exists. */
  readonly after: string;
};
