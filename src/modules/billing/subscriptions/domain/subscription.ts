import type { TenantId } from "../../../../platform/access/index.ts";
import type { Stamps } from "../../../../platform/records/index.ts";
import type { Grants } from "../../entitlements/index.ts";
import type { PlanRef } from "../../plans/index.ts";

/** The subscription of a tenant to a version of a plan. */
export interface Subscription extends PlanRef, Stamps {
  readonly tenantId: TenantId;
  readonly id: string;
  readonly status: "active" | "canceled";
  /** Periods are counted from here. */
  readonly anchorAt: Date;
  /** The number of the current period after the anchor, from 0. */
  readonly periodNumber: number;
  readonly periodStart: Date;
  readonly periodEnd: Date;
  /** Exceptions from the plan. */
  readonly overrides: Grants;
  /** The plan from the end of the period on; an empty key for a cancellation. */
  readonly scheduled: PlanRef | null;
}

/** When a tenant had which version of a plan. */
export interface Segment extends PlanRef {
  readonly startsAt: Date;
  /** Null for the current one. */
  readonly endsAt: Date | null;
}

/** When a segment or a period of a tenant starts or ends. */
export interface PlanChange {
  readonly tenantId: TenantId;
  readonly at: Date;
}

/** A billing period of a tenant. */
export interface Period {
  readonly tenantId: TenantId;
  readonly startsAt: Date;
  readonly endsAt: Date;
  readonly currency: string;
  /** open: the current one. closed: ended, not invoiced yet. */
  readonly state: "open" | "closed" | "invoiced";
}
