import { timestampDate } from "@bufbuild/protobuf/wkt";
import type {
  NotificationDeadLetterFilter,
  NotificationService,
} from "../../../../../gen/service/api/notification_pb.ts";
import type { Context } from "../../../../chain/call.ts";
import type { Handlers } from "../../../../chain/handlers.ts";
import { invalid } from "../../../../errors/index.ts";
import { requireFound } from "../../../../platform/db/index.ts";
import type { BroadcastService } from "../broadcasts/broadcast-service.ts";
import { broadcastStore } from "../broadcasts/broadcast-store.ts";
import type { DeadLetterService } from "../dead-letters/dead-letter-service.ts";
import type { RedriveFilter } from "../dead-letters/dead-letter-store.ts";
import { deadLetterStore } from "../dead-letters/dead-letter-store.ts";
import type { Broadcast } from "../domain/broadcast.ts";
import type { DeadLetter, DeadLetterStatus } from "../domain/dead-letter.ts";
import type { Delivery } from "../domain/delivery.ts";
import { type Observation, observationStore } from "../observations/observation-store.ts";
import { type DeliveryFilter, deliveryStore } from "./delivery-store.ts";

/** The operations that other handlers implement. */
type OtherOperations =
  | "triggerNotification"
  | "triggerNotificationBatch"
  | "listNotificationRuns"
  | "getNotificationRun"
  | "cancelNotification"
  | "simulateTriggers";

/** NotificationService operations on deliveries, broadcasts and dead letters. */
export function deliveryHandlers(
  broadcasts: BroadcastService,
  deadLetters: DeadLetterService,
): Omit<Handlers<typeof NotificationService>, OtherOperations> {
  return {
    async listDeliveries(context, request) {
      const filter = await filterOf(context, request);
      const named = [request.transactionId, request.subscriberId];
      const page = await context.page("deliveries", request, named, (wanted) =>
        deliveryStore(context.sql).list(context.tenantId, filter, wanted),
      );
      return { ...page, deliveries: page.deliveries.map(fromDelivery) };
    },

    async getDelivery(context, { deliveryId }) {
      return { delivery: fromDelivery(await findDelivery(context, deliveryId)) };
    },

    async listObservations(context, request) {
      const { id } = await findDelivery(context, request.deliveryId);
      const page = await context.page(
        "observations",
        request,
        [id],
        (wanted) => observationStore(context.sql).list(context.tenantId, id, wanted),
        ({ sequence }) => String(sequence),
      );
      return { ...page, observations: page.observations.map(fromObservation) };
    },

    async getBroadcast(context, { transactionId }) {
      const { broadcast, progress } = await broadcasts.getBroadcast(context, transactionId);
      return { broadcast: { ...fromBroadcast(broadcast), progress } };
    },

    async cancelBroadcast(context, { transactionId }) {
      return { broadcast: fromBroadcast(await broadcasts.cancelBroadcast(context, transactionId)) };
    },

    async listNotificationDeadLetters(context, request) {
      const status = (request.status || undefined) as DeadLetterStatus | undefined;
      const channel = request.channel || undefined;
      const page = await context.page("deadLetters", request, [status, channel], (wanted) =>
        deadLetterStore(context.sql).list(context.tenantId, { status, channel }, wanted),
      );
      return { ...page, deadLetters: page.deadLetters.map(fromDeadLetter) };
    },

    redriveNotificationDeadLetters: (context, { filter, preview, limit, reason }) =>
      deadLetters.redriveMany(context, toRedriveFilter(filter), { preview, limit, reason }),

    async redriveNotificationDeadLetter(context, { deadLetterId, reason }) {
      return { deadLetter: fromDeadLetter(await deadLetters.redrive(context, deadLetterId, reason)) };
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
  if (transactionId !== "" && subscriberId !== "") {
    throw invalid("transaction_id", "one_of", "set at most one of transaction_id and subscriber_id");
  }
  if (transactionId === "") return { subscriberId };
  // Broadcast deliveries have an index of their own.
  const broadcast = (await broadcastStore(sql).find(tenantId, transactionId)) !== undefined;
  return { transactionId, broadcast };
}

async function findDelivery({ sql, tenantId }: Context, id: string): Promise<Delivery> {
  return requireFound(await deliveryStore(sql).find(tenantId, id), "delivery");
}

const fromDelivery = (delivery: Delivery) => ({
  ...delivery,
  preferenceWinningLayer: delivery.preferenceWinningLayer ?? 0,
});

export const fromBroadcast = (broadcast: Broadcast) => ({
  ...broadcast,
  payloadDigest: broadcast.manifest.payloadDigest,
});

const fromDeadLetter = (letter: DeadLetter) => ({ ...letter, payloadDigest: letter.payloadDigest.toString("hex") });

const fromObservation = (observation: Observation) => ({
  ...observation,
  evidenceDigest: observation.evidenceDigest.toString("hex"),
});
