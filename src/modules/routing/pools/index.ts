/**
 * Pools: who takes work, and by which rules.
 *
 * pool: a group of recipients with a strategy. recipient: someone or something that takes work, in one pool.
 * rule: what a pool does with items that meet a condition. snapshot: a pool as decisions see it, kept in memory.
 * revision: raised by every change of a pool, its recipients or its rules; nodes read again only what was raised.
 */

import type { Cursors } from "../../../platform/cursor/index.ts";
import type { Database, TenantChanges } from "../../../platform/db/index.ts";
import type { EventRecorder } from "../../operations/index.ts";
import type { PoolSnapshot } from "./domain/snapshot.ts";
import { type Caller, createPoolAccess, usable } from "./pool-access.ts";
import { poolHandlers } from "./pool-handler.ts";
import { createPoolService } from "./pool-service.ts";
import { recipientHandlers } from "./recipients/recipient-handler.ts";
import { createRecipientService } from "./recipients/recipient-service.ts";
import { ruleHandlers } from "./rules/rule-handler.ts";
import { createRuleService } from "./rules/rule-service.ts";
import { partBody, snapshotFrom, snapshotHead, snapshotParts } from "./snapshots/snapshot-form.ts";
import { createSnapshots, type Snapshots } from "./snapshots/snapshots.ts";
import type { HasWork, RecipientLoads } from "./work-store.ts";

export type { Pool, PoolId, PoolStatus } from "./domain/pool.ts";
export type { AdmissionConfig, AnomalyConfig, FallbackStep, PoolConfig } from "./domain/pool-config.ts";
export type { DeliveryMode, Recipient, RecipientId, RecipientLoad, RecipientStatus } from "./domain/recipient.ts";
export type { Rule, RuleAction, RuleId } from "./domain/rule.ts";
export type { PoolSnapshot, TenantPools } from "./domain/snapshot.ts";
export type { Strategy } from "./domain/strategy.ts";
export type { RecipientPart } from "./snapshots/recipient-parts.ts";
export type { SnapshotBody, SnapshotHead } from "./snapshots/snapshot-form.ts";
export { type HasWork, type RecipientLoads, storedLoads, storedWork } from "./work-store.ts";

interface Parts {
  readonly db: Database;
  readonly changes: TenantChanges;
  readonly events: EventRecorder;
  readonly cursors: Cursors;
  readonly loads: RecipientLoads;
  readonly hasWork: HasWork;
  /** Why an address may not be sent to; undefined when it may. */
  readonly urlRefusal: (url: string) => string | undefined;
}

/** How other modules come by pools. */
export interface PoolDoor extends Snapshots {
  /** The pool that a caller names: NOT_FOUND when there is none, PERMISSION_DENIED outside of its environments. */
  usable(caller: Caller, poolId: string): PoolSnapshot | Promise<PoolSnapshot>;
}

/** The module. */
export type Pools = ReturnType<typeof createPools>;

/** Makes the module. */
export function createPools({ db, changes, events, cursors, loads, hasWork, urlRefusal }: Parts) {
  const snapshots = createSnapshots({ db, changes });
  const access = createPoolAccess(changes, snapshots);
  const recipients = createRecipientService({ access, events, urlRefusal });
  const door: PoolDoor = {
    ...snapshots,
    usable(caller, poolId) {
      const found = snapshots.snapshot(caller.tenantId, poolId);
      return found instanceof Promise ? found.then((pool) => usable(caller, pool)) : usable(caller, found);
    },
  };
  return {
    handlers: {
      pools: poolHandlers(createPoolService({ access, events, hasWork }), cursors),
      recipients: recipientHandlers(recipients, loads, cursors),
      rules: ruleHandlers(createRuleService({ access, events }), cursors),
    },
    ...door,
    /** Pauses active recipients of a pool in the transaction of background work; answers with their ids. */
    pauseRecipients: recipients.pauseRecipients,
    /** How snapshots are stored for replays, and restored. */
    snapshotForm: { head: snapshotHead, parts: snapshotParts, partBody, restore: snapshotFrom },
  };
}
