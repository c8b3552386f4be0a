import { type JobKind, runInBatches } from "../../../../platform/jobs/index.ts";
import type { PlatformServices } from "../../../area.ts";
import type { EventRecorder } from "../../../operations/index.ts";
import { ackTopic } from "../domain/stream.ts";
import { checkConsumers, type ExpiredConsumer } from "./consumer-store.ts";

interface Dependencies extends Pick<PlatformServices, "db" | "clock" | "signals"> {
  readonly events: EventRecorder;
  readonly platformTenantId: () => string;
}

const everyMs = 60_000;
const batchSize = 500;

/** Creates the job that removes consumers which do not acknowledge any more, as the pins of their streams say. */
export function removeIdleConsumersJob({ db, clock, signals, events, platformTenantId }: Dependencies): JobKind {
  return {
    kind: "workflow.remove_idle_consumers",
    every: { ms: everyMs, tenantId: platformTenantId },
    async handler({ signal }) {
      await runInBatches(signal, batchSize, async (limit) => {
        const nowMs = clock.now();
        const { checked, expired } = await db.transaction(async (tx) => {
          const found = await checkConsumers(tx, new Date(nowMs), limit);
          await events.recordMany(tx, found.expired.map(removedEvent), nowMs);
          return found;
        });
        // Records that only they had not acknowledged are not unread any more.
        for (const key of expired) signals.wake(ackTopic(key));
        return checked;
      });
    },
  };
}

function removedEvent({ tenantId, runId, streamId, consumerId, name, environmentId }: ExpiredConsumer) {
  const data = {
    ...{ environment_id: environmentId, run_id: runId, name, consumer_id: consumerId, reason: "idle", by: "" },
  };
  return { tenantId, type: "workflow.stream.consumer_removed" as const, subject: streamId, data };
}
