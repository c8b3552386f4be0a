import type { TenantId } from "../../../platform/access/index.ts";
import type { Sql } from "../../../platform/db/index.ts";
import { type JobKind, retentionJob, runInBatches } from "../../../platform/jobs/index.ts";
import type { PlatformServices } from "../../area.ts";
import type { EventReader } from "../events/index.ts";
import { deliveryStore } from "./deliveries/delivery-store.ts";
import { isSubscribed } from "./domain/fan-out.ts";
import type { Replay } from "./domain/replay.ts";
import { type EndpointRef, endpointStore } from "./endpoints/endpoint-store.ts";
import { replayStore } from "./replays/replay-store.ts";

/** The kind of the job that replays a time range. */
export const replayKind = "webhooks.replay";

/** The kind of the job that deletes the deliveries of a deleted endpoint. */
export const endpointCleanupKind = "webhooks.delete_endpoint";

const dayMs = 86_400_000;
const batchSize = 5000;
const eventBatchSize = 500;

interface Dependencies extends Pick<PlatformServices, "db" | "clock"> {
  readonly reader: EventReader;
  readonly retentionDays: number;
  readonly platformTenantId: () => string;
  /** Notifies this node's sender that an endpoint has due deliveries. */
  readonly onDue: (endpoint: EndpointRef) => void;
}

/** The background jobs of webhooks, apart from the follower and the sender. */
export function webhookJobs(dependencies: Dependencies): JobKind[] {
  return [replayJob(dependencies), endpointCleanupJob(dependencies.db.sql), expiredDeliveriesJob(dependencies)];
}

/** Replays a time range in batches. The position is committed with each batch, so that another node can continue. */
function replayJob({ db, reader, clock, onDue }: Dependencies): JobKind {
  return {
    kind: replayKind,
    async handler({ tenantId, payload, signal }) {
      const { replayId } = payload as { replayId: string };
      for (let replay: Replay | undefined; ; ) {
        signal.throwIfAborted();
        replay = await db.transaction((tx) => replayBatch(tx, reader, tenantId as TenantId, replayId, clock.now()));
        if (replay !== undefined) onDue(replay);
        if (replay?.status !== "running") return;
      }
    },
  };
}

async function replayBatch(
  tx: Sql,
  reader: EventReader,
  tenantId: TenantId,
  replayId: string,
  nowMs: number,
): Promise<Replay | undefined> {
  const replay = await replayStore(tx).lockRunning(tenantId, replayId);
  if (replay === undefined) return undefined;
  const ended = { ...replay, completedAt: new Date(nowMs) };
  // The lock keeps the endpoint from becoming ordered meanwhile.
  const endpoint = await endpointStore(tx).lock(tenantId, replay.endpointId);
  let next: Replay;
  if (endpoint?.status === "active") {
    const events = await reader.headsBetween(tx, tenantId, { ...replay, after: replay.position }, eventBatchSize);
    const selected = replay.selection === "failed" ? events : events.filter((event) => isSubscribed(endpoint, event));
    const count = await deliveryStore(tx).replayMany(replay, selected, replay.selection);
    const isLast = events.length < eventBatchSize;
    next = {
      ...(isLast ? ended : replay),
      status: isLast ? "completed" : "running",
      position: events.at(-1)?.id ?? replay.position,
      replayed: replay.replayed + count,
    };
  } else {
    next = { ...ended, status: "cancelled" };
  }
  await replayStore(tx).advance(next);
  return next;
}

function endpointCleanupJob(sql: Sql): JobKind {
  return {
    kind: endpointCleanupKind,
    async handler({ tenantId, payload, signal }) {
      const { endpointId } = payload as { endpointId: string };
      const ref = { tenantId: tenantId as TenantId, endpointId };
      await runInBatches(signal, batchSize, (limit) => deliveryStore(sql).deleteForEndpoint(ref, limit));
    },
  };
}

/** Deletes deliveries and replays that ended before the retention period, and cancels replays whose job has been lost. */
function expiredDeliveriesJob(dependencies: Dependencies): JobKind {
  const ageMs = dependencies.retentionDays * dayMs;
  return retentionJob(dependencies, {
    ...{ kind: "webhooks.delete_expired_deliveries", everyMs: dayMs / 24, batchSize },
    rows: [
      { expire: (sql, now) => replayStore(sql).cancelStale(new Date(now.getTime() - dayMs), now) },
      { ageMs, table: "webhook_deliveries", column: "ended_at" },
      { ageMs, table: "webhook_replays", column: "completed_at" },
    ],
  });
}
