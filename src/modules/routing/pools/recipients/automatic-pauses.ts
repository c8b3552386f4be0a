import type { EventContext } from "../../../operations/index.ts";
import type { RecipientId } from "../domain/recipient.ts";
import { type AutomaticPause, anomalyActor, pauseEventData } from "../domain/recipient-pause.ts";
import type { PoolServiceParts } from "../pool-access.ts";
import { poolStore } from "../pool-store.ts";
import { pauseStore } from "./pause-store.ts";
import { recipientStore } from "./recipient-store.ts";

/** Creates the pauses that background jobs begin, and the end of all pauses, in the transactions of these jobs. */
export function createAutomaticPauses({ access, events }: PoolServiceParts) {
  return {
    /** Pauses the active ones of the given recipients and returns their ids. */
    async pauseRecipients(context: EventContext, poolId: string, wanted: readonly AutomaticPause[]) {
      const { sql, tenantId, nowMs } = context;
      const pool = await poolStore(sql).raiseRevision(tenantId, poolId);
      if (pool === undefined) return [];
      const since = new Date(nowMs);
      const ids = wanted.map(({ recipientId }) => recipientId);
      const paused = await recipientStore(sql).setPaused(tenantId, pool, ids, true, since);
      if (paused.length === 0) return [];
      const pauses = wanted
        .filter(({ recipientId }) => paused.includes(recipientId as RecipientId))
        .map((pause) => ({ ...pause, cause: "anomaly" as const, actor: anomalyActor, since }));
      await pauseStore(sql).save(tenantId, pool.id, pauses);
      await access.announce(context, pool.id);
      const entries = pauses.map(({ recipientId, ...pause }) => ({
        tenantId,
        type: "recipient.paused" as const,
        subject: recipientId,
        data: pauseEventData(pool.id, pause),
      }));
      await events.recordMany(sql, entries, nowMs);
      return paused;
    },

    /** Resumes the recipients of a pool whose pauses have ended and returns their ids. */
    async resumeRecipients(context: EventContext, poolId: string): Promise<readonly RecipientId[]> {
      const { sql, tenantId, nowMs } = context;
      const now = new Date(nowMs);
      const pool = await poolStore(sql).raiseRevision(tenantId, poolId);
      const ended = await pauseStore(sql).removeEnded(tenantId, poolId, now);
      if (pool === undefined || ended.length === 0) return [];
      const ids = ended.map(({ recipientId }) => recipientId);
      const resumed = await recipientStore(sql).setPaused(tenantId, pool, ids, false, now);
      await access.announce(context, pool.id);
      const entries = ended
        .filter(({ recipientId }) => resumed.includes(recipientId))
        .map(({ recipientId, cause, actor }) => ({
          tenantId,
          type: "recipient.resumed" as const,
          subject: recipientId,
          data: { pool_id: pool.id, cause: cause === "anomaly" ? "cool_down_ended" : "pause_ended", actor },
        }));
      await events.recordMany(sql, entries, nowMs);
      return resumed;
    },
  };
}
