import type { Fragment, Sql } from "./sql/sql.ts";

/** The purpose of an advisory lock. It is part of the key, so equal ids of two purposes are different locks. */
type LockPurpose =
  /** Starts of nodes with the same bootstrap key, by its prefix. */
  | "bootstrap_key"
  /** Starts of bulk operations in a tenant, so that their count stays correct. */
  | "bulk_operations"
  /** Creation of conformance runs in a tenant, so that their count stays correct. */
  | "conformance_runs"
  /** Starts of conformance runs of all tenants, so that the number of running ones stays correct. */
  | "conformance_starts"
  /** Creation of trigger subscriptions in a tenant, so that the limit holds. */
  | "connector_trigger_subscriptions"
  /** Retries of the dead letters of a pool. */
  | "dead_letter_retries"
  /** Changes of groups and of their roles in a tenant. Sign-ins, which read them, share the lock. */
  | "group_roles"
  /** Requests with the same idempotency key. */
  | "idempotency_key"
  /** A tenant's inserts of layouts and changes of defaults. */
  | "layouts"
  /** All changes of a tenant's installations of packs. */
  | "marketplace_installations"
  /** Registration of publisher keys in a tenant, so that their count stays correct. */
  | "marketplace_keys"
  /** Publication of a tenant's packs. */
  | "marketplace_packs"
  /** Changes of a tenant's partials, so that they never include each other in a circle. */
  | "partials"
  /** Changes of the partitions of a table. */
  | "partitions"
  /** Creation of the platform tenant. */
  | "platform_tenant"
  /** Changes of the redirects between a tenant's pools, so that they never form a circle. */
  | "pool_redirects"
  /** Changes of a subscriber's preferences, so that their count stays correct. */
  | "preferences"
  /** Drains of a pool. */
  | "queue_drains"
  /** Leases for a recipient with a capacity, so that the count of its items stays correct. */
  | "recipient_capacity"
  /** Creation of item schedules in a tenant, so that their count stays correct. */
  | "routing_schedules"
  /** Creation of SCIM groups with the same name. */
  | "scim_group"
  /** Creation of SCIM users with the same name. */
  | "scim_user"
  /** Claims of shards of one kind. */
  | "shards"
  /** First sign-ins of a person, so that they create one member. */
  | "sign_in"
  /** Preparations of the stamps of a server. */
  | "stamps"
  /** Removals of a stream's large objects, and legal holds on it. */
  | "stream_removals"
  /** Creation, publication and archiving of a tenant's workflow definitions. */
  | "workflow_definitions"
  /** Creation of workflow triggers in a tenant, so that their count stays correct. */
  | "workflow_triggers";

/** Waits for the lock of a purpose and ids, and holds it until the transaction ends. */
export async function lockFor(tx: Sql, purpose: LockPurpose, ...ids: readonly string[]): Promise<void> {
  await tx`select pg_advisory_xact_lock(${lockKey(tx, purpose, ids)})`;
}

/** Like `lockFor`, but any number of transactions can share the lock. */
export async function shareLockFor(tx: Sql, purpose: LockPurpose, ...ids: readonly string[]): Promise<void> {
  await tx`select pg_advisory_xact_lock_shared(${lockKey(tx, purpose, ids)})`;
}

/** Takes one lock per id in one statement, always in the same order to avoid deadlocks. */
export async function lockEachFor(tx: Sql, purpose: LockPurpose, ids: Iterable<string>): Promise<void> {
  const keys = Array.from(ids, (id) => JSON.stringify([purpose, id])).sort();
  await tx`select pg_advisory_xact_lock(hashtextextended(key, 0)) from unnest(${keys}::text[]) as key`;
}

/** A condition that takes the lock until the transaction ends; false if another transaction holds it. */
export function tryLockFor(tx: Sql, purpose: LockPurpose, ...ids: readonly string[]): Fragment {
  return tx`pg_try_advisory_xact_lock(${lockKey(tx, purpose, ids)})`;
}

function lockKey(tx: Sql, purpose: LockPurpose, ids: readonly string[]): Fragment {
  return tx`hashtextextended(${JSON.stringify([purpose, ...ids])}, 0)`;
}
