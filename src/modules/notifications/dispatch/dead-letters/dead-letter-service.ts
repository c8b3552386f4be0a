import type { Context } from "../../../../chain/call.ts";
import { fail } from "../../../../errors/index.ts";
import { notFound } from "../../../../platform/db/index.ts";
import type { EventRecorder } from "../../../operations/index.ts";
import { broadcastStore } from "../broadcasts/broadcast-store.ts";
import { type DeadLetter, redriveRefusal } from "../domain/dead-letter.ts";
import { deadLetterStore } from "./dead-letter-store.ts";

interface Parts {
  readonly events: Pick<EventRecorder, "record">;
  readonly wakeExpander: () => void;
  readonly wakeDispatch: () => void;
}

/** The use cases of notification dead letters. */
export type DeadLetterService = ReturnType<typeof createDeadLetterService>;

/** Creates the dead-letter service. */
export function createDeadLetterService({ events, wakeExpander, wakeDispatch }: Parts) {
  /** Resumes a broadcast at the page that failed. */
  async function reopen(context: Context, letter: DeadLetter): Promise<DeadLetter> {
    const { sql, tenantId, nowMs } = context;
    const broadcast = await broadcastStore(sql).reopen(tenantId, letter.broadcastId, new Date(nowMs));
    if (broadcast === undefined) throw sourceDeleted();
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
      const data = { kind: letter.kind, transaction_id: letter.transactionId, delivery_id: letter.deliveryId };
      await events.record(context, "notification.dead_letter.redriven", id, data);
      return redriven;
    },
  };
}

function sourceDeleted() {
  return fail("FAILED_PRECONDITION", {
    public: "The delivery or broadcast of this dead letter has been deleted; trigger the notification again.",
  });
}
