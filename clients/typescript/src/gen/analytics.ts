// Generated from the definitions; do not edit.
import { bindOperations } from "../transport/bind.ts";
import type { CallOptions, Operation } from "../transport/operation.ts";
import type { Transport } from "../transport/transport.ts";

/** Analytics: the metrics of a tenant over time. Unless analytics.enabled is true, these operations do not exist. */
export interface AnalyticsService {
  /** Queries metrics of the catalogue over a time range, in PromQL. Every selector is restricted to the caller's tenant. */
  query(request: QueryAnalyticsRequest, options?: CallOptions): Promise<AnalyticsResult>;

  /** Returns the metrics that can be queried, with the functions and the limits of queries. */
  getCatalog(request?: GetAnalyticsCatalogRequest, options?: CallOptions): Promise<AnalyticsCatalog>;
}

const analyticsServiceOperations = {
  query: { verb: "POST", path: "/api/v1/analytics/query", body: "*" },
  getCatalog: { verb: "GET", path: "/api/v1/analytics/catalog" },
} as const satisfies Record<keyof AnalyticsService, Operation>;

/** Creates the service over a transport. */
export function createAnalyticsService(transport: Transport): AnalyticsService {
  return bindOperations<AnalyticsService>(transport, analyticsServiceOperations);
}

/** A query over a time range. */
export type QueryAnalyticsRequest = {
  /** The query: metrics of the catalogue, its functions and aggregations, arithmetic, comparisons and and, or, unless. Not part of it: subqueries, offset, @, on, ignoring, and the label tenant_id. */
  readonly query: string;
  /** The start of the range; an hour before its end when absent. */
  readonly start?: string | Date;
  /** The end of the range; now when absent. At most 31 days after the start. */
  readonly end?: string | Date;
  /** Seconds between two points; chosen from the length of the range when 0. At most 11,000 points are computed. */
  readonly step_s?: number;
};

/** Series over a time range. */
export type AnalyticsResult = {
  /** The query that was executed, with the tenant's restriction. */
  readonly executed_query: string;
  /** The start of the range. */
  readonly start?: string;
  /** The end of the range. */
  readonly end?: string;
  /** Seconds between two points. */
  readonly step_s: number;
  /** The series, 1,000 at most. */
  readonly series: readonly AnalyticsSeries[];
};

/** The values of one combination of labels. */
export type AnalyticsSeries = {
  /** The name of the metric; empty for a computed series. */
  readonly metric: string;
  /** The labels. Labels that identify a node are replaced by the label node, a number that is valid within this response. */
  readonly labels: Readonly<Record<string, string>>;
  /** The points, in the order of time. */
  readonly points: readonly AnalyticsPoint[];
};

/** A value at a time. */
export type AnalyticsPoint = {
  /** The time. */
  readonly at?: string;
  /** The value. */
  readonly value: number;
};

/** Requests the catalogue. */
export type GetAnalyticsCatalogRequest = Record<never, never>;

/** What can be queried. */
export type AnalyticsCatalog = {
  /** The metrics, ordered by name. */
  readonly metrics: readonly AnalyticsMetric[];
  /** The functions that a query may call. */
  readonly functions: readonly string[];
  /** The aggregations that a query may use. */
  readonly aggregations: readonly string[];
  /** The limits of a query. */
  readonly limits?: AnalyticsLimits;
};

/** A metric. */
export type AnalyticsMetric = {
  /** The name. */
  readonly name: string;
  /** counter, gauge, histogram or summary. */
  readonly type: string;
  /** What it measures. */
  readonly description: string;
  /** The labels that queries may use. */
  readonly labels: readonly string[];
  /** The names of its series in a query, such as the buckets of a histogram. */
  readonly series: readonly string[];
  /** tenant: the series are those of the caller's tenant. deployment: they are those of the whole deployment. */
  readonly scope: string;
};

/** The limits of a query. */
export type AnalyticsLimits = {
  /** The size of the query, in bytes. */
  readonly query_bytes_max: number;
  /** The number of selectors. */
  readonly selectors_max: number;
  /** The nesting of expressions. */
  readonly depth_max: number;
  /** The longest window of a range selector such as [5m], in seconds. */
  readonly window_s_max: number;
  /** The longest time range, in seconds. */
  readonly range_s_max: number;
  /** The number of points of a series. */
  readonly points_max: number;
  /** The number of series of a result. */
  readonly series_max: number;
  /** The number of points of a result. */
  readonly result_points_max: number;
  /** The time that a query may take, in seconds. */
  readonly timeout_s: number;
};
