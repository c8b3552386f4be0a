import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { QueueService as Rpc } from "../../../../gen/service/api/queue_pb.ts";
import type { Handlers } from "../../../chain/handlers.ts";
import { invalid } from "../../../errors/index.ts";
import { requireEnvironmentId, type TenantId } from "../../../platform/access/index.ts";
import type { Sql } from "../../../platform/db/index.ts";
import { ulidMs } from "../../../platform/ids/ulid.ts";
import type { PoolReader } from "../pools/index.ts";
import { fromAssignment } from "./assignment-message.ts";
import { type ItemFailure, itemStates, type QueueItem } from "./domain/queue-item.ts";
import { fromItemOffer } from "./offers/offer-message.ts";
import type { QueueService } from "./queue-service.ts";
import { type QueueStatus, queueStatuses, queueStore } from "./queue-store.ts";

export function queueHandlers(service: QueueService, pools: PoolReader): Handlers<typeof Rpc> {
  return {
    async listQueues(context, request) {
      const { sql, principal, nowMs } = context;
      const tenantId = (request.tenantId || context.tenantId) as TenantId;
      if (tenantId !== context.tenantId && !context.platform) {
        throw invalid("tenant_id", "tenant", "must be empty or the caller's own tenant id");
      }
      const { pausedOnly, environmentId } = request;
      const filter = { pausedOnly, environmentId, principal };
      const chosen = [tenantId, pausedOnly, environmentId, principal.environmentMode];
      const page = await context.page("queues", request, chosen, (wanted) =>
        queueStore(sql).listPools(tenantId, filter, wanted),
      );
      const ids = page.queues.map(({ id }) => id);
      return { ...page, queues: await readQueues(sql, tenantId, ids, nowMs) };
    },

    async getQueueTotals(context, request) {
      const { sql, tenantId, principal, nowMs } = context;
      const environmentId = await requireEnvironmentId(context, request.environmentId);
      const { oldestId, fullestIds, ...totals } = await queueStore(sql).totals(tenantId, principal, environmentId);
      return {
        totals: {
          ...totals,
          oldestAgeS: oldestId === null ? 0 : Math.max(0, nowMs - ulidMs(oldestId)) / 1000,
          fullest: await readQueues(sql, tenantId, fullestIds, nowMs),
        },
      };
    },

    async getQueueStatus(context, { poolId }) {
      return { queue: fromQueue(context.tenantId, await service.statusOf(context, poolId)) };
    },

    async pauseQueue(context, request) {
      return { queue: fromQueue(context.tenantId, await service.pauseQueue(context, request.poolId, request)) };
    },

    async resumeQueue(context, { poolId }) {
      return { queue: fromQueue(context.tenantId, await service.resumeQueue(context, poolId)) };
    },

    async drainQueue(context, { poolId, maxItems, reason }) {
      const { drained, remaining } = await service.drainQueue(context, poolId, maxItems, reason);
      return { drainedCount: drained, remainingDepth: remaining };
    },

    async listQueueItems(context, request) {
      const { sql, tenantId } = context;
      const { poolId, state, recipientId } = request;
      await pools.requireKnownPool(context, poolId);
      if (state !== "" && !itemStates.some((each) => each === state)) {
        throw invalid("state", "in", `must be one of ${itemStates.join(", ")}`);
      }
      const page = await context.page("items", request, [poolId, state, recipientId], (wanted) =>
        queueStore(sql).listItems(tenantId, poolId, { state, recipientId }, wanted),
      );
      return { ...page, items: page.items.map(fromItem) };
    },

    async getQueueItem(context, { poolId, queueItemId, waitS }) {
      return { item: fromItem(await service.awaitItem(context, poolId, queueItemId, waitS * 1000)) };
    },

    async cancelQueueItem(context, { poolId, queueItemId, reason }) {
      return { item: fromItem(await service.cancelItem(context, poolId, queueItemId, reason)) };
    },

    async releaseQueueItem(context, { poolId, queueItemId, reason, leaseToken }) {
      return { item: fromItem(await service.releaseItem(context, poolId, queueItemId, reason, leaseToken)) };
    },

    async assignQueueItem(context, { poolId, queueItemId, recipientId }) {
      return { item: fromItem(await service.assignItem(context, poolId, queueItemId, recipientId)) };
    },
  };
}

/** Reads the statuses of queues in the order of their ids. */
async function readQueues(sql: Sql, tenantId: TenantId, ids: readonly string[], nowMs: number) {
  const statuses = await queueStatuses(sql, tenantId, ids, nowMs);
  return ids.flatMap((id) => (statuses.has(id) ? [fromQueue(tenantId, statuses.get(id)!)] : []));
}

const fromQueue = (tenantId: TenantId, status: QueueStatus) => ({
  ...status,
  tenantId,
  pausedBy: status.paused ? status.pausedBy : "",
  pauseReason: status.paused ? status.pauseReason : "",
  oldestAgeS: status.oldestAgeMs / 1000,
  averageWaitS: status.leasedToday === 0 ? 0 : status.waitMsToday / status.leasedToday / 1000,
  throughputToday: status.completedToday,
});

const fromItem = ({ progress, after, resultJson, ...item }: QueueItem) => ({
  ...item,
  enqueuedAt: timestampFromMs(ulidMs(item.id)),
  dueAt: item.state === "ready" || item.state === "leased" ? null : item.dueAt,
  leaseExpiresAt: item.leaseUntil,
  survivorId: item.supersededById,
  failures: item.failures.map(fromFailure),
  offers: item.offers.map(fromItemOffer),
  assignment: fromAssignment(item),
  result: resultJson === null ? undefined : JSON.parse(resultJson),
  progress: progress && { ...progress, reportedAt: timestampFromMs(progress.reportedAtMs) },
  after: after?.ids ?? [],
  afterFailure: after?.onFailure ?? "",
});

const fromFailure = ({ told: _, failedAtMs, ...failure }: ItemFailure) => ({
  ...failure,
  failedAt: timestampFromMs(failedAtMs),
});
