import { create, fromJson, type JsonValue } from "@bufbuild/protobuf";
import { timestampFromDate, ValueSchema } from "@bufbuild/protobuf/wkt";
import {
  WebhookDelivery_AttemptSchema as AttemptSchema,
  type WebhookDelivery as DeliveryMessage,
  WebhookDeliverySchema as DeliverySchema,
  WebhookDelivery_Status as DeliveryStatus,
  WebhookEndpoint_DisabledReason as DisabledReason,
  type WebhookEndpoint as EndpointMessage,
  WebhookEndpointSchema as EndpointSchema,
  WebhookEndpoint_Status as EndpointStatus,
  WebhookDelivery_Failure as Failure,
  type WebhookReplay as ReplayMessage,
  WebhookReplaySchema as ReplaySchema,
  WebhookReplay_Status as ReplayStatus,
  WebhookReplay_Selection as Selection,
} from "../../../../gen/service/api/webhook_pb.ts";
import { optionalTime, stampFields } from "../../../platform/records/index.ts";
import { type Delivery, messageIdOf } from "./domain/delivery.ts";
import type { Endpoint } from "./domain/endpoint.ts";
import type { Replay } from "./domain/replay.ts";

/** The enum values of the definitions, by the names in the domain. */
export const endpointStatuses = { active: EndpointStatus.ACTIVE, disabled: EndpointStatus.DISABLED } as const;

export const deliveryStatuses = {
  pending: DeliveryStatus.PENDING,
  succeeded: DeliveryStatus.SUCCEEDED,
  failed: DeliveryStatus.FAILED,
  cancelled: DeliveryStatus.CANCELLED,
} as const;

export const replaySelections = {
  failed: Selection.FAILED,
  missing: Selection.MISSING,
  all: Selection.ALL,
} as const;

const disabledReasons = {
  "": DisabledReason.UNSPECIFIED,
  manual: DisabledReason.MANUAL,
  gone: DisabledReason.GONE,
  failing: DisabledReason.FAILING,
} as const;

const failures = {
  "": Failure.UNSPECIFIED,
  status: Failure.STATUS,
  denied: Failure.DENIED,
  invalid_url: Failure.INVALID_URL,
  dns: Failure.DNS,
  connect: Failure.CONNECT,
  tls: Failure.TLS,
  timeout: Failure.TIMEOUT,
  connection_lost: Failure.CONNECTION_LOST,
  event_forgotten: Failure.EVENT_FORGOTTEN,
  secret_unreadable: Failure.SECRET_UNREADABLE,
  transform: Failure.TRANSFORM,
} as const;

const replayStatuses = {
  running: ReplayStatus.RUNNING,
  completed: ReplayStatus.COMPLETED,
  cancelled: ReplayStatus.CANCELLED,
} as const;

/** Converts an endpoint to its message, with its secret if that is shown. */
export function fromEndpoint(
  endpoint: Endpoint,
  revealed: { secret?: string; previousValidUntil?: Date } = {},
): EndpointMessage {
  return create(EndpointSchema, {
    id: endpoint.id,
    tenantId: endpoint.tenantId,
    url: endpoint.url,
    description: endpoint.description,
    eventTypes: [...endpoint.eventTypes],
    environmentMode: endpoint.environmentMode,
    status: endpointStatuses[endpoint.status],
    disabledReason: disabledReasons[endpoint.disabledReason],
    failingSince: optionalTime(endpoint.failingSince),
    headerNames: [...endpoint.headerNames],
    ordered: endpoint.ordered,
    retryDelaysS: [...endpoint.retryDelaysS],
    transform: endpoint.transform === null ? undefined : fromJson(ValueSchema, endpoint.transform as JsonValue),
    ...stampFields(endpoint),
    secret: revealed.secret,
    previousSecretValidUntil: optionalTime(revealed.previousValidUntil),
  });
}

export function fromDelivery(delivery: Delivery): DeliveryMessage {
  return create(DeliverySchema, {
    id: delivery.eventId,
    tenantId: delivery.tenantId,
    endpointId: delivery.endpointId,
    eventType: delivery.eventType,
    messageId: messageIdOf(delivery),
    status: deliveryStatuses[delivery.status],
    attemptCount: delivery.attemptCount,
    nextAttemptAt: optionalTime(delivery.nextAttemptAt),
    attempts: delivery.attemptLog.map((attempt) =>
      create(AttemptSchema, {
        at: timestampFromDate(new Date(attempt.at)),
        durationMs: attempt.duration_ms,
        responseStatus: attempt.response_status,
        failure: failures[attempt.failure],
      }),
    ),
    createdAt: timestampFromDate(delivery.createdAt),
    endedAt: optionalTime(delivery.endedAt),
  });
}

export function fromReplay(replay: Replay): ReplayMessage {
  return create(ReplaySchema, {
    id: replay.id,
    tenantId: replay.tenantId,
    endpointId: replay.endpointId,
    since: timestampFromDate(replay.since),
    until: timestampFromDate(replay.until),
    selection: replaySelections[replay.selection],
    status: replayStatuses[replay.status],
    replayed: BigInt(replay.replayed),
    createdAt: timestampFromDate(replay.createdAt),
    completedAt: optionalTime(replay.completedAt),
  });
}
