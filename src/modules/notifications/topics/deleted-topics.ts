import type { TenantId } from "../../../platform/access/index.ts";
import type { Clock } from "../../../platform/clock/clock.ts";
import type { Sql } from "../../../platform/db/index.ts";
import { enqueueJobs, type JobKind, runInBatches } from "../../../platform/jobs/index.ts";
import type { EventContext } from "../../operations/index.ts";
import { subscriptionStore } from "./subscription-store.ts";

interface Dependencies {
  readonly sql: Sql;
  readonly clock: Clock;
  readonly wakeJobs: () => void;
}

const jobKind = "topics.end_members";
const batchSize = 2000;
/** The key of the topic cannot be used again before its members are removed, so the job is not given up soon. */
const attemptsMax = 1000;

/** Creates the removal of members of deleted topics, in batches. */
export function createDeletedTopics({ sql, clock, wakeJobs }: Dependencies) {
  return {
    /** Removes the members of a deleted topic after the commit of the caller's transaction. */
    async endMembersLater(context: EventContext, topicKey: string): Promise<void> {
      const { tenantId, nowMs } = context;
      const job = { tenantId, kind: jobKind, payload: { topicKey }, runAt: new Date(nowMs) };
      await enqueueJobs(context.sql, [{ ...job, maxAttempts: attemptsMax }], nowMs);
      context.afterCommit(wakeJobs);
    },

    job: {
      kind: jobKind,
      async handler({ tenantId, payload, signal }) {
        const { topicKey: key } = payload as { topicKey: string };
        const topic = { tenantId: tenantId as TenantId, key };
        await runInBatches(signal, batchSize, (limit) =>
          subscriptionStore(sql).leaveDeleted(topic, new Date(clock.now()), limit),
        );
      },
    } satisfies JobKind,
  };
}
