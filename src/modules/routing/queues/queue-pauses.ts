import type { Context } from "../../../chain/call.ts";
import type { TenantId } from "../../../platform/access/index.ts";
import type { EventRecorder } from "../../operations/index.ts";
import type { PoolReader } from "../pools/index.ts";
import { type PauseChange, type QueueStatus, queueStatuses, queueStore } from "./queue-store.ts";

interface Dependencies {
  readonly pools: Pick<PoolReader, "requirePool">;
  readonly events: EventRecorder;
  readonly wake: (tenantId: string, poolId: string) => void;
  /** Has every node give back the items of a pool that it leased ahead. Resolves when this node has done so. */
  readonly recall: (tenantId: TenantId, poolId: string) => Promise<void>;
}

/** Why a caller pauses a queue, and for how long; 0 until somebody resumes it. */
interface PauseOptions {
  readonly reason: string;
  readonly forS: number;
}

export async function readQueueStatus({ sql, tenantId, nowMs }: Context, poolId: string): Promise<QueueStatus> {
  return (await queueStatuses(sql, tenantId, [poolId], nowMs)).get(poolId)!;
}

export function createQueuePauses({ pools, events, wake, recall }: Dependencies) {
  async function setPaused(context: Context, poolId: string, change: Pick<PauseChange, "paused" | "reason" | "until">) {
    await pools.requirePool(context, poolId);
    const { sql, tenantId, nowMs, principal } = context;
    await queueStore(sql).setPaused(tenantId, poolId, { ...change, at: new Date(nowMs), by: principal.subject });
    const { paused, reason, until } = change;
    if (paused) await events.record(context, "queue.paused", poolId, { reason, until: until?.toISOString() ?? "" });
    else await events.record(context, "queue.resumed", poolId, { reason });
    context.afterCommit(() => (paused ? recall(tenantId, poolId) : wake(tenantId, poolId)));
    return readQueueStatus(context, poolId);
  }

  return {
    /** Pauses a queue. A repeated pause replaces the reason and the end. */
    pauseQueue: (context: Context, poolId: string, { reason, forS }: PauseOptions) => {
      const until = forS === 0 ? null : new Date(context.nowMs + forS * 1000);
      return setPaused(context, poolId, { paused: true, reason, until });
    },
    resumeQueue: (context: Context, poolId: string) =>
      setPaused(context, poolId, { paused: false, reason: "", until: null }),
  };
}
