import {
  WebhookDelivery_Status as DeliveryStatus,
  WebhookEndpoint_DisabledReason as DisabledReason,
  WebhookEndpoint_Status as EndpointStatus,
  WebhookDelivery_Failure as Failure,
  WebhookReplay_Status as ReplayStatus,
  WebhookReplay_Selection as Selection,
} from "../../../../gen/service/api/webhook_pb.ts";
import { enumNumbers } from "../../../platform/records/index.ts";
import { type Attempt, type Delivery, messageIdOf } from "./domain/delivery.ts";
import type { Endpoint } from "./domain/endpoint.ts";
import type { Replay } from "./domain/replay.ts";

export const endpointStatuses = enumNumbers(EndpointStatus);
export const deliveryStatuses = enumNumbers(DeliveryStatus);
export const replaySelections = enumNumbers(Selection);
const disabledReasons = enumNumbers(DisabledReason);
const failures = enumNumbers(Failure);
const replayStatuses = enumNumbers(ReplayStatus);

export const fromEndpoint = (endpoint: Endpoint) => ({
  ...endpoint,
  status: endpointStatuses[endpoint.status],
  disabledReason: disabledReasons[endpoint.disabledReason],
  transform: endpoint.transform ?? undefined,
});

export const fromDelivery = (delivery: Delivery) => ({
  ...delivery,
  id: delivery.eventId,
  messageId: messageIdOf(delivery),
  status: deliveryStatuses[delivery.status],
  attempts: delivery.attemptLog.map(fromAttempt),
});

const fromAttempt = (attempt: Attempt) => ({
  at: new Date(attempt.at),
  durationMs: attempt.duration_ms,
  responseStatus: attempt.response_status,
  failure: failures[attempt.failure],
});

export const fromReplay = (replay: Replay) => ({
  ...replay,
  selection: replaySelections[replay.selection],
  status: replayStatuses[replay.status],
});
