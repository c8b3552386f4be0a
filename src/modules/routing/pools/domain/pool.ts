import type { TenantId } from "../../../../platform/access/index.ts";
import type { Stamps } from "../../../../platform/records/index.ts";
import type { PoolSettings } from "./config-settings.ts";
import type { PoolConfig } from "./pool-config.ts";
import type { Strategy } from "./strategy.ts";

export type PoolId = string & { readonly __id: "pool" };

/** active: accepts items. draining: finishes queued items. disabled: neither. archived: deleted. */
export type PoolStatus = "active" | "disabled" | "draining" | "archived";

/** A group of recipients with the strategy that selects one of them. */
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

/** A pool with the fields that only this module uses. */
export interface StoredPool extends Pool {
  readonly environmentKey: string;
  readonly environmentMode: "live" | "sandbox";
  /** The explicitly set part of the config. */
  readonly settings: PoolSettings;
  /** Incremented by every change of the pool, its recipients or its rules. */
  readonly revision: number;
}

/** The first ids of the recipients and rules of a pool, and their total counts. */
export interface PoolMembers {
  readonly recipientIds: readonly string[];
  readonly ruleIds: readonly string[];
  readonly recipientCount: number;
  readonly ruleCount: number;
}

/** Input of createPool. An empty environment selects production. */
export type NewPool = Pick<StoredPool, "environmentId" | "name" | "description" | "strategy" | "status" | "settings">;

/** Input of updatePool; undefined fields are unchanged. */
export interface PoolChange extends Partial<Omit<NewPool, "environmentId">> {
  /** Config paths to reset to their defaults before the settings are merged. */
  readonly resetConfig?: readonly string[];
}
