/**
 * Dead letters: items that failed permanently, and the operations on them.
 *
 * letter: the record of such an item; the item itself stays in the queue's tables. retry: requeues the item, up to its
 * maximum number of retries and if its pool's constraints admit it; the letter stays and counts the retries. It follows
 * the item when a rule or a fallback redirects it to another pool.
 * quarantine: excludes the letter from retries. purge: deletes the letter and its item. The letters of a deleted pool can
 * be read, quarantined and purged, but not retried.
 */

import type { TenantId } from "../../../platform/access/index.ts";
import type { Sql } from "../../../platform/db/index.ts";
import type { PlatformServices } from "../../area.ts";
import { deadLetterHandlers } from "./handler.ts";
import { deleteExpiredLettersJob } from "./jobs.ts";
import type { PreparedReadmission, Readmission, ReadmissionBatch, RefusedItem, RequeuedItem } from "./readmission.ts";
import { createDeadLetterService, type DeadLetterParts } from "./service.ts";
import { deadLetterStore, failedItems, type NewDeadLetter, type ResolvedItem } from "./store.ts";

export type { FailedAttempt, FailurePhase } from "./domain/dead-letter.ts";
export type { NewDeadLetter, PreparedReadmission, Readmission, ReadmissionBatch, RefusedItem, RequeuedItem };

/** The module's public API. */
export type DeadLetters = ReturnType<typeof createDeadLetters>;

interface Dependencies extends Pick<PlatformServices, "clock">, DeadLetterParts {
  readonly sql: Sql;
  readonly platformTenantId: () => string;
}

export function createDeadLetters({ sql, clock, platformTenantId, ...parts }: Dependencies) {
  return {
    handlers: deadLetterHandlers(createDeadLetterService(parts)),
    backlog: failedItems,
    jobs: [deleteExpiredLettersJob({ sql, clock, platformTenantId })],
    /**
     * Records items that failed permanently, or failed again after a retry, in the transaction that ends them. The caller
     * updates the items and records its own events.
     */
    async record(tx: Sql, tenantId: TenantId, letters: readonly NewDeadLetter[]) {
      if (letters.length > 0) await deadLetterStore(tx).record(tenantId, letters);
    },
    /** Deletes the letters of retried items that ended without failing, in the same transaction. */
    async deleteResolved(tx: Sql, tenantId: TenantId, items: readonly ResolvedItem[]) {
      if (items.length > 0) await deadLetterStore(tx).deleteResolved(tenantId, items);
    },
    /** Moves the letters of retried items to the pool that the items are redirected to, in the same transaction. */
    async changePool(
      tx: Sql,
      tenantId: TenantId,
      queueItemIds: readonly string[],
      fromPoolId: string,
      toPoolId: string,
    ) {
      if (queueItemIds.length > 0) await deadLetterStore(tx).changePool(tenantId, queueItemIds, fromPoolId, toPoolId);
    },
  };
}
