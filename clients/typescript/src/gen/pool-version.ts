// Generated from the definitions; do not edit.
import { bindOperations } from "../transport/bind.ts";
import type { CallOptions, Operation } from "../transport/operation.ts";
import type { Transport } from "../transport/transport.ts";
import type { List } from "../transport/list.ts";
import type { PoolConfig, PoolConfigInput } from "./pool.ts";
import type { RuleAction, RuleActionInput } from "./rule.ts";

/** Versions of pools: what a pool routes by, at a time. A version never changes. */
export interface PoolVersionService {
  /** Stages a version without activating it. Parts that are absent are copied from the pool as it is now. */
  create(request: CreatePoolVersionRequest, options?: CallOptions): Promise<PoolVersion>;

  /** Returns one version with its content. */
  get(request: GetPoolVersionRequest, options?: CallOptions): Promise<PoolVersion>;

  /** Lists the versions of a pool without their content, newest first. Every change of the strategy, the config or the rules is a version. The 500 newest ones are kept, and all staged ones. */
  list(request: ListPoolVersionsRequest, options?: CallOptions): List<PoolVersion>;

  /** Compares a version with another one. */
  diff(request: DiffPoolVersionRequest, options?: CallOptions): Promise<PoolVersionDiff>;

  /** Makes a version the content of its pool: its strategy, config and rules. Recipients stay as they are. Use a promotion to check a version and to try it on a part of the items first. */
  activate(request: ActivatePoolVersionRequest, options?: CallOptions): Promise<PoolVersion>;
}

const poolVersionServiceOperations = {
  create: { verb: "POST", path: "/api/pools/{pool_id}/versions", body: "*", keyed: true },
  get: { verb: "GET", path: "/api/pools/{pool_id}/versions/{version}" },
  list: { verb: "GET", path: "/api/pools/{pool_id}/versions", result: "cursor" },
  diff: { verb: "GET", path: "/api/pools/{pool_id}/versions/{version}/diff" },
  activate: { verb: "POST", path: "/api/pools/{pool_id}/versions/{version}/activate", body: "*", keyed: true },
} as const satisfies Record<keyof PoolVersionService, Operation>;

/** Creates the service over a transport. */
export function createPoolVersionService(transport: Transport): PoolVersionService {
  return bindOperations<PoolVersionService>(transport, poolVersionServiceOperations);
}

/** The rules of a new version. */
export type PoolVersionRules = {
  /** The rules; rules of equal priority apply in this order. */
  readonly rules?: readonly PoolVersionRuleInput[];
};

/** A rule of a version. */
export type PoolVersionRuleInput = {
  /** The rule's id. In a new version: the id of a rule of the pool that it replaces; empty for a new rule. */
  readonly id?: string;
  /** The display name. */
  readonly name: string;
  /** Lower applies first; default 100. */
  readonly priority?: number;
  /** CEL over item, pool and now, and over recipient if the action is require or prefer; always true when empty. */
  readonly condition?: string;
  /** Whether it applies; default true. */
  readonly enabled?: boolean;
  /** Whether later rules are skipped when it matches; default true. */
  readonly stop_on_match?: boolean;
  /** What happens if the condition fails to evaluate: skip (default) or reject. */
  readonly on_error?: "skip" | "reject";
  /** The action. */
  readonly action: RuleActionInput;
};

/** Request to stage a version. */
export type CreatePoolVersionRequest = {
  /** The pool's id. */
  readonly pool_id: string;
  /** The strategy; the pool's when absent. */
  readonly strategy?: "weighted_random" | "round_robin" | "least_loaded" | "priority" | "sticky_hash" | "skills_based" | "longest_idle" | "lowest_latency" | "lowest_cost" | "first_accept" | "manual";
  /** The whole config, of which absent fields have their defaults; the pool's when absent. */
  readonly config?: PoolConfigInput;
  /** All rules; the pool's when absent. */
  readonly rule_set?: PoolVersionRules;
  /** What is new, for people. */
  readonly message?: string;
};

/** What a pool routes by, without recipients. */
export type PoolVersion = {
  /** The pool. */
  readonly pool_id: string;
  /** The number of the version, from 1. */
  readonly version: number;
  /** The SHA-256 of the content. */
  readonly sha256: string;
  /** Whether the pool has this content. */
  readonly active: boolean;
  /** change (captured from a change of the pool) or staged. */
  readonly origin: string;
  /** What is new, for people. */
  readonly message: string;
  /** Who made the change or staged the version. */
  readonly created_by: string;
  /** When. */
  readonly created_at?: string;
  /** The strategy; empty in lists, as are the next fields. */
  readonly strategy: string;
  /** The part of the config that is set explicitly. */
  readonly config?: PoolConfig;
  /** The rules, in the order in which they apply. */
  readonly rules: readonly PoolVersionRule[];
  /** The content as canonical JSON: the bytes that the digest is of. */
  readonly content: string;
};

/** A rule of a version. */
export type PoolVersionRule = {
  /** The rule's id. In a new version: the id of a rule of the pool that it replaces; empty for a new rule. */
  readonly id: string;
  /** The display name. */
  readonly name: string;
  /** Lower applies first; default 100. */
  readonly priority?: number;
  /** CEL over item, pool and now, and over recipient if the action is require or prefer; always true when empty. */
  readonly condition: string;
  /** Whether it applies; default true. */
  readonly enabled?: boolean;
  /** Whether later rules are skipped when it matches; default true. */
  readonly stop_on_match?: boolean;
  /** What happens if the condition fails to evaluate: skip (default) or reject. */
  readonly on_error?: string;
  /** The action. */
  readonly action?: RuleAction;
};

/** Identifies a version. */
export type GetPoolVersionRequest = {
  /** The pool's id. */
  readonly pool_id: string;
  /** The number of the version. */
  readonly version: number;
};

/** Request for a page of a pool's versions. */
export type ListPoolVersionsRequest = {
  /** The pool's id. */
  readonly pool_id: string;
  /** Maximum number of items per page. */
  readonly limit?: number;
  /** Cursor from a previous response; the first page when empty. */
  readonly cursor?: string;
  /** Number of items to skip. */
  readonly offset?: number;
};

/** Request to compare two versions. */
export type DiffPoolVersionRequest = {
  /** The pool's id. */
  readonly pool_id: string;
  /** The number of the version. */
  readonly version: number;
  /** The version to compare with; the active one when 0. */
  readonly against?: number;
};

/** The differences between two versions of a pool. */
export type PoolVersionDiff = {
  /** The version. */
  readonly version: number;
  /** The version that it was compared with. */
  readonly against: number;
  /** The differences; empty if both have the same content. */
  readonly changes: readonly PoolVersionDiffChange[];
};

/** A difference. */
export type PoolVersionDiffChange = {
  /** `strategy`, a section of the config (`config.lease`), or `rules.` and an id. */
  readonly path: string;
  /** added, removed or changed. */
  readonly change: string;
  /** The name of a rule. */
  readonly name: string;
  /** The value of the version that was compared with, as JSON; empty for none. */
  readonly before: string;
  /** The value of the version, as JSON; empty for none. */
  readonly after: string;
};

/** Request to activate a version. */
export type ActivatePoolVersionRequest = {
  /** The pool's id. */
  readonly pool_id: string;
  /** The number of the version. */
  readonly version: number;
  /** Activates the version only if the pool has the content with this digest now. */
  readonly expected_sha256?: string;
};
