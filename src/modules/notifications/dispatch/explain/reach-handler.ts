import type { SubscriberService } from "../../../../../gen/service/api/subscriber_pb.ts";
import type { Handlers } from "../../../../chain/handlers.ts";
import { describeDelivery } from "../delivery/delivery-explainer.ts";
import type { Delivery } from "../domain/delivery.ts";
import type { ReachService } from "./reach-service.ts";

/** The operation of SubscriberService that explains what reaches a subscriber. */
type ReachHandlers = Pick<Handlers<typeof SubscriberService>, "explainSubscriber">;

export function reachHandlers(service: ReachService): ReachHandlers {
  return {
    async explainSubscriber(context, { id, workflowKey, topicKey, userId }) {
      const reach = await service.explainSubscriber(context, id, { workflowKey, topicKey, userId });
      return { ...reach, pastDeliveries: reach.pastDeliveries.map(fromDelivery), subscriberId: id, workflowKey };
    },
  };
}

function fromDelivery(delivery: Delivery) {
  const { id: deliveryId, channel, status, queuedAt } = delivery;
  return { deliveryId, channel, status, message: describeDelivery(delivery), queuedAt };
}
