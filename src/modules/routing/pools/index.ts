/**
 * Pools group the recipients of work and hold the rules that route items to them.
 *
 * pool: a group of recipients with a strategy. recipient: a worker or endpoint of one pool that receives work.
 * rule: an action that a pool applies to items that match a condition. snapshot: an immutable view of a pool that
 * decisions use, cached in memory. revision: a counter that every change of a pool, its recipients or its rules
 * increments; nodes reload only pools whose revision changed. version: the strategy, the config and the rules of a pool at a
 * time, without recipients; it never changes. side: the canary's or the baseline's view of a pool while a canary is running.
 */

import { fail } from "../../../errors/index.ts";
import type { TenantId } from "../../../platform/access/index.ts";
import type { Sql } from "../../../platform/db/index.ts";
import type { PlatformServices } from "../../area.ts";
import type { EventRecorder } from "../../operations/index.ts";
import type { PoolSnapshot } from "./domain/snapshot.ts";
import { createPoolRecords } from "./packs/pool-records.ts";
import { findRecipientUses } from "./packs/recipient-uses.ts";
import { createRuleRecords } from "./packs/rule-records.ts";
import { type Caller, createPoolAccess, requireUsablePool } from "./pool-access.ts";
import { poolHandlers } from "./pool-handler.ts";
import { createPoolService } from "./pool-service.ts";
import { findPoolId, findPools, poolStore } from "./pool-store.ts";
import { createAutomaticPauses } from "./recipients/automatic-pauses.ts";
import { pauseStore, poolsWithEndedPauses } from "./recipients/pause-store.ts";
import { recipientHandlers } from "./recipients/recipient-handler.ts";
import { createRecipientService } from "./recipients/recipient-service.ts";
import { ruleHandlers } from "./rules/rule-handler.ts";
import { createRuleService } from "./rules/rule-service.ts";
import { decodeSnapshot, encodeChunk, encodeSnapshotHead, listChunks } from "./snapshots/snapshot-codec.ts";
import { createSnapshots, type Snapshots } from "./snapshots/snapshots.ts";
import { poolVersionHandlers } from "./versions/version-handler.ts";
import { createPoolVersionService } from "./versions/version-service.ts";
import type { CloseQueue, RecipientLoadReader } from "./work-store.ts";

export { type DeliveryAction, renderActionInput } from "./domain/delivery-action.ts";
export type { Pool, PoolId, PoolStatus } from "./domain/pool.ts";
export type {
  AdmissionConfig,
  AnomalyConfig,
  FallbackStep,
  PoolConfig,
  ReservationConfig,
} from "./domain/pool-config.ts";
export {
  type ContentChange,
  configOf,
  decodeContent,
  diffContents,
  digestOfStrategy,
  type PoolContent,
  withStrategyOf,
} from "./domain/pool-content.ts";
export { priorityWorthS, strictPriorityS } from "./domain/queue-order.ts";
export type { DeliveryMode, Recipient, RecipientId, RecipientLoad, RecipientStatus } from "./domain/recipient.ts";
export { type AutomaticPause, describePause } from "./domain/recipient-pause.ts";
export type { Rule, RuleAction, RuleId } from "./domain/rule.ts";
export { type PoolSnapshot, sideOf, type TenantPools } from "./domain/snapshot.ts";
export type { Strategy } from "./domain/strategy.ts";
export { allPools, ofEnvironment } from "./environment-filter.ts";
export { inUsablePools, usablePools } from "./pool-store.ts";
export { createRecipientNames, type RecipientNames } from "./recipients/recipient-names.ts";
export type { RecipientChunk } from "./snapshots/recipient-chunks.ts";
export { deriveSnapshot, type SnapshotBody, type SnapshotHead } from "./snapshots/snapshot-codec.ts";
export { type StoredPoolVersion, versionStore } from "./versions/version-store.ts";
export { type CloseQueue, type RecipientLoadReader, recipientLoadStore } from "./work-store.ts";

interface Dependencies extends Pick<PlatformServices, "db" | "changes"> {
  readonly events: EventRecorder;
  readonly loads: RecipientLoadReader;
  readonly closeQueue: CloseQueue;
  /** Returns the reason why a URL must not be called, or undefined if it may be called. */
  readonly urlRefusal: (url: string) => string | undefined;
}

/** Read access to pools for other modules. */
export interface PoolReader extends Snapshots {
  /** Returns a pool. Throws NOT_FOUND if it does not exist and PERMISSION_DENIED if its environment is off limits. */
  requirePool(caller: Caller, poolId: string): PoolSnapshot | Promise<PoolSnapshot>;
  /**
   * Returns a pool like requirePool, but undefined if the pool was deleted. The ended items and the dead letters of a
   * deleted pool remain, and whoever might use the pool may read them.
   */
  requireKnownPool(caller: Caller, poolId: string): Promise<PoolSnapshot | undefined>;
  /** Returns the pool in which dead letters are requeued. Throws FAILED_PRECONDITION if it was deleted. */
  requireRetryPool(caller: Caller, poolId: string): Promise<PoolSnapshot>;
}

export type Pools = ReturnType<typeof createPools>;

export function createPools({ db, changes, events, loads, closeQueue, urlRefusal }: Dependencies) {
  const snapshots = createSnapshots({ db, changes });
  const access = createPoolAccess(changes, snapshots);
  const recipients = createRecipientService({ access, events, urlRefusal });
  const poolService = createPoolService({ access, events, closeQueue });
  const ruleService = createRuleService({ access, events });
  const versions = createPoolVersionService({ access, events });
  const reader: PoolReader = {
    ...snapshots,
    requirePool(caller, poolId) {
      const found = snapshots.snapshot(caller.tenantId, poolId);
      return found instanceof Promise
        ? found.then((pool) => requireUsablePool(caller, pool))
        : requireUsablePool(caller, found);
    },
    async requireKnownPool(caller, poolId) {
      const found = await snapshots.snapshot(caller.tenantId, poolId);
      if (found !== undefined) return requireUsablePool(caller, found);
      const stored = await poolStore(db.sql).find(caller.tenantId, poolId);
      requireUsablePool(caller, stored?.status === "archived" ? stored : undefined);
      return undefined;
    },
    async requireRetryPool(caller, poolId) {
      const found = await reader.requireKnownPool(caller, poolId);
      if (found !== undefined) return found;
      throw fail("FAILED_PRECONDITION", {
        public:
          "The pool was deleted, so its dead letters cannot be retried. They can still be read and purged. Route their work to another pool as new items.",
      });
    },
  };
  return {
    handlers: {
      pools: poolHandlers(poolService),
      recipients: recipientHandlers(recipients, loads),
      rules: ruleHandlers(ruleService),
      versions: poolVersionHandlers(versions, access),
    },
    ...reader,
    findPools,
    findPoolId,
    access,
    versions,
    /** Locks a pool until the transaction ends. */
    lockPool: (sql: Sql, tenantId: TenantId, poolId: string) => poolStore(sql).lock(tenantId, poolId),
    /** Finds a pool that is not archived by its id or its name. */
    findNamedPool: (sql: Sql, tenantId: TenantId, idOrName: string) => poolStore(sql).findNamed(tenantId, idOrName),
    /** The records that packs contain. */
    packRecords: [createPoolRecords(access, poolService), createRuleRecords(access, ruleService)],
    /** Finds recipients that refer to records of other areas. */
    findUses: findRecipientUses,
    /** Pauses that background jobs begin and end. */
    ...createAutomaticPauses({ access, events }),
    poolsWithEndedPauses,
    /** The pauses of recipients; those that are not paused are missing. */
    findPauses: (sql: Sql, tenantId: TenantId, recipientIds: readonly string[]) =>
      pauseStore(sql).findMany(tenantId, recipientIds),
    /** Encodes snapshots for storage and decodes them for replays. */
    snapshotCodec: { encodeHead: encodeSnapshotHead, chunks: listChunks, encodeChunk, decode: decodeSnapshot },
  };
}
