// Generated from the definitions; do not edit.
import { bindOperations } from "../transport/bind.ts";
import type { CallOptions, Operation } from "../transport/operation.ts";
import type { Transport } from "../transport/transport.ts";
import type { List } from "../transport/list.ts";

/** Plans: what tenants can subscribe to. A plan has versions, which never change. */
export interface PlanService {
  /** Creates a plan with its first version. Only an operator may do so. */
  create(request: CreatePlanRequest, options?: CallOptions): Promise<Plan>;

  /** Returns a plan. */
  get(request: GetPlanRequest, options?: CallOptions): Promise<Plan>;

  /** Lists the plans. */
  list(request?: ListPlansRequest, options?: CallOptions): List<Plan>;

  /** Archives a plan: nobody can subscribe to it any more, and its subscriptions stay. Only an operator may do so. */
  archive(request: ArchivePlanRequest, options?: CallOptions): Promise<Plan>;

  /** Adds a version to a plan. Subscriptions to earlier versions keep them. Only an operator may do so. */
  createVersion(request: CreatePlanVersionRequest, options?: CallOptions): Promise<PlanVersion>;

  /** Returns a version of a plan. */
  getVersion(request: GetPlanVersionRequest, options?: CallOptions): Promise<PlanVersion>;

  /** Lists the versions of a plan, oldest first. */
  listVersions(request: ListPlanVersionsRequest, options?: CallOptions): List<PlanVersion>;
}

const planServiceOperations = {
  create: { verb: "POST", path: "/api/v2/billing/plans", body: "*", keyed: true },
  get: { verb: "GET", path: "/api/v2/billing/plans/{plan_key}" },
  list: { verb: "GET", path: "/api/v2/billing/plans", result: "cursor" },
  archive: { verb: "POST", path: "/api/v2/billing/plans/{plan_key}:archive", body: "*", keyed: true },
  createVersion: { verb: "POST", path: "/api/v2/billing/plans/{plan_key}/versions", body: "*", keyed: true },
  getVersion: { verb: "GET", path: "/api/v2/billing/plans/{plan_key}/versions/{version}" },
  listVersions: { verb: "GET", path: "/api/v2/billing/plans/{plan_key}/versions", result: "cursor" },
} as const satisfies Record<keyof PlanService, Operation>;

/** Creates the service over a transport. */
export function createPlanService(transport: Transport): PlanService {
  return bindOperations<PlanService>(transport, planServiceOperations);
}

/** What a version of a plan costs and grants. */
export type PlanTermsInput = {
  /** The ISO 4217 code of the currency of all amounts. */
  readonly currency: string;
  /** The length of a billing period. */
  readonly interval: PlanTermsInterval;
  /** The prices. Each becomes a line of an invoice. */
  readonly prices?: readonly PriceInput[];
  /** The entitlements that subscribers have. */
  readonly entitlements?: readonly string[];
  /** Daily quotas of subscribers, by operation. A quota that is set for the tenant itself takes precedence. */
  readonly limits?: Readonly<Record<string, number>>;
};

/** How long a billing period is. */
export type PlanTermsInterval = "INTERVAL_UNSPECIFIED" | "INTERVAL_MONTH" | "INTERVAL_YEAR";

/** A price of a plan. All amounts are integers in the smallest unit of the currency, such as cents. */
export type PriceInput = {
  /** The key, unique in the version. */
  readonly key: string;
  /** The description on invoices. */
  readonly name?: string;
  /** How the amount follows from the usage. */
  readonly model: PriceModel;
  /** The meter whose usage is priced; empty for a flat price. */
  readonly meter_key?: string;
  /** The amount per period, or per per_units units. */
  readonly amount?: number;
  /** The number of units that the amount is for; 0 counts as 1. */
  readonly per_units?: number;
  /** Units per period that cost nothing. */
  readonly included?: number;
  /** The tiers of a graduated or volume price, in the order of up_to. */
  readonly tiers?: readonly PriceTierInput[];
};

/** How the amount of a line follows from the usage. */
export type PriceModel = "MODEL_UNSPECIFIED" | "MODEL_FLAT" | "MODEL_PER_UNIT" | "MODEL_PACKAGE" | "MODEL_GRADUATED" | "MODEL_VOLUME";

/** A tier of a price. */
export type PriceTierInput = {
  /** The last unit of the tier; 0 for no bound, in the last tier only. */
  readonly up_to?: number;
  /** The amount for each per_units units. */
  readonly amount?: number;
  /** The number of units that the amount is for; 0 counts as 1. */
  readonly per_units?: number;
  /** An amount that is added once if the tier applies. */
  readonly flat_amount?: number;
};

/** Request to create a plan. */
export type CreatePlanRequest = {
  /** The key, unique in the instance. */
  readonly key: string;
  /** The display name. */
  readonly name: string;
  /** A description. */
  readonly description?: string;
  /** Whether tenants can subscribe to it themselves. */
  readonly self_service?: boolean;
  /** The terms of the first version. */
  readonly terms: PlanTermsInput;
};

/** A plan: what tenants can subscribe to. */
export type Plan = {
  /** The key, unique in the instance. */
  readonly key: string;
  /** The display name. */
  readonly name: string;
  /** A description. */
  readonly description: string;
  /** Whether tenants can subscribe to it. */
  readonly status: PlanStatus;
  /** Whether tenants can subscribe to it themselves. Otherwise only an operator can. */
  readonly self_service: boolean;
  /** The newest version. */
  readonly latest_version: number;
  /** When it was created. */
  readonly created_at?: string;
  /** When it last changed. */
  readonly updated_at?: string;
  /** The version of the record. */
  readonly record_version: number;
};

/** The status of a plan. */
export type PlanStatus = "STATUS_UNSPECIFIED" | "STATUS_ACTIVE" | "STATUS_ARCHIVED";

/** Identifies a plan. */
export type GetPlanRequest = {
  /** The key. */
  readonly plan_key: string;
};

/** Request for a page of plans. */
export type ListPlansRequest = {
  /** Maximum number of items per page. */
  readonly limit?: number;
  /** Cursor from a previous response; the first page when empty. */
  readonly cursor?: string;
  /** Number of items to skip. */
  readonly offset?: number;
};

/** Selects the plan to archive. */
export type ArchivePlanRequest = {
  /** The key. */
  readonly plan_key: string;
};

/** Request to add a version to a plan. */
export type CreatePlanVersionRequest = {
  /** The plan. */
  readonly plan_key: string;
  /** The terms of the version. */
  readonly terms: PlanTermsInput;
};

/** A version of a plan. It never changes. */
export type PlanVersion = {
  /** The plan. */
  readonly plan_key: string;
  /** The number of the version, from 1. */
  readonly version: number;
  /** What it costs and grants. */
  readonly terms?: PlanTerms;
  /** The SHA-256 of the terms. */
  readonly digest: string;
  /** When it was created. */
  readonly created_at?: string;
};

/** What a version of a plan costs and grants. */
export type PlanTerms = {
  /** The ISO 4217 code of the currency of all amounts. */
  readonly currency: string;
  /** The length of a billing period. */
  readonly interval: PlanTermsInterval;
  /** The prices. Each becomes a line of an invoice. */
  readonly prices: readonly Price[];
  /** The entitlements that subscribers have. */
  readonly entitlements: readonly string[];
  /** Daily quotas of subscribers, by operation. A quota that is set for the tenant itself takes precedence. */
  readonly limits: Readonly<Record<string, number>>;
};

/** A price of a plan. All amounts are integers in the smallest unit of the currency, such as cents. */
export type Price = {
  /** The key, unique in the version. */
  readonly key: string;
  /** The description on invoices. */
  readonly name: string;
  /** How the amount follows from the usage. */
  readonly model: PriceModel;
  /** The meter whose usage is priced; empty for a flat price. */
  readonly meter_key: string;
  /** The amount per period, or per per_units units. */
  readonly amount: number;
  /** The number of units that the amount is for; 0 counts as 1. */
  readonly per_units: number;
  /** Units per period that cost nothing. */
  readonly included: number;
  /** The tiers of a graduated or volume price, in the order of up_to. */
  readonly tiers: readonly PriceTier[];
};

/** A tier of a price. */
export type PriceTier = {
  /** The last unit of the tier; 0 for no bound, in the last tier only. */
  readonly up_to: number;
  /** The amount for each per_units units. */
  readonly amount: number;
  /** The number of units that the amount is for; 0 counts as 1. */
  readonly per_units: number;
  /** An amount that is added once if the tier applies. */
  readonly flat_amount: number;
};

/** Identifies a version of a plan. */
export type GetPlanVersionRequest = {
  /** The plan. */
  readonly plan_key: string;
  /** The number of the version, or `latest`. */
  readonly version: string;
};

/** Request for a page of versions of a plan. */
export type ListPlanVersionsRequest = {
  /** Maximum number of items per page. */
  readonly limit?: number;
  /** Cursor from a previous response; the first page when empty. */
  readonly cursor?: string;
  /** Number of items to skip. */
  readonly offset?: number;
  /** The plan. */
  readonly plan_key: string;
};
