import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import {
  ExplainSubscriberResponseSchema,
  PastDeliverySchema,
  ReachReasonSchema,
  type SubscriberService,
} from "../../../../../gen/service/api/subscriber_pb.ts";
import type { Handlers } from "../../../../chain/handlers.ts";
import { describeDelivery } from "../delivery/delivery-explainer.ts";
import type { Delivery } from "../domain/delivery.ts";
import type { ReachService } from "./reach-service.ts";

/** The operation of SubscriberService that explains what reaches a subscriber. */
type ReachHandlers = Pick<Handlers<typeof SubscriberService>, "explainSubscriber">;

export function reachHandlers(service: ReachService): ReachHandlers {
  return {
    async explainSubscriber(context, { id, workflowKey, topicKey, userId }) {
      const { pastDeliveries, reasons, summary, verdict } = await service.explainSubscriber(context, id, {
        workflowKey,
        topicKey,
        userId,
      });
      return create(ExplainSubscriberResponseSchema, {
        summary,
        verdict,
        reasons: reasons.map((reason) => create(ReachReasonSchema, reason)),
        pastDeliveries: pastDeliveries.map(fromDelivery),
        subscriberId: id,
        workflowKey,
      });
    },
  };
}

function fromDelivery(delivery: Delivery) {
  const { id: deliveryId, channel, status, queuedAt } = delivery;
  return create(PastDeliverySchema, {
    ...{ deliveryId, channel, status, message: describeDelivery(delivery) },
    queuedAt: timestampFromDate(queuedAt),
  });
}
