import type { TenantId } from "../../../../platform/access/index.ts";
import type { Stamps } from "../../../../platform/records/index.ts";
import type { PoolSettings } from "./config-settings.ts";
import type { PoolConfig } from "./pool-config.ts";
import type { Strategy } from "./strategy.ts";

/** A pool's id. */
export type PoolId = string & { readonly __id: "pool" };

/** Where a pool stands: active takes items; draining works off what it has; disabled does neither; archived is gone. */
export type PoolStatus = "active" | "disabled" | "draining" | "archived";

/** A group of recipients, with the rules and the strategy by which work reaches them. */
export interface Pool extends Stamps {
  readonly tenantId: TenantId;
  readonly id: PoolId;
  readonly environmentId: string;
  readonly name: string;
  readonly description: string;
  readonly strategy: Strategy;
  readonly status: PoolStatus;
  readonly config: PoolConfig;
}

/** A pool with what only this module keeps of it. */
export interface StoredPool extends Pool {
  readonly environmentKey: string;
  readonly environmentMode: "live" | "sandbox";
  /** What of the config was set; the rest are defaults. */
  readonly settings: PoolSettings;
  /** Raised by every change of the pool, its recipients or its rules. */
  readonly revision: number;
}

/** Who belongs to a pool: the first ids of each kind, and how many there are in all. */
export interface PoolMembers {
  readonly recipientIds: readonly string[];
  readonly ruleIds: readonly string[];
  readonly recipientCount: number;
  readonly ruleCount: number;
}

/** What is asked for a new pool. */
export interface NewPool {
  /** Empty for production. */
  readonly environmentId: string;
  readonly name: string;
  readonly description: string;
  readonly strategy: Strategy;
  readonly status: PoolStatus;
  readonly settings: PoolSettings;
}

/** What an update may change. */
export interface PoolChange {
  readonly name?: string | undefined;
  readonly description?: string | undefined;
  readonly strategy?: Strategy | undefined;
  readonly status?: PoolStatus | undefined;
  readonly settings?: PoolSettings | undefined;
  /** Paths of the config that get their defaults back, before the settings are laid over it. */
  readonly resetConfig?: readonly string[] | undefined;
}
