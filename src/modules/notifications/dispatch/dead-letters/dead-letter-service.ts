import type { Context } from "../../../../chain/call.ts";
import { fail } from "../../../../errors/index.ts";
import { notFound } from "../../../../platform/db/index.ts";
import type { EventRecorder } from "../../../operations/index.ts";
import { broadcastStore } from "../broadcasts/broadcast-store.ts";
import type { BroadcastStatus } from "../domain/broadcast.ts";
import { type DeadLetter, redriveRefusal } from "../domain/dead-letter.ts";
import { deadLetterStore } from "./dead-letter-store.ts";
import { type RedriveCount, type RedriveFilter, redriveStore } from "./redrive-store.ts";

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
  readonly events: Pick<EventRecorder, "record" | "recordMany">;
  readonly wakeExpander: () => void;
  readonly wakeDispatch: () => void;
}

/** The use cases of notification dead letters. */
export type DeadLetterService = ReturnType<typeof createDeadLetterService>;

/** Creates the dead-letter service. */
export function createDeadLetterService({ events, wakeExpander, wakeDispatch }: Dependencies) {
  /** Resumes a broadcast at the page that failed. */
  async function reopen(context: Context, letter: DeadLetter): Promise<DeadLetter> {
    const { sql, tenantId, nowMs } = context;
    const broadcast = await broadcastStore(sql).reopen(tenantId, letter.broadcastId, new Date(nowMs));
    if (broadcast === undefined) {
      const found = await broadcastStore(sql).find(tenantId, letter.broadcastId);
      throw found === undefined ? sourceDeleted() : notFailed(found.status);
    }
    context.afterCommit(wakeExpander);
    return deadLetterStore(sql).markRedriven(tenantId, letter.id);
  }

  return {
    /** Retries a failed delivery or page. The recipient's preferences are evaluated again before it is sent. */
    async redrive(context: Context, id: string, reason: string): Promise<DeadLetter> {
      const { sql, tenantId, nowMs, principal } = context;
      const store = deadLetterStore(sql);
      const letter = await store.lock(tenantId, id);
      if (letter === undefined) throw notFound("dead letter");
      const refusal = redriveRefusal(letter, nowMs);
      if (refusal !== undefined) throw fail(refusal.code, { public: refusal.why });
      let redriven = await store.markRedriving(tenantId, id, principal.subject, reason);
      if (letter.kind === "fanout_page") redriven = await reopen(context, letter);
      else {
        if (!(await store.requeue(tenantId, letter.deliveryId))) throw sourceDeleted();
        context.afterCommit(wakeDispatch);
      }
      await events.record(context, "notification.dead_letter.redriven", id, eventData(letter));
      return redriven;
    },

    /** Retries the open dead letters that match a filter, oldest first; a preview only counts them. */
    async redriveMany(
      context: Context,
      filter: RedriveFilter,
      { preview, limit, reason }: RedriveOptions,
    ): Promise<RedriveResult> {
      const { sql, tenantId, nowMs, principal, afterCommit } = context;
      const store = redriveStore(sql);
      const now = new Date(nowMs);
      const counted = await store.count(tenantId, filter, now);
      if (preview || counted.matched === 0) return { ...counted, redriven: 0 };
      const redriven = await store.redrive(tenantId, filter, now, limit || redrivesMax, principal.subject, reason);
      const entries = redriven.map((letter) => ({
        ...{
          tenantId,
          type: "notification.dead_letter.redriven" as const,
          subject: letter.id,
          data: eventData(letter),
        },
      }));
      await events.recordMany(sql, entries, nowMs);
      if (redriven.some(({ kind }) => kind === "fanout_page")) afterCommit(wakeExpander);
      if (redriven.some(({ kind }) => kind === "delivery")) afterCommit(wakeDispatch);
      return { ...counted, redriven: redriven.length };
    },
  };
}

function eventData({ kind, transactionId, deliveryId }: Pick<DeadLetter, "kind" | "transactionId" | "deliveryId">) {
  return { kind, transaction_id: transactionId, delivery_id: deliveryId };
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
