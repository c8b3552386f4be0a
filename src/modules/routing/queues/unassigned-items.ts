import type { TenantId } from "../../../platform/access/index.ts";
import type { Database, Sql } from "../../../platform/db/index.ts";
import type { EventRecorder } from "../../operations/index.ts";
import { groupNamesOf } from "../admission/index.ts";
import type { DeadLetters } from "../dead-letters/index.ts";
import { move } from "./transitions/item-transitions.ts";
import { addCounts, shardCount } from "./transitions/queue-counts.ts";
import { groupsOfItems } from "./transitions/transition-store.ts";

interface Parts {
  readonly db: Database;
  readonly deadLetters: Pick<DeadLetters, "bury">;
  readonly events: EventRecorder;
  readonly wake: (tenantId: string, poolId: string) => void;
}

/** Waiting items of one pool that nobody takes. */
export interface Leftover {
  readonly tenantId: TenantId;
  readonly poolId: string;
  readonly ids: readonly string[];
}

/** What becomes of items that nobody in their pool takes, however long they wait. */
export interface Leftovers {
  /** Sends those on to another pool that are still in theirs and have no recipient. */
  sendOn(leftover: Leftover, toPoolId: string, nowMs: number): Promise<void>;
  /** Puts those among the dead letters that are still in their pool and have no recipient. */
  bury(leftover: Leftover, reasonCode: string, maxRetries: number, nowMs: number): Promise<void>;
}

/** Makes it. */
export function createLeftovers({ db, deadLetters, events, wake }: Parts): Leftovers {
  return {
    async sendOn({ tenantId, poolId, ids }, toPoolId, nowMs) {
      const sent = await db.transaction(async (tx) => {
        const count = await changePool(tx, { tenantId, poolId, ids }, toPoolId);
        const changes = [
          { tenantId, poolId, depth: -count },
          { tenantId, poolId: toPoolId, depth: count },
        ];
        if (count > 0) await addCounts(tx, changes, nowMs % shardCount);
        return count;
      });
      if (sent > 0) wake(tenantId, toPoolId);
    },

    async bury({ tenantId, poolId, ids }, reasonCode, maxRetries, nowMs) {
      const { freed, told } = await db.transaction(async (tx) => {
        const items = ids.map((id) => ({ tenantId, id, poolId }));
        const groups = (await groupsOfItems(tx, items)).flatMap(groupNamesOf);
        const moves = items.map((item) => ({ ...item, from: "unassigned" as const, to: "dead_lettered" as const }));
        const done = await move(tx, moves, groups, nowMs, nowMs % shardCount);
        const letters = done.moved.map(({ id, failures }) => ({
          poolId,
          queueItemId: id,
          reasonCode,
          phase: "work" as const,
          attempts: failures,
          maxRetries,
          failedAt: new Date(nowMs),
        }));
        await deadLetters.bury(tx, tenantId, letters);
        const entries = done.moved.map(({ id, attempt }) => ({
          tenantId,
          type: "queue.item.dead_lettered" as const,
          subject: id,
          data: { pool_id: poolId, recipient_id: "", attempt, reason_code: reasonCode, phase: "work" },
        }));
        return { freed: done.freed, told: await events.recordMany(tx, entries, nowMs) };
      });
      told.wake();
      for (const each of freed) wake(each.tenantId, each.poolId);
    },
  };
}

/** Answers how many were moved: another node may have decided the same items, and been first. */
async function changePool(tx: Sql, { tenantId, poolId, ids }: Leftover, toPoolId: string): Promise<number> {
  const changed = await tx`
    update queue_items set pool_id = ${toPoolId}, assign_tries = null, assign_reason = null, assign_snapshot = null,
      assign_after = null
    where tenant_id = ${tenantId} and id = any(array(
      select id from queue_items where tenant_id = ${tenantId} and id = any(${ids as string[]}::text[])
        and pool_id = ${poolId} and state = 'ready' and recipient_id = '' order by id for update))`;
  return changed.count;
}
