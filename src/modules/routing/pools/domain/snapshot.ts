import type { Stamps } from "../../../../platform/records/index.ts";
import type { Pool, PoolId } from "./pool.ts";
import type { Recipient } from "./recipient.ts";
import type { Rule } from "./rule.ts";

/** An immutable view of a pool that decisions use, identified by the digest of its content. */
export interface PoolSnapshot {
  readonly pool: Pool;
  /** The key of the environment, used to check the access of callers. */
  readonly environmentKey: string;
  /** Whether the environment is live or a sandbox. */
  readonly environmentMode: "live" | "sandbox";
  /** Ordered by id, without removed recipients. */
  readonly recipients: readonly Recipient[];
  /** Enabled rules in the order in which they apply. */
  readonly rules: readonly Rule[];
  /** SHA-256 of everything a decision depends on, as 64 hex digits. */
  readonly digest: string;
}

/** The active pools of a tenant as one node knows them, in the order of creation. */
export interface TenantPools {
  readonly pools: ReadonlyMap<PoolId, PoolSnapshot>;
}

/** Removes the fields that no decision depends on. */
export function withoutStamps<R extends Stamps>({ createdAt: _c, updatedAt: _u, recordVersion: _v, ...rest }: R) {
  return rest;
}
