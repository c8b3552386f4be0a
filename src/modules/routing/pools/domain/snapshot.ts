import type { Stamps } from "../../../../platform/records/index.ts";
import type { Pool, PoolId } from "./pool.ts";
import type { Recipient } from "./recipient.ts";
import type { Rule } from "./rule.ts";

/** A pool as decisions see it: immutable, and named by the digest of all it holds. */
export interface PoolSnapshot {
  readonly pool: Pool;
  /** The key of the pool's environment: what callers that are bound to some environments are held against. */
  readonly environmentKey: string;
  /** Whether work in the pool's environment is real. */
  readonly environmentMode: "live" | "sandbox";
  /** By id, removed ones left out. */
  readonly recipients: readonly Recipient[];
  /** Enabled ones, in the order in which they apply. */
  readonly rules: readonly Rule[];
  /** SHA-256 over what a decision depends on, as 64 hex digits. */
  readonly digest: string;
}

/** All pools of a tenant that take items, as one node knows them, in the order of their creation. */
export interface TenantPools {
  readonly pools: ReadonlyMap<PoolId, PoolSnapshot>;
}

/** A record without the fields that no decision depends on. */
export function withoutStamps<R extends Stamps>({ createdAt: _c, updatedAt: _u, recordVersion: _v, ...rest }: R) {
  return rest;
}
