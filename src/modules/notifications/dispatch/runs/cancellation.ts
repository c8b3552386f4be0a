import type { Context } from "../../../../chain/call.ts";
import { notFound } from "../../../../platform/db/index.ts";
import type { EventRecorder } from "../../../operations/index.ts";
import type { DeliveryReporter } from "../delivery/delivery-report.ts";
import { cancellationStore } from "./cancellation-store.ts";
import { digestStore } from "./digest-store.ts";

/** How many runs and deliveries one call cancels at once. The rest is cancelled when it is due. */
const cancelledMax = 10_000;

/** What was cancelled. */
export interface Cancellation {
  readonly transactionId: string;
  readonly cancelledRuns: number;
  readonly cancelledDeliveries: number;
}

interface Parts {
  readonly events: Pick<EventRecorder, "record">;
  readonly reporter: Pick<DeliveryReporter, "count">;
  readonly wakeRuns: () => void;
}

/** Creates the use case that cancels what a trigger has not sent yet. */
export function createCancellation({ events, reporter, wakeRuns }: Parts) {
  return async (context: Context, transactionId: string): Promise<Cancellation> => {
    const { sql, tenantId, nowMs, afterCommit } = context;
    const now = new Date(nowMs);
    const store = cancellationStore(sql);
    if (!(await store.mark(tenantId, transactionId, now))) throw notFound("trigger");
    const runs = await store.cancelRuns(tenantId, transactionId, now, cancelledMax);
    const left = new Set(
      await digestStore(sql).leave(
        tenantId,
        runs.map(({ id }) => id),
        now,
      ),
    );
    const tooLate = runs.flatMap(({ id, wasCollected }) => (wasCollected && !left.has(id) ? id : []));
    await store.keepDigested(tenantId, tooLate);
    const cancelledRuns = runs.length - tooLate.length;
    const channels = await store.cancelDeliveries(tenantId, transactionId, now, cancelledMax);
    const counts = { cancelled_runs: cancelledRuns, cancelled_deliveries: channels.length };
    await events.record(context, "notification.trigger.cancelled", transactionId, counts);
    afterCommit(() => {
      reporter.count(channels.map((channel) => ({ tenantId, channel, status: "skipped" as const })));
      // A digest may have got another leader.
      wakeRuns();
    });
    return { transactionId, cancelledRuns, cancelledDeliveries: channels.length };
  };
}
