import { create } from "@bufbuild/protobuf";
import { timestampDate, timestampFromDate } from "@bufbuild/protobuf/wkt";
import {
  type Broadcast as BroadcastMessage,
  type BroadcastProgress as BroadcastProgressMessage,
  BroadcastProgressSchema,
  BroadcastSchema,
  CancelBroadcastResponseSchema,
  type NotificationDeadLetter as DeadLetterMessage,
  type Delivery as DeliveryMessage,
  DeliverySchema,
  GetBroadcastResponseSchema,
  GetDeliveryResponseSchema,
  ListDeliveriesResponseSchema,
  ListNotificationDeadLettersResponseSchema,
  ListObservationsResponseSchema,
  type NotificationDeadLetterFilter,
  NotificationDeadLetterSchema,
  type NotificationService,
  type Observation as ObservationMessage,
  ObservationSchema,
  RedriveNotificationDeadLetterResponseSchema,
  RedriveNotificationDeadLettersResponseSchema,
} from "../../../../../gen/service/api/notification_pb.ts";
import type { Context } from "../../../../chain/call.ts";
import type { Handlers } from "../../../../chain/handlers.ts";
import { invalid } from "../../../../errors/index.ts";
import type { Cursors } from "../../../../platform/cursor/index.ts";
import { notFound } from "../../../../platform/db/index.ts";
import { readPage } from "../../../../platform/paging/index.ts";
import { optionalTime } from "../../../../platform/records/index.ts";
import type { BroadcastService } from "../broadcasts/broadcast-service.ts";
import { broadcastStore } from "../broadcasts/broadcast-store.ts";
import type { DeadLetterService } from "../dead-letters/dead-letter-service.ts";
import type { RedriveFilter } from "../dead-letters/dead-letter-store.ts";
import { deadLetterStore } from "../dead-letters/dead-letter-store.ts";
import type { Broadcast, BroadcastProgress } from "../domain/broadcast.ts";
import type { DeadLetter, DeadLetterStatus } from "../domain/dead-letter.ts";
import type { Delivery } from "../domain/delivery.ts";
import { type Observation, observationStore } from "../observations/observation-store.ts";
import { type DeliveryFilter, deliveryStore } from "./delivery-store.ts";

interface Dependencies {
  readonly broadcasts: BroadcastService;
  readonly deadLetters: DeadLetterService;
  readonly cursors: Cursors;
}

/** The operations that other handlers implement. */
type OtherOperations =
  | "triggerNotification"
  | "triggerNotificationBatch"
  | "listNotificationRuns"
  | "getNotificationRun"
  | "cancelNotification";

/** NotificationService operations on deliveries, broadcasts and dead letters. */
export function deliveryHandlers({
  broadcasts,
  deadLetters,
  cursors,
}: Dependencies): Omit<Handlers<typeof NotificationService>, OtherOperations> {
  return {
    async listDeliveries({ sql, tenantId, operation }, request) {
      const filter = await filterOf({ sql, tenantId }, request);
      const page = await readPage(
        cursors,
        request,
        { tenantId, operation: operation.id, filter: [request.transactionId, request.subscriberId] },
        (delivery: Delivery) => delivery.id,
        (wanted) => deliveryStore(sql).list(tenantId, filter, wanted),
      );
      return create(ListDeliveriesResponseSchema, { ...page, deliveries: page.items.map(fromDelivery) });
    },

    async getDelivery(context, { deliveryId }) {
      const delivery = await findDelivery(context, deliveryId);
      return create(GetDeliveryResponseSchema, { delivery: fromDelivery(delivery) });
    },

    async listObservations(context, request) {
      const { sql, tenantId, operation } = context;
      const { id } = await findDelivery(context, request.deliveryId);
      const page = await readPage(
        cursors,
        request,
        { tenantId, operation: operation.id, filter: [id] },
        (observation: Observation) => String(observation.sequence),
        (wanted) => observationStore(sql).list(tenantId, id, wanted),
      );
      return create(ListObservationsResponseSchema, { ...page, observations: page.items.map(fromObservation) });
    },

    async getBroadcast(context, { transactionId }) {
      const { broadcast, progress } = await broadcasts.getBroadcast(context, transactionId);
      return create(GetBroadcastResponseSchema, { broadcast: fromBroadcast(broadcast, progress) });
    },

    async cancelBroadcast(context, { transactionId }) {
      const broadcast = await broadcasts.cancelBroadcast(context, transactionId);
      return create(CancelBroadcastResponseSchema, { broadcast: fromBroadcast(broadcast) });
    },

    async listNotificationDeadLetters({ sql, tenantId, operation }, request) {
      const filter = {
        status: (request.status || undefined) as DeadLetterStatus | undefined,
        channel: request.channel || undefined,
      };
      const page = await readPage(
        cursors,
        request,
        { tenantId, operation: operation.id, filter: [filter.status, filter.channel] },
        (letter: DeadLetter) => letter.id,
        (wanted) => deadLetterStore(sql).list(tenantId, filter, wanted),
      );
      return create(ListNotificationDeadLettersResponseSchema, {
        ...page,
        deadLetters: page.items.map(fromDeadLetter),
      });
    },

    async redriveNotificationDeadLetters(context, { filter, preview, limit, reason }) {
      const result = await deadLetters.redriveMany(context, toRedriveFilter(filter), { preview, limit, reason });
      return create(RedriveNotificationDeadLettersResponseSchema, result);
    },

    async redriveNotificationDeadLetter(context, { deadLetterId, reason }) {
      const letter = await deadLetters.redrive(context, deadLetterId, reason);
      return create(RedriveNotificationDeadLetterResponseSchema, { deadLetter: fromDeadLetter(letter) });
    },
  };
}

function toRedriveFilter(filter: NotificationDeadLetterFilter | undefined): RedriveFilter {
  const { channel = "", failurePhase = "", failureCode = "", subscriberId = "", transactionId = "" } = filter ?? {};
  return {
    ...{ channel, failurePhase, failureCode, subscriberId, transactionId },
    failedAfter: filter?.failedAfter && timestampDate(filter.failedAfter),
    failedBefore: filter?.failedBefore && timestampDate(filter.failedBefore),
  };
}

async function filterOf(
  { sql, tenantId }: Pick<Context, "sql" | "tenantId">,
  { transactionId, subscriberId }: { readonly transactionId: string; readonly subscriberId: string },
): Promise<DeliveryFilter> {
  if ((transactionId === "") === (subscriberId === "")) {
    throw invalid("transaction_id", "one_of", "set exactly one of transaction_id and subscriber_id");
  }
  if (subscriberId !== "") return { subscriberId };
  // Broadcast deliveries have an index of their own.
  const broadcast = (await broadcastStore(sql).find(tenantId, transactionId)) !== undefined;
  return { transactionId, broadcast };
}

async function findDelivery({ sql, tenantId }: Context, id: string): Promise<Delivery> {
  const delivery = await deliveryStore(sql).find(tenantId, id);
  if (delivery === undefined) throw notFound("delivery");
  return delivery;
}

function fromDelivery(delivery: Delivery): DeliveryMessage {
  const { contextKeys, preferenceWinningLayer, nextAttemptAt, queuedAt, startedAt, sentAt, completedAt, ...rest } =
    delivery;
  return create(DeliverySchema, {
    ...rest,
    contextKeys: [...contextKeys],
    preferenceWinningLayer: preferenceWinningLayer ?? 0,
    nextAttemptAt: optionalTime(nextAttemptAt),
    queuedAt: timestampFromDate(queuedAt),
    startedAt: optionalTime(startedAt),
    sentAt: optionalTime(sentAt),
    completedAt: optionalTime(completedAt),
  });
}

export function fromBroadcast(broadcast: Broadcast, progress?: BroadcastProgress): BroadcastMessage {
  const { manifest, expanded, total, createdAt, updatedAt, ...rest } = broadcast;
  return create(BroadcastSchema, {
    ...rest,
    payloadDigest: manifest.payloadDigest,
    expanded: BigInt(expanded),
    total: BigInt(total),
    createdAt: timestampFromDate(createdAt),
    updatedAt: timestampFromDate(updatedAt),
    ...(progress !== undefined && { progress: fromProgress(progress) }),
  });
}

function fromProgress({ queued, running, sent, failed, skipped, capped }: BroadcastProgress): BroadcastProgressMessage {
  return create(BroadcastProgressSchema, {
    queued: BigInt(queued),
    running: BigInt(running),
    sent: BigInt(sent),
    failed: BigInt(failed),
    skipped: BigInt(skipped),
    capped,
  });
}

function fromDeadLetter(letter: DeadLetter): DeadLetterMessage {
  const { payloadDigest, payloadExpiresAt, firstFailedAt, lastFailedAt, ...rest } = letter;
  return create(NotificationDeadLetterSchema, {
    ...rest,
    payloadDigest: payloadDigest.toString("hex"),
    payloadExpiresAt: timestampFromDate(payloadExpiresAt),
    firstFailedAt: timestampFromDate(firstFailedAt),
    lastFailedAt: timestampFromDate(lastFailedAt),
  });
}

function fromObservation(observation: Observation): ObservationMessage {
  const { evidenceDigest, occurredAt, receivedAt, attributes, ...rest } = observation;
  return create(ObservationSchema, {
    ...rest,
    evidenceDigest: evidenceDigest.toString("hex"),
    occurredAt: timestampFromDate(occurredAt),
    receivedAt: timestampFromDate(receivedAt),
    attributes: attributes as never,
  });
}
