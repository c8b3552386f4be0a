import type { Context } from "../../../../chain/call.ts";
import { fail } from "../../../../errors/index.ts";
import { requireFound } from "../../../../platform/db/index.ts";
import type { EventRecorder } from "../../../operations/index.ts";
import { broadcastStore } from "../broadcasts/broadcast-store.ts";
import type { BroadcastStatus } from "../domain/broadcast.ts";
import { type DeadLetter, redriveRefusal } from "../domain/dead-letter.ts";
import { deadLetterStore, type RedriveCount, type RedriveFilter } from "./dead-letter-store.ts";

/** The most dead letters that one call redrives. */
const redrivesMax = 1000;

/** How dead letters are redriven. */
export interface RedriveOptions {
  readonly preview: boolean;
  /** 0 for the maximum. */
  readonly limit: number;
  readonly reason: string;
}

/** The result of a redrive of many. */
export interface RedriveResult extends RedriveCount {
  readonly redriven: number;
}

interface Dependencies {
  readonly events: Pick<EventRecorder, "recordMany">;
  readonly wakeExpander: () => void;
  readonly wakeDispatch: () => void;
}

export type DeadLetterService = ReturnType<typeof createDeadLetterService>;

export function createDeadLetterService({ events, wakeExpander, wakeDispatch }: Dependencies) {
  /** Records the redrives, and wakes the workers that continue after the commit. */
  async function finishRedrives(context: Context, letters: readonly DeadLetter[]) {
    const { sql, tenantId, nowMs, afterCommit, principal } = context;
    const entries = letters.map(({ id, kind, transactionId, deliveryId }) => ({
      ...{ tenantId, type: "notification.dead_letter.redriven" as const, subject: id },
      data: { kind, transaction_id: transactionId, delivery_id: deliveryId },
    }));
    await events.recordMany(sql, entries, nowMs, principal.subject);
    if (letters.some(({ kind }) => kind === "fanout_page")) afterCommit(wakeExpander);
    if (letters.some(({ kind }) => kind === "delivery")) afterCommit(wakeDispatch);
  }

  return {
    /** Retries a failed delivery or page. The recipient's preferences are evaluated again before it is sent. */
    async redrive(context: Context, id: string, reason: string): Promise<DeadLetter> {
      const { sql, tenantId, nowMs, principal } = context;
      const store = deadLetterStore(sql);
      const letter = requireFound(await store.lock(tenantId, id), "dead letter");
      const refusal = redriveRefusal(letter, nowMs);
      if (refusal !== undefined) throw fail(refusal.code, { public: refusal.why });
      const redriven = await store.redrive(tenantId, id, { now: new Date(nowMs), by: principal.subject, reason });
      if (redriven === undefined) {
        const broadcast =
          letter.kind === "fanout_page" ? await broadcastStore(sql).find(tenantId, letter.broadcastId) : undefined;
        throw broadcast === undefined ? sourceDeleted() : notFailed(broadcast.status);
      }
      await finishRedrives(context, [redriven]);
      return redriven;
    },

    /** Retries the open dead letters that match a filter, oldest first; a preview only counts them. */
    async redriveMany(context: Context, filter: RedriveFilter, { preview, limit, reason }: RedriveOptions) {
      const { sql, tenantId, nowMs, principal } = context;
      const store = deadLetterStore(sql);
      const now = new Date(nowMs);
      const counted = await store.count(tenantId, filter, now);
      if (preview || counted.matched === 0) return { ...counted, redriven: 0 };
      const change = { now, by: principal.subject, reason };
      const redriven = await store.redriveMatching(tenantId, filter, limit || redrivesMax, change);
      await finishRedrives(context, redriven);
      return { ...counted, redriven: redriven.length };
    },
  };
}

function notFailed(status: BroadcastStatus) {
  return fail("FAILED_PRECONDITION", {
    public: `The broadcast of this dead letter is ${status}; only a failed one can be continued.`,
  });
}

function sourceDeleted() {
  return fail("FAILED_PRECONDITION", {
    public: "The delivery or broadcast of this dead letter has been deleted; trigger the notification again.",
  });
}
