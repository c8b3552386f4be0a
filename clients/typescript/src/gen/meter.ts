// Generated from the definitions; do not edit.
import { bindOperations } from "../transport/bind.ts";
import type { CallOptions, Operation } from "../transport/operation.ts";
import type { Transport } from "../transport/transport.ts";
import type { List } from "../transport/list.ts";

/** Meters: what is counted. The service counts its own meters; callers report usage of the others. */
export interface MeterService {
  /** Creates a meter. Only an operator may do so. */
  create(request: CreateMeterRequest, options?: CallOptions): Promise<Meter>;

  /** Returns a meter. */
  get(request: GetMeterRequest, options?: CallOptions): Promise<Meter>;

  /** Lists the meters. */
  list(request?: ListMetersRequest, options?: CallOptions): List<Meter>;

  /** Archives a meter: it accepts no more usage, and its usage stays. Only an operator may do so. */
  archive(request: ArchiveMeterRequest, options?: CallOptions): Promise<Meter>;

  /** Records usage of meters. Usage that is recorded already has no effect, so that a request can be repeated. A transaction id that is used again with another content is refused with TRANSACTION_ID_REUSED, and nothing of the call is recorded. */
  recordUsage(request: RecordUsageRequest, options?: CallOptions): Promise<RecordUsageResponse>;

  /** Returns the usage of meters in a time range. */
  getUsage(request?: GetUsageRequest, options?: CallOptions): Promise<GetUsageResponse>;
}

const meterServiceOperations = {
  create: { verb: "POST", path: "/api/v2/billing/meters", body: "*", keyed: true },
  get: { verb: "GET", path: "/api/v2/billing/meters/{meter_key}" },
  list: { verb: "GET", path: "/api/v2/billing/meters", result: "cursor" },
  archive: { verb: "POST", path: "/api/v2/billing/meters/{meter_key}:archive", body: "*", keyed: true },
  recordUsage: { verb: "POST", path: "/api/v2/billing/usage", body: "*", keyed: true },
  getUsage: { verb: "GET", path: "/api/v2/billing/usage" },
} as const satisfies Record<keyof MeterService, Operation>;

/** Creates the service over a transport. */
export function createMeterService(transport: Transport): MeterService {
  return bindOperations<MeterService>(transport, meterServiceOperations);
}

/** How the usage of a time range follows from its records. */
export type MeterAggregation = "AGGREGATION_UNSPECIFIED" | "AGGREGATION_SUM" | "AGGREGATION_COUNT" | "AGGREGATION_MAX" | "AGGREGATION_LAST" | "AGGREGATION_UNIQUE_COUNT";

/** Request to create a meter. */
export type CreateMeterRequest = {
  /** The key, unique in the instance. Keys that start with `service.` are reserved. */
  readonly key: string;
  /** The display name. */
  readonly name: string;
  /** How the usage of a time range follows from its records. */
  readonly aggregation: MeterAggregation;
  /** The property that holds the value; empty if records hold it as their quantity. */
  readonly value_path?: string;
  /** Properties by which usage is broken down. */
  readonly group_by?: readonly string[];
};

/** A meter: what is counted, and how. */
export type Meter = {
  /** The key, unique in the instance. */
  readonly key: string;
  /** The display name. */
  readonly name: string;
  /** How the usage of a time range follows from its records. */
  readonly aggregation: MeterAggregation;
  /** The property that holds the value; empty if records hold it as their quantity. */
  readonly value_path: string;
  /** Properties by which usage is broken down. */
  readonly group_by: readonly string[];
  /** Whether the service itself counts it. Callers cannot report usage of it. */
  readonly service_fed: boolean;
  /** Whether it accepts usage. */
  readonly status: MeterStatus;
  /** When it was created. */
  readonly created_at?: string;
  /** When it last changed. */
  readonly updated_at?: string;
  /** The version of the record. */
  readonly record_version: number;
};

/** The status of a meter. */
export type MeterStatus = "STATUS_UNSPECIFIED" | "STATUS_ACTIVE" | "STATUS_ARCHIVED";

/** Identifies a meter. */
export type GetMeterRequest = {
  /** The key. */
  readonly meter_key: string;
};

/** Request for a page of meters. */
export type ListMetersRequest = {
  /** Maximum number of items per page. */
  readonly limit?: number;
  /** Cursor from a previous response; the first page when empty. */
  readonly cursor?: string;
  /** Number of items to skip. */
  readonly offset?: number;
};

/** Selects the meter to archive. */
export type ArchiveMeterRequest = {
  /** The key. */
  readonly meter_key: string;
};

/** Usage of a meter. */
export type UsageEvent = {
  /** The meter. */
  readonly meter_key: string;
  /** Identifies the usage among all usage of the tenant and the meter: an event with the same id has the same content. */
  readonly transaction_id: string;
  /** The value, for meters without a value_path; absent counts as 1. */
  readonly quantity?: number;
  /** Properties, of which the meter's value_path and group_by are used. */
  readonly properties?: Readonly<Record<string, string>>;
  /** When it was used; the time of the call if absent. */
  readonly at?: string | Date;
};

/** Usage to record. */
export type RecordUsageRequest = {
  /** The tenant; the caller's own when empty. Only an operator may name another. */
  readonly tenant_id?: string;
  /** The usage, at most 1,000 events. */
  readonly events: readonly UsageEvent[];
};

/** What was recorded. */
export type RecordUsageResponse = {
  /** The number of events that were recorded. */
  readonly recorded: number;
  /** The number of events that had been recorded before. */
  readonly duplicates: number;
  /** Events that were not recorded. */
  readonly rejected: readonly RejectedUsage[];
};

/** An event that was not recorded, and why. */
export type RejectedUsage = {
  /** The meter. */
  readonly meter_key: string;
  /** The event. */
  readonly transaction_id: string;
  /** Why: `period_invoiced`, `too_old` or `in_future`. */
  readonly reason: string;
};

/** Selects usage. */
export type GetUsageRequest = {
  /** The tenant; the caller's own when empty. Only an operator may name another. */
  readonly tenant_id?: string;
  /** Only this meter; all when empty. */
  readonly meter_key?: string;
  /** The start of the range; of the current billing period, or else of the calendar month, if absent. */
  readonly since?: string | Date;
  /** The end of the range, exclusive; now if absent. */
  readonly until?: string | Date;
};

/** Usage in a time range. */
export type GetUsageResponse = {
  /** The start of the range. */
  readonly since?: string;
  /** The end of the range, exclusive. */
  readonly until?: string;
  /** The time up to which the service has counted its own meters. */
  readonly watermark?: string;
  /** The usage of each meter that was used, by key. */
  readonly usage: readonly MeterUsage[];
};

/** The usage of a meter. */
export type MeterUsage = {
  /** The meter. */
  readonly meter_key: string;
  /** The aggregated usage. */
  readonly quantity: number;
  /** The number of records. */
  readonly events: number;
  /** The breakdown by the properties in group_by; at most 1,000 groups. */
  readonly groups: readonly UsageGroup[];
};

/** The usage of one combination of properties. */
export type UsageGroup = {
  /** The properties. */
  readonly properties: Readonly<Record<string, string>>;
  /** The aggregated usage. */
  readonly quantity: number;
};
