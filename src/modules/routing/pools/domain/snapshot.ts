import { isOnCanarySide } from "../../../../platform/canary/index.ts";
import type { Stamps } from "../../../../platform/records/index.ts";
import type { Pool, PoolId } from "./pool.ts";
import type { Recipient } from "./recipient.ts";
import type { Rule } from "./rule.ts";

/** An immutable view of a pool that decisions use, identified by the digest of its content. */
export interface PoolSnapshot {
  readonly pool: Pool;
  /** The key of the environment, used to check the access of callers. */
  readonly environmentKey: string;
  readonly environmentMode: "live" | "sandbox";
  /** Ordered by id, without removed recipients. */
  readonly recipients: readonly Recipient[];
  /** Enabled rules in the order in which they apply. */
  readonly rules: readonly Rule[];
  /** SHA-256 of everything a decision depends on, as 64 hex digits. */
  readonly digest: string;
  /** Higher than that of every earlier snapshot of the pool; 0 for one decoded from the archive. */
  readonly revision: number;
  /** The canary that is running; undefined for none, and on the side of the canary itself. */
  readonly canary?: PoolCanary | undefined;
  /** The candidate whose side this is; undefined unless it is the side of a canary. */
  readonly candidateId?: string | undefined;
}

export interface PoolCanary {
  readonly candidateId: string;
  readonly salt: string;
  readonly sharePpm: number;
  /** The pool as the canary sees it, with the same recipients. */
  readonly snapshot: PoolSnapshot;
}

/** The view of a pool that decides about a key: the canary's or the pool itself. */
export function sideOf(snapshot: PoolSnapshot, key: string): PoolSnapshot {
  const { canary } = snapshot;
  return canary !== undefined && isOnCanarySide(canary, key) ? canary.snapshot : snapshot;
}

/** The active pools of a tenant as one node knows them, in the order of creation. */
export interface TenantPools {
  readonly pools: ReadonlyMap<PoolId, PoolSnapshot>;
}

/** Removes the fields that no decision depends on. */
export function withoutStamps<R extends Stamps>({ createdAt: _c, updatedAt: _u, recordVersion: _v, ...rest }: R) {
  return rest;
}
