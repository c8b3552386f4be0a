import type { Stamps } from "../../../../platform/records/index.ts";
import type { PlanTerms } from "./terms.ts";

/** A plan: what tenants can subscribe to. */
export interface Plan extends Stamps {
  readonly key: string;
  readonly name: string;
  readonly description: string;
  readonly status: "active" | "archived";
  /** Whether tenants can subscribe to it themselves. */
  readonly selfService: boolean;
  readonly latestVersion: number;
}

/** A version of a plan, which never changes. */
export interface PlanVersion {
  readonly planKey: string;
  readonly version: number;
  readonly terms: PlanTerms;
  /** The SHA-256 of the terms. */
  readonly digest: string;
  readonly createdAt: Date;
}
