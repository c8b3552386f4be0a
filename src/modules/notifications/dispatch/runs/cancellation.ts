import type { Context } from "../../../../chain/call.ts";
import type { TenantId } from "../../../../platform/access/index.ts";
import { notFound, type Sql } from "../../../../platform/db/index.ts";
import type { EventRecorder } from "../../../operations/index.ts";
import type { DeliveryReporter } from "../delivery/delivery-report.ts";
import { cancellationStore } from "./cancellation-store.ts";
import { digestStore } from "./digest-store.ts";

/** How many runs and deliveries one call cancels at once. The rest is cancelled when it is due. */
const cancelledMax = 10_000;

export interface Cancellation {
  readonly transactionId: string;
  readonly cancelledRuns: number;
  readonly cancelledDeliveries: number;
}

interface Dependencies {
  readonly events: Pick<EventRecorder, "record">;
  readonly reporter: Pick<DeliveryReporter, "count">;
  readonly wakeRuns: () => void;
}

/** Creates the use case that cancels a trigger's unsent messages. */
export function createCancellation({ events, reporter, wakeRuns }: Dependencies) {
  return async (context: Context, transactionId: string): Promise<Cancellation> => {
    const { sql, tenantId, nowMs, afterCommit } = context;
    const now = new Date(nowMs);
    const store = cancellationStore(sql);
    if (!(await store.mark(tenantId, transactionId, now))) throw notFound("trigger");
    const cancelledRuns = await cancelRuns(sql, tenantId, transactionId, now);
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

/** Cancels runs of a trigger that is marked as cancelled; returns their number. They leave their digests. */
export async function cancelRuns(sql: Sql, tenantId: TenantId, transactionId: string, now: Date): Promise<number> {
  const store = cancellationStore(sql);
  const runs = await store.cancelRuns(tenantId, transactionId, now, cancelledMax);
  const ids = runs.map(({ id }) => id);
  const left = new Set(await digestStore(sql).leave(tenantId, ids, now));
  // Their digest has ended in the meantime.
  const digested = runs.flatMap(({ id, wasCollected }) => (wasCollected && !left.has(id) ? id : []));
  await store.keepDigested(tenantId, digested);
  return runs.length - digested.length;
}

/** Marks a broadcast as cancelled and cancels its runs, up to a limit. */
export async function cancelBroadcastRuns(
  { sql, tenantId, nowMs }: Pick<Context, "sql" | "tenantId" | "nowMs">,
  transactionId: string,
): Promise<void> {
  const now = new Date(nowMs);
  await cancellationStore(sql).mark(tenantId, transactionId, now);
  await cancelRuns(sql, tenantId, transactionId, now);
}
