import { create, fromJson } from "@bufbuild/protobuf";
import { timestampFromMs, ValueSchema } from "@bufbuild/protobuf/wkt";
import {
  AssignQueueItemResponseSchema,
  CancelQueueItemResponseSchema,
  DrainQueueResponseSchema,
  type ItemFailure as FailureMessage,
  GetQueueItemResponseSchema,
  GetQueueStatusResponseSchema,
  ItemFailureSchema,
  type QueueItem as ItemMessage,
  ListQueueItemsResponseSchema,
  ListQueuesResponseSchema,
  PauseQueueResponseSchema,
  QueueItemSchema,
  type Queue as QueueMessage,
  QueueSchema,
  ReleaseQueueItemResponseSchema,
  ResumeQueueResponseSchema,
  type QueueService as Rpc,
} from "../../../../gen/service/api/queue_pb.ts";
import type { Handlers } from "../../../chain/handlers.ts";
import { invalid } from "../../../errors/index.ts";
import { productionOf, type TenantId } from "../../../platform/access/index.ts";
import type { Cursors } from "../../../platform/cursor/index.ts";
import { ulidMs } from "../../../platform/ids/ulid.ts";
import { readPage } from "../../../platform/paging/index.ts";
import { optionalTime } from "../../../platform/records/index.ts";
import type { PoolReader } from "../pools/index.ts";
import { toAssignmentField } from "./assignment-message.ts";
import { type ItemDetails, type ItemFailure, itemStates, type QueueItem } from "./domain/queue-item.ts";
import { fromItemOffer } from "./offers/offer-message.ts";
import type { QueueService } from "./queue-service.ts";
import { type QueueStatus, queueStatuses, queueStore } from "./queue-store.ts";

export function queueHandlers(service: QueueService, pools: PoolReader, cursors: Cursors): Handlers<typeof Rpc> {
  return {
    async listQueues(context, request) {
      const { sql, principal, nowMs } = context;
      const tenantId = (request.tenantId || context.tenantId) as TenantId;
      if (tenantId !== context.tenantId && !context.platform) {
        throw invalid("tenant_id", "tenant", "must be empty or the caller's own tenant id");
      }
      const filter = {
        pausedOnly: request.pausedOnly,
        production: productionOf(principal),
      };
      const page = await readPage(
        cursors,
        request,
        {
          ...{ tenantId: context.tenantId, operation: context.operation.id },
          filter: [tenantId, filter.pausedOnly, filter.production],
        },
        ({ id }: { id: string }) => id,
        (wanted) => queueStore(sql).listPools(tenantId, filter, wanted),
      );
      const ids = page.items.map(({ id }) => id);
      const statuses = await queueStatuses(sql, tenantId, ids, nowMs);
      const queues = ids.flatMap((id) => (statuses.has(id) ? [fromQueue(tenantId, statuses.get(id)!)] : []));
      return create(ListQueuesResponseSchema, { ...page, queues });
    },

    async getQueueStatus(context, { poolId }) {
      const queue = fromQueue(context.tenantId, await service.statusOf(context, poolId));
      return create(GetQueueStatusResponseSchema, { queue });
    },

    async pauseQueue(context, request) {
      const queue = fromQueue(context.tenantId, await service.pauseQueue(context, request.poolId, request));
      return create(PauseQueueResponseSchema, { queue });
    },

    async resumeQueue(context, { poolId }) {
      const queue = fromQueue(context.tenantId, await service.resumeQueue(context, poolId));
      return create(ResumeQueueResponseSchema, { queue });
    },

    async drainQueue(context, { poolId, maxItems, reason }) {
      const { drained, remaining } = await service.drainQueue(context, poolId, maxItems, reason);
      return create(DrainQueueResponseSchema, { drainedCount: BigInt(drained), remainingDepth: BigInt(remaining) });
    },

    async listQueueItems(context, request) {
      const { sql, tenantId } = context;
      const { poolId, state, recipientId } = request;
      await pools.requireKnownPool(context, poolId);
      if (state !== "" && !itemStates.some((each) => each === state)) {
        throw invalid("state", "in", `must be one of ${itemStates.join(", ")}`);
      }
      const page = await readPage(
        cursors,
        request,
        { tenantId, operation: context.operation.id, filter: [poolId, state, recipientId] },
        (item: QueueItem) => item.id,
        (wanted) => queueStore(sql).listItems(tenantId, poolId, { state, recipientId }, wanted),
      );
      return create(ListQueueItemsResponseSchema, { ...page, items: page.items.map(fromItem) });
    },

    async getQueueItem(context, { poolId, queueItemId, waitS }) {
      const item = await service.awaitItem(context, poolId, queueItemId, waitS * 1000);
      return create(GetQueueItemResponseSchema, { item: fromItem(item) });
    },

    async cancelQueueItem(context, { poolId, queueItemId, reason }) {
      const item = await service.cancelItem(context, poolId, queueItemId, reason);
      return create(CancelQueueItemResponseSchema, { item: fromItem(item) });
    },

    async releaseQueueItem(context, { poolId, queueItemId, reason, leaseToken }) {
      const item = await service.releaseItem(context, poolId, queueItemId, reason, leaseToken);
      return create(ReleaseQueueItemResponseSchema, { item: fromItem(item) });
    },

    async assignQueueItem(context, { poolId, queueItemId, recipientId }) {
      const item = await service.assignItem(context, poolId, queueItemId, recipientId);
      return create(AssignQueueItemResponseSchema, { item: fromItem(item) });
    },
  };
}

function fromQueue(tenantId: TenantId, status: QueueStatus): QueueMessage {
  return create(QueueSchema, {
    poolId: status.poolId,
    tenantId,
    poolName: status.poolName,
    paused: status.paused,
    pausedAt: optionalTime(status.pausedAt),
    pausedBy: status.paused ? status.pausedBy : "",
    pauseReason: status.paused ? status.pauseReason : "",
    pausedUntil: optionalTime(status.pausedUntil),
    depth: BigInt(status.depth),
    readyCount: BigInt(status.readyCount),
    inFlight: BigInt(status.inFlight),
    oldestAgeS: status.oldestAgeMs / 1000,
    averageWaitS: status.leasedToday === 0 ? 0 : status.waitMsToday / status.leasedToday / 1000,
    throughputToday: BigInt(status.completedToday),
    acceptedToday: BigInt(status.acceptedToday),
    failedToday: BigInt(status.failedToday),
  });
}

function fromItem(item: QueueItem): ItemMessage {
  return create(QueueItemSchema, {
    id: item.id,
    tenantId: item.tenantId,
    poolId: item.poolId,
    recipientId: item.recipientId,
    state: item.state,
    holdReason: item.holdReason,
    type: item.type,
    key: item.key,
    attributes: item.attributes as never,
    payload: item.payload as never,
    priority: item.priority,
    enqueuedAt: timestampFromMs(ulidMs(item.id)),
    dueAt: item.state === "ready" || item.state === "leased" ? undefined : optionalTime(item.dueAt),
    expiresAt: optionalTime(item.expiresAt),
    attempt: item.attempt,
    leasedAt: optionalTime(item.leasedAt),
    leaseExpiresAt: optionalTime(item.leaseUntil),
    endedAt: optionalTime(item.endedAt),
    survivorId: item.supersededById,
    failures: item.failures.map(fromFailure),
    offers: item.offers.map(fromItemOffer),
    ...toAssignmentField(item),
    ...fromDetails(item),
  });
}

function fromDetails({ resultJson, progress, after }: ItemDetails) {
  return {
    ...(resultJson !== null && { result: fromJson(ValueSchema, JSON.parse(resultJson)) }),
    ...(progress !== null && { progress: { ...progress, reportedAt: timestampFromMs(progress.reportedAtMs) } }),
    ...(after !== null && { after: [...after.ids], afterFailure: after.onFailure }),
  };
}

function fromFailure(failure: ItemFailure): FailureMessage {
  const { attempt, failedAtMs, reasonCode, reason, recipientId } = failure;
  return create(ItemFailureSchema, {
    attempt,
    failedAt: timestampFromMs(failedAtMs),
    reasonCode,
    reason,
    recipientId,
  });
}
