// Generated from the definitions; do not edit.
import { bindOperations } from "../transport/bind.ts";
import type { CallOptions, Operation } from "../transport/operation.ts";
import type { Transport } from "../transport/transport.ts";
import type { List } from "../transport/list.ts";

/** Discovery: what this instance offers, and in which state. */
export interface DiscoveryService {
  /** Reports every mounted service and, for each method, its verb, path and scopes. */
  getServicesReport(request?: GetServicesReportRequest, options?: CallOptions): Promise<ServicesReport>;

  /** Reports the posture of each feature. */
  listCapabilityPostures(request?: ListCapabilityPosturesRequest, options?: CallOptions): Promise<ListCapabilityPosturesResponse>;

  /** Lists the capabilities of the instance. */
  listCapabilities(request?: ListCapabilitiesRequest, options?: CallOptions): List<Capability>;

  /** Returns one capability. */
  getCapability(request: GetCapabilityRequest, options?: CallOptions): Promise<Capability>;

  /** Returns what people call the records with some ids, such as the name of a recipient or of who did something. Records that the caller may not read, and unknown ids, are left out. */
  resolveNames(request: ResolveNamesRequest, options?: CallOptions): Promise<ResolveNamesResponse>;
}

const discoveryServiceOperations = {
  getServicesReport: { verb: "GET", path: "/api/_meta/services" },
  listCapabilityPostures: { verb: "GET", path: "/api/capabilities" },
  listCapabilities: { verb: "GET", path: "/api/v2/capabilities", result: "cursor" },
  getCapability: { verb: "GET", path: "/api/v2/capabilities/{id}" },
  resolveNames: { verb: "POST", path: "/api/v2/names:resolve", body: "*" },
} as const satisfies Record<keyof DiscoveryService, Operation>;

/** Creates the service over a transport. */
export function createDiscoveryService(transport: Transport): DiscoveryService {
  return bindOperations<DiscoveryService>(transport, discoveryServiceOperations);
}

/** Request for the report. */
export type GetServicesReportRequest = Record<never, never>;

/** All mounted services. */
export type ServicesReport = {
  /** The plane of the report: external or internal. */
  readonly plane: string;
  /** The version of the API. */
  readonly api_version: string;
  /** The services. */
  readonly services: readonly ServiceReport[];
};

/** One mounted service. */
export type ServiceReport = {
  /** Its full name. */
  readonly name: string;
  /** The description. */
  readonly description: string;
  /** Its methods. */
  readonly methods: readonly MethodReport[];
};

/** One method. */
export type MethodReport = {
  /** Its name. */
  readonly name: string;
  /** The description. */
  readonly description: string;
  /** Its Connect path. */
  readonly connect_path: string;
  /** Its HTTP verb. */
  readonly http_method: string;
  /** Its REST path. */
  readonly http_path: string;
  /** All scopes that it needs. */
  readonly scopes: readonly string[];
  /** Roles of which the caller must have one. */
  readonly roles: readonly string[];
  /** Whether the caller must be authenticated. */
  readonly authentication_required: boolean;
  /** Whether it changes state. */
  readonly mutating: boolean;
  /** Whether it returns a stream. */
  readonly streaming: boolean;
  /** Whether it is deprecated. */
  readonly deprecated: boolean;
  /** Its cost in rate-limit tokens. */
  readonly token_cost: number;
};

/** Request for the postures. */
export type ListCapabilityPosturesRequest = Record<never, never>;

/** The postures. */
export type ListCapabilityPosturesResponse = {
  /** Every capability that is not hidden, by id. */
  readonly capabilities: readonly Capability[];
};

/** A capability of the instance. */
export type Capability = {
  /** Its id, for example "api_keys". */
  readonly id: string;
  /** The display name. */
  readonly name: string;
  /** The description. */
  readonly description: string;
  /** active, disabled, unwired or degraded. */
  readonly mode: string;
  /** The reason, if it is not active. */
  readonly reason: string;
  /** The settings that control it. */
  readonly settings: readonly string[];
  /** Its dependencies. */
  readonly dependencies: readonly string[];
  /** The services whose operations belong to it. */
  readonly services: readonly string[];
};

/** Request for capabilities. */
export type ListCapabilitiesRequest = {
  /** Also capabilities that a setting disables. */
  readonly include_disabled?: boolean;
  /** Also capabilities that run without a guarantee; default true. */
  readonly include_degraded?: boolean;
  /** Also capabilities with a missing dependency. */
  readonly include_missing_dependency?: boolean;
  /** Only capabilities in one of these modes, regardless of the flags above. */
  readonly modes?: readonly ("active" | "disabled" | "unwired" | "degraded")[];
  /** Only capabilities whose id or name contains this text. */
  readonly query?: string;
  /** Maximum number of items per page. */
  readonly limit?: number;
  /** Cursor from a previous response; the first page when empty. */
  readonly cursor?: string;
  /** Number of items to skip. */
  readonly offset?: number;
};

/** Identifies a capability. */
export type GetCapabilityRequest = {
  /** The capability's id. */
  readonly id: string;
};

/** Asks for names. */
export type ResolveNamesRequest = {
  /** The ids of records of any kind, or who did something, such as key:01K… or member:01K…. */
  readonly ids: readonly string[];
  /** Only records of these kinds; all kinds when empty. */
  readonly kinds?: readonly string[];
};

/** The names that were found. */
export type ResolveNamesResponse = {
  /** The names. An id that belongs to records of several kinds, such as a decision and its queue item, has several. */
  readonly names: readonly ResolvedName[];
};

/** What people call a record. */
export type ResolvedName = {
  /** The id that was asked about. */
  readonly id: string;
  /** The kind of the record, such as recipient or api_key. */
  readonly kind: string;
  /** The id of the record, without what precedes it in the id that was asked about. */
  readonly record_id: string;
  /** The name. A record without one is named by what identifies it to people: an item by its type and key, a run by its workflow and key. */
  readonly name: string;
  /** The record that it belongs to, such as the pool of a rule; empty for none. */
  readonly parent_id: string;
  /** When the record was created, if others are likely to have the same name. */
  readonly created_at?: string;
};
