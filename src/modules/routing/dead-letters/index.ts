/**
 * Dead letters: items that failed for good, and what is done about them.
 *
 * letter: the record of such an item; its work stays with the queue. retry: puts the item back, as often as its ceiling
 * allows and if its pool's constraints let it in; the letter stays and counts. quarantine: sets it aside, out of reach of retries. purge: removes it for good.
 */
import type { DeadLetterService as Rpc } from "../../../../gen/service/api/dead_letter_pb.ts";
import type { Handlers } from "../../../chain/handlers.ts";
import type { TenantId } from "../../../platform/access/index.ts";
import type { Clock } from "../../../platform/clock/clock.ts";
import type { Cursors } from "../../../platform/cursor/index.ts";
import type { Sql } from "../../../platform/db/index.ts";
import type { JobKind } from "../../../platform/jobs/index.ts";
import { deadLetterHandlers } from "./handler.ts";
import { forgetDeadLettersJob } from "./jobs.ts";
import type { Placement, PreparedReadmission, Readmission, ReadmissionRound, RefusedItem } from "./readmission.ts";
import { createDeadLetterService, type DeadLetterParts } from "./service.ts";
import { deadLetterStore, type NewDeadLetter } from "./store.ts";

export type { FailedAttempt, FailurePhase } from "./domain/dead-letter.ts";
export type { NewDeadLetter, Placement, PreparedReadmission, Readmission, ReadmissionRound, RefusedItem };

/** The door of the module. */
export interface DeadLetters {
  readonly handlers: Handlers<typeof Rpc>;
  readonly jobs: readonly JobKind[];
  /**
   * Records items that failed for good, or did so again after a retry, in the transaction that ends them. The caller
   * changes the items and records its events itself.
   */
  bury(tx: Sql, tenantId: TenantId, letters: readonly NewDeadLetter[]): Promise<void>;
  /** Removes the letters of items that were put back and came to an end without failing, in the same transaction. */
  forget(tx: Sql, tenantId: TenantId, queueItemIds: readonly string[]): Promise<void>;
}

interface Parts extends DeadLetterParts {
  readonly sql: Sql;
  readonly clock: Clock;
  readonly cursors: Cursors;
  readonly platformTenantId: () => string;
}

/** Makes the module. */
export function createDeadLetters({ sql, clock, cursors, platformTenantId, ...parts }: Parts): DeadLetters {
  return {
    handlers: deadLetterHandlers(createDeadLetterService(parts), cursors),
    jobs: [forgetDeadLettersJob({ sql, clock, platformTenantId })],
    async bury(tx, tenantId, letters) {
      if (letters.length > 0) await deadLetterStore(tx).bury(tenantId, letters);
    },
    async forget(tx, tenantId, queueItemIds) {
      if (queueItemIds.length > 0) await deadLetterStore(tx).forget(tenantId, queueItemIds);
    },
  };
}
