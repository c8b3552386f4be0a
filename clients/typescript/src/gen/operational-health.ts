// Generated from the definitions; do not edit.
import { bindOperations } from "../transport/bind.ts";
import type { CallOptions, Operation } from "../transport/operation.ts";
import type { Transport } from "../transport/transport.ts";
import type { List } from "../transport/list.ts";

/** Operational health: whether an environment works as it should, why not, and what to do. */
export interface OperationalHealthService {
  /** Returns the health report of an environment: a verdict, the reasons for it and the next steps. Every client gets the same report. A report is cached for 15 seconds. */
  getReport(request?: GetOperationalHealthReportRequest, options?: CallOptions): Promise<OperationalHealthReport>;

  /** Lists the scopes that the caller may get reports of: the environments of the caller's tenant. */
  listScopes(request?: ListOperationalHealthScopesRequest, options?: CallOptions): List<OperationalHealthScope>;
}

const operationalHealthServiceOperations = {
  getReport: { verb: "GET", path: "/api/operational-health/report" },
  listScopes: { verb: "GET", path: "/api/operational-health/scopes", result: "cursor" },
} as const satisfies Record<keyof OperationalHealthService, Operation>;

/** Creates the service over a transport. */
export function createOperationalHealthService(transport: Transport): OperationalHealthService {
  return bindOperations<OperationalHealthService>(transport, operationalHealthServiceOperations);
}

/** Request for a report. */
export type GetOperationalHealthReportRequest = {
  /** The key or the id of the environment; production if it is empty. */
  readonly environment?: string;
  /** The time to cover, for example "15m", "1h" or "7d"; one hour if it is empty. At least 5 minutes, and at most 7 days or the retention of workflow runs. */
  readonly period?: string;
};

/** The health of an environment at one time. It contains numbers and fixed texts only. */
export type OperationalHealthReport = {
  /** The SHA-256 of the ruleset's digest, the scope, the window and all numbers of the report. */
  readonly id: string;
  /** The version of this format. */
  readonly version: string;
  /** healthy, degraded, unhealthy or unknown. It is unknown if data is missing, stale, unavailable, skewed or unclassified. */
  readonly verdict: string;
  /** high if every signal was evaluated, medium if a sample was too small, none if the verdict is unknown. */
  readonly confidence: string;
  /** The codes of all findings, in the order of the ruleset. */
  readonly reason_codes: readonly string[];
  /** What the report is about. */
  readonly scope?: OperationalHealthScope;
  /** The time that the report covers. */
  readonly window?: OperationalHealthWindow;
  /** The rules of the verdict. */
  readonly ruleset?: OperationalHealthRuleset;
  /** The signals, in the order of the ruleset. */
  readonly signals: readonly OperationalHealthSignal[];
  /** How current the sources of the signals are. */
  readonly sources: readonly OperationalHealthSource[];
  /** The state of what the service depends on. */
  readonly dependencies: readonly OperationalHealthDependency[];
  /** What to do, the most important first. */
  readonly next_steps: readonly OperationalHealthNextStep[];
  /** When the report was computed, by the clock of the database. */
  readonly generated_at?: string;
};

/** The scope of health reports: an environment of a tenant. */
export type OperationalHealthScope = {
  /** The tenant. */
  readonly tenant_id: string;
  /** The environment. */
  readonly environment_id: string;
  /** The key of the environment. */
  readonly environment: string;
};

/** The time that a report covers. The end is aligned to 15 seconds. */
export type OperationalHealthWindow = {
  /** The first moment. */
  readonly start?: string;
  /** The first moment after the window. */
  readonly end?: string;
  /** The length in seconds. */
  readonly period_s: number;
};

/** The rules of a verdict. Rules of one version never change. */
export type OperationalHealthRuleset = {
  /** The version. */
  readonly version: string;
  /** The SHA-256 of the rules. */
  readonly digest: string;
};

/** One signal of a report. */
export type OperationalHealthSignal = {
  /** Its name, for example "ready_queue_depth". */
  readonly name: string;
  /** The display name. */
  readonly title: string;
  /** healthy, degraded, unhealthy, unknown, or not_evaluated if the sample is too small. */
  readonly level: string;
  /** The code of the finding; empty if there is none. */
  readonly reason_code: string;
  /** The unit of the value and its thresholds: count, percent, seconds or milliseconds. */
  readonly unit: string;
  /** The value; absent if it is not known. */
  readonly value?: number;
  /** The signal is degraded from this value. */
  readonly degraded_at?: number;
  /** The signal is unhealthy from this value. */
  readonly unhealthy_at?: number;
  /** The signal is unknown above this value. */
  readonly unknown_above?: number;
  /** The numbers behind the value. */
  readonly evidence: readonly OperationalHealthEvidence[];
};

/** A number behind the value of a signal. */
export type OperationalHealthEvidence = {
  /** Its name, for example "failed_runs". */
  readonly name: string;
  /** The number. */
  readonly value: number;
};

/** How current a source of signals is. */
export type OperationalHealthSource = {
  /** Its name, for example "workflow_runs". */
  readonly name: string;
  /** current, stale, skewed or missing. */
  readonly freshness: string;
  /** Seconds since its last heartbeat, rounded up; absent if there is none. */
  readonly age_s?: number;
  /** The difference between the clocks of the source and of the database, in milliseconds; absent if there is no heartbeat. */
  readonly clock_skew_ms?: number;
};

/** The state of something that the service depends on. */
export type OperationalHealthDependency = {
  /** Its name, for example "database". */
  readonly name: string;
  /** available, unavailable, not_configured, unclassified, stale or missing. */
  readonly state: string;
  /** Seconds since the last snapshot, rounded up; absent if there is none. */
  readonly age_s?: number;
};

/** What to do about a finding. */
export type OperationalHealthNextStep = {
  /** The code of the finding. */
  readonly reason_code: string;
  /** What to do. */
  readonly action: string;
  /** The path of the runbook in the documentation. */
  readonly runbook: string;
};

/** Request for the scopes of reports. */
export type ListOperationalHealthScopesRequest = {
  /** Maximum number of items per page. */
  readonly limit?: number;
  /** Cursor from a previous response; the first page when empty. */
  readonly cursor?: string;
  /** Number of items to skip. */
  readonly offset?: number;
};
