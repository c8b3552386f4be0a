// Generated from the definitions; do not edit.
import { bindOperations } from "../transport/bind.ts";
import type { CallOptions, Operation } from "../transport/operation.ts";
import type { Transport } from "../transport/transport.ts";
import type { List } from "../transport/list.ts";

/** Entitlements: what a tenant may use. Operations name the entitlement that they need. */
export interface EntitlementService {
  /** Returns the entitlements of a tenant: its current snapshot. */
  get(request?: GetEntitlementsRequest, options?: CallOptions): Promise<GetEntitlementsResponse>;

  /** Evaluates entitlements as the authorization of a call does, without evidence. */
  check(request: CheckEntitlementsRequest, options?: CallOptions): Promise<CheckEntitlementsResponse>;

  /** Replaces the entitlements of a tenant. Only an operator may do so. */
  issueSnapshot(request: IssueEntitlementSnapshotRequest, options?: CallOptions): Promise<EntitlementSnapshot>;

  /** Lists the snapshots of a tenant, newest first. The newest 100 are kept. */
  listSnapshots(request?: ListEntitlementSnapshotsRequest, options?: CallOptions): List<EntitlementSnapshot>;

  /** Lists the evidence of a tenant, newest first: calls that were admitted without an entitlement, or denied. Equal calls of a minute are counted in one record. */
  listEvidence(request?: ListEntitlementEvidenceRequest, options?: CallOptions): List<EntitlementEvidence>;
}

const entitlementServiceOperations = {
  get: { verb: "GET", path: "/api/v2/billing/entitlements" },
  check: { verb: "POST", path: "/api/v2/billing/entitlements:check", body: "*" },
  issueSnapshot: { verb: "POST", path: "/api/v2/billing/entitlement-snapshots", body: "*", keyed: true },
  listSnapshots: { verb: "GET", path: "/api/v2/billing/entitlement-snapshots", result: "cursor" },
  listEvidence: { verb: "GET", path: "/api/v2/billing/entitlement-evidence", result: "cursor" },
} as const satisfies Record<keyof EntitlementService, Operation>;

/** Creates the service over a transport. */
export function createEntitlementService(transport: Transport): EntitlementService {
  return bindOperations<EntitlementService>(transport, entitlementServiceOperations);
}

/** Selects a tenant. */
export type GetEntitlementsRequest = {
  /** The tenant; the caller's own when empty. Only an operator may name another. */
  readonly tenant_id?: string;
};

/** The entitlements of a tenant. */
export type GetEntitlementsResponse = {
  /** How they are enforced. */
  readonly mode: EntitlementMode;
  /** Whether a tenant that never had a snapshot is admitted. */
  readonly grace_unprovisioned: boolean;
  /** The current snapshot; absent if the tenant never had one. */
  readonly snapshot?: EntitlementSnapshot;
  /** Whether the snapshot is stale. */
  readonly stale: boolean;
};

/** How entitlements are enforced, set by entitlement.enforcement. */
export type EntitlementMode = "ENTITLEMENT_MODE_UNSPECIFIED" | "ENTITLEMENT_MODE_OFF" | "ENTITLEMENT_MODE_REPORT" | "ENTITLEMENT_MODE_STRICT";

/** The entitlements of a tenant from one point in time on. It never changes. */
export type EntitlementSnapshot = {
  /** The id, a ULID. */
  readonly id: string;
  /** The tenant. */
  readonly tenant_id: string;
  /** The number of the snapshot, from 1. */
  readonly version: number;
  /** Where it comes from. */
  readonly source?: EntitlementSource;
  /** When it was issued. */
  readonly issued_at?: string;
  /** From then on it is stale. */
  readonly fresh_until?: string;
  /** Entitlements that the tenant has. */
  readonly allow: readonly string[];
  /** Entitlements that the tenant must not have. None of them is in allow. */
  readonly deny: readonly string[];
  /** Daily quotas, by operation. */
  readonly limits: Readonly<Record<string, number>>;
};

/** Where a snapshot comes from. */
export type EntitlementSource = {
  /** What issued it. */
  readonly kind: EntitlementSourceKind;
  /** The plan and its version, or a reference of the issuer. */
  readonly ref: string;
};

/** What issued a snapshot. */
export type EntitlementSourceKind = "KIND_UNSPECIFIED" | "KIND_PLAN" | "KIND_OPERATOR" | "KIND_EXTERNAL";

/** The entitlements to evaluate. */
export type CheckEntitlementsRequest = {
  /** The tenant; the caller's own when empty. Only an operator may name another. */
  readonly tenant_id?: string;
  /** The entitlements. */
  readonly items: readonly string[];
};

/** The results. */
export type CheckEntitlementsResponse = {
  /** How entitlements are enforced. */
  readonly mode: EntitlementMode;
  /** A result for each item, in the order of the request. */
  readonly checks: readonly EntitlementCheck[];
};

/** The result for one entitlement. */
export type EntitlementCheck = {
  /** The entitlement. */
  readonly item: string;
  /** The result. */
  readonly verdict: EntitlementVerdict;
  /** Why: `allowed`, `explicit_deny`, `missing`, `stale`, `unprovisioned` or `not_evaluated`. */
  readonly reason: string;
};

/** The result of an evaluation. */
export type EntitlementVerdict = "ENTITLEMENT_VERDICT_UNSPECIFIED" | "ENTITLEMENT_VERDICT_PASS" | "ENTITLEMENT_VERDICT_GRACE" | "ENTITLEMENT_VERDICT_DENY";

/** Where a snapshot comes from. */
export type EntitlementSourceInput = {
  /** What issued it. */
  readonly kind: EntitlementSourceKind;
  /** The plan and its version, or a reference of the issuer. */
  readonly ref?: string;
};

/** The entitlements of a tenant. A snapshot of the kind KIND_PLAN is derived from the subscription, which also controls later ones; allow, deny and limits must then be empty. */
export type IssueEntitlementSnapshotRequest = {
  /** The tenant; the caller's own when empty. Only an operator may name another. */
  readonly tenant_id?: string;
  /** Where it comes from. */
  readonly source: EntitlementSourceInput;
  /** From then on it is stale; a day from now if absent. */
  readonly fresh_until?: string | Date;
  /** Entitlements that the tenant has. */
  readonly allow?: readonly string[];
  /** Entitlements that the tenant must not have. They must not be in allow. */
  readonly deny?: readonly string[];
  /** Daily quotas, by operation. */
  readonly limits?: Readonly<Record<string, number>>;
};

/** Request for a page of snapshots. */
export type ListEntitlementSnapshotsRequest = {
  /** Maximum number of items per page. */
  readonly limit?: number;
  /** Cursor from a previous response; the first page when empty. */
  readonly cursor?: string;
  /** Number of items to skip. */
  readonly offset?: number;
  /** The tenant; the caller's own when empty. Only an operator may name another. */
  readonly tenant_id?: string;
};

/** Request for a page of evidence. */
export type ListEntitlementEvidenceRequest = {
  /** Maximum number of items per page. */
  readonly limit?: number;
  /** Cursor from a previous response; the first page when empty. */
  readonly cursor?: string;
  /** Number of items to skip. */
  readonly offset?: number;
  /** The tenant; the caller's own when empty. Only an operator may name another. */
  readonly tenant_id?: string;
};

/** Calls of one minute that were admitted without an entitlement, or denied. */
export type EntitlementEvidence = {
  /** The id, a ULID. */
  readonly id: string;
  /** The tenant. */
  readonly tenant_id: string;
  /** The minute in which the calls were made. */
  readonly minute?: string;
  /** The entitlement. */
  readonly item: string;
  /** The operation that needs it. */
  readonly operation: string;
  /** How entitlements were enforced. */
  readonly mode: EntitlementMode;
  /** The result. */
  readonly verdict: EntitlementVerdict;
  /** Why: `explicit_deny`, `missing`, `stale` or `unprovisioned`. */
  readonly reason: string;
  /** The snapshot that was evaluated; 0 without one. */
  readonly snapshot_version: number;
  /** The number of calls. */
  readonly count: number;
};
