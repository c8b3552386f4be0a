// Generated from the definitions; do not edit.
import { bindOperations } from "../transport/bind.ts";
import type { CallOptions, Operation } from "../transport/operation.ts";
import type { Transport } from "../transport/transport.ts";
import type { List } from "../transport/list.ts";
import type { JsonObject } from "../json.ts";

/** Tenants: the units of isolation. Only the platform tenant sees and creates others. */
export interface TenantService {
  /** Creates a tenant with its environments and, on request, its first admin key. Needs an admin of the platform tenant. */
  create(request: CreateTenantRequest, options?: CallOptions): Promise<Tenant>;

  /** Returns one tenant. */
  get(request: GetTenantRequest, options?: CallOptions): Promise<Tenant>;

  /** Changes the fields that are present. Only the platform tenant can change status, plan and quotas. */
  update(request: UpdateTenantRequest, options?: CallOptions): Promise<Tenant>;

  /** Deletes a tenant: its callers are rejected immediately, and its data is purged after tenant.purge_after_days. */
  delete(request: DeleteTenantRequest, options?: CallOptions): Promise<Tenant>;

  /** Lists the tenants that the caller may see: all for the platform tenant, only itself for any other. */
  list(request?: ListTenantsRequest, options?: CallOptions): List<Tenant>;

  /** Returns the remaining quota of a tenant for an operation today. */
  getQuota(request: GetTenantQuotaRequest, options?: CallOptions): Promise<Quota>;
}

const tenantServiceOperations = {
  create: { verb: "POST", path: "/api/tenants", body: "*", keyed: true },
  get: { verb: "GET", path: "/api/tenants/{tenant_id}" },
  update: { verb: "PATCH", path: "/api/tenants/{tenant_id}", body: "*", keyed: true },
  delete: { verb: "DELETE", path: "/api/tenants/{tenant_id}", keyed: true },
  list: { verb: "GET", path: "/api/tenants", result: "cursor" },
  getQuota: { verb: "GET", path: "/api/tenants/{tenant_id}/quota/{operation}" },
} as const satisfies Record<keyof TenantService, Operation>;

/** Creates the service over a transport. */
export function createTenantService(transport: Transport): TenantService {
  return bindOperations<TenantService>(transport, tenantServiceOperations);
}

/** A daily limit. */
export type QuotaLimitInput = {
  /** The limit per UTC day; 0 removes it. */
  readonly limit_per_day?: number;
};

/** Request to create a tenant. */
export type CreateTenantRequest = {
  /** The display name. */
  readonly name: string;
  /** A short unique name; derived from the name when empty. */
  readonly slug?: string;
  /** The plan, free text. */
  readonly plan?: string;
  /** Free-form settings of the tenant. */
  readonly settings?: object;
  /** Daily limits by operation: api.call counts calls, route counts routed items, notification.trigger counts triggers (a trigger to a topic counts as one). Limits of workflow.run and connector.execute are stored, but nothing counts against them. */
  readonly quotas?: Readonly<Record<string, QuotaLimitInput>>;
  /** Also creates an admin key of the new tenant; only this response contains it. */
  readonly issue_admin_key?: boolean;
};

/** A tenant: the unit of isolation; every record belongs to one. */
export type Tenant = {
  /** The id, a ULID. */
  readonly id: string;
  /** The display name. */
  readonly name: string;
  /** A short unique name for addresses and logs. */
  readonly slug: string;
  /** The status. */
  readonly status: TenantStatus;
  /** The plan, free text. */
  readonly plan: string;
  /** Free-form settings of the tenant. */
  readonly settings?: JsonObject;
  /** Daily limits by operation. */
  readonly quotas: Readonly<Record<string, QuotaLimit>>;
  /** Whether this is the platform tenant. */
  readonly platform: boolean;
  /** When it was created. */
  readonly created_at?: string;
  /** When it last changed. */
  readonly updated_at?: string;
  /** The version of the record; send it back to make an update conditional. */
  readonly record_version: number;
  /** Its first admin key. Only the response that creates the tenant with issue_admin_key contains it. */
  readonly admin_key?: string;
};

/** The status of a tenant. */
export type TenantStatus = "STATUS_UNSPECIFIED" | "STATUS_ACTIVE" | "STATUS_SUSPENDED" | "STATUS_DELETED";

/** A daily limit. */
export type QuotaLimit = {
  /** The limit per UTC day; 0 removes it. */
  readonly limit_per_day: number;
};

/** Identifies a tenant. */
export type GetTenantRequest = {
  /** The tenant's id. */
  readonly tenant_id: string;
};

/** Changes the fields that are present. */
export type UpdateTenantRequest = {
  /** The tenant's id. */
  readonly tenant_id: string;
  /** The display name. */
  readonly name?: string;
  /** The plan, free text. */
  readonly plan?: string;
  /** STATUS_ACTIVE or STATUS_SUSPENDED. */
  readonly status?: TenantStatus;
  /** Replaces the settings. */
  readonly settings?: object;
  /** Replaces the limits of the operations named here; other limits stay. */
  readonly quotas?: Readonly<Record<string, QuotaLimitInput>>;
  /** Makes the change conditional on this version. */
  readonly record_version?: number;
};

/** Selects the tenant to delete. */
export type DeleteTenantRequest = {
  /** The tenant's id. */
  readonly tenant_id: string;
};

/** Request for a page of tenants. */
export type ListTenantsRequest = {
  /** Maximum number of items per page. */
  readonly limit?: number;
  /** Cursor from a previous response; the first page when empty. */
  readonly cursor?: string;
  /** Number of items to skip. */
  readonly offset?: number;
  /** Only tenants in this status. */
  readonly status?: TenantStatus;
};

/** Selects a tenant and an operation. */
export type GetTenantQuotaRequest = {
  /** The tenant's id. */
  readonly tenant_id: string;
  /** The counted operation. */
  readonly operation: "api.call" | "route" | "notification.trigger" | "workflow.run" | "connector.execute" | "experiment.assign" | "experiment.score";
};

/** The remaining part of a daily limit. */
export type Quota = {
  /** The counted operation. */
  readonly operation: string;
  /** The limit per UTC day; absent if unlimited. */
  readonly limit?: number;
  /** The number used today. */
  readonly used: number;
  /** The number left today; absent if unlimited. */
  readonly remaining?: number;
  /** When the count resets. */
  readonly resets_at?: string;
};
