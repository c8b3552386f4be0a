import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import {
  BroadcastSchema,
  type ContentOverrides,
  type NotificationService,
  type TriggerBatchResult,
  TriggerBatchResultSchema,
  type TriggerNotificationBatchRequest,
  TriggerNotificationBatchResponseSchema,
  type TriggerNotificationRequest,
  type TriggerNotificationResponse,
  TriggerNotificationResponseSchema,
  type TriggerOutcome,
  TriggerOutcomeSchema,
} from "../../../../../gen/service/api/notification_pb.ts";
import type { Context } from "../../../../chain/call.ts";
import type { Handlers } from "../../../../chain/handlers.ts";
import { Failure, fail, invalid, unreachable } from "../../../../errors/index.ts";
import { createMessageConverter, optionalTime } from "../../../../platform/records/index.ts";
import { toAttachments } from "../../preferences/index.ts";
import type { Channel, SubscriberUpsert } from "../../subscribers/index.ts";
import type { BroadcastService } from "../broadcasts/broadcast-service.ts";
import { fromBroadcast } from "../delivery/delivery-handler.ts";
import type { Delivery } from "../domain/delivery.ts";
import { channels, type Overrides } from "../domain/plan.ts";
import { audienceOf, type Trigger } from "../domain/trigger.ts";
import type { BatchedTrigger } from "./batch-recipients.ts";
import type { TriggerBatchService, TriggerResult } from "./trigger-batch-service.ts";
import type { Outcome, TriggerService } from "./trigger-service.ts";

interface Dependencies {
  readonly triggers: TriggerService;
  readonly batches: TriggerBatchService;
  readonly hasQueue: boolean;
  readonly broadcasts: BroadcastService;
  readonly dispatchEnabled: boolean;
}

const toBroadcast = createMessageConverter(BroadcastSchema);

/** NotificationService operations that trigger notifications. */
export function triggerHandlers({
  triggers,
  batches,
  broadcasts,
  hasQueue,
  dispatchEnabled,
}: Dependencies): Pick<Handlers<typeof NotificationService>, "triggerNotification" | "triggerNotificationBatch"> {
  function requireDispatch(): void {
    if (dispatchEnabled) return;
    throw fail("FAILED_PRECONDITION", {
      public: "Notifications are switched off; set notification.dispatch.enabled to true.",
    });
  }

  return {
    triggerNotificationBatch: {
      async ownCommit(context: Context, request: TriggerNotificationBatchRequest, keyed) {
        requireDispatch();
        if (!hasQueue) {
          throw fail("FAILED_PRECONDITION", {
            public:
              "queue_unavailable: a batch can only be accepted by a durable queue; set notification.dispatch.queue to tiered or flat.",
          });
        }
        return batches.accept(context, request.triggers.map(toBatched), keyed, (results) =>
          create(TriggerNotificationBatchResponseSchema, {
            results: results.map(fromBatchResult),
            accepted: results.filter(({ kind }) => kind !== "refused").length,
            refused: results.filter(({ kind }) => kind === "refused").length,
          }),
        );
      },
    },

    triggerNotification: {
      async ownCommit(context: Context, request: TriggerNotificationRequest, keyed) {
        requireDispatch();
        const trigger = toTrigger(request);
        const profile = toProfile(request);
        if (trigger.audience.kind === "topic") {
          return broadcasts.accept(context, trigger, keyed, (broadcast) =>
            create(TriggerNotificationResponseSchema, {
              transactionId: broadcast.transactionId,
              broadcast: toBroadcast(fromBroadcast(broadcast)),
            }),
          );
        }
        return triggers.trigger(context, {
          trigger,
          profile,
          keyed,
          toResponse: ({ transactionId, outcomes, current, runId }) =>
            create(TriggerNotificationResponseSchema, {
              transactionId,
              runId: runId ?? "",
              outcomes: outcomes.map((outcome) => {
                const message = fromOutcome(outcome, context.nowMs);
                const delivery = current?.get(outcome.row.id);
                return delivery === undefined ? message : withCurrent(message, delivery);
              }),
            }),
        });
      },

      async replay({ tenantId }: Context, recorded: TriggerNotificationResponse) {
        const open = recorded.outcomes.filter(({ outcome }) => outcome === "").map(({ deliveryId }) => deliveryId);
        if (open.length === 0) return recorded;
        const current = await triggers.finishedDeliveries(tenantId, open);
        const outcomes = recorded.outcomes.map((outcome) => {
          const delivery = current.get(outcome.deliveryId);
          return delivery === undefined ? outcome : withCurrent(outcome, delivery);
        });
        return create(TriggerNotificationResponseSchema, { ...recorded, outcomes });
      },
    },
  };
}

/** Reads a trigger of a batch; a contradiction in it refuses only this trigger. */
function toBatched(request: TriggerNotificationRequest): BatchedTrigger | Failure {
  try {
    return { trigger: toTrigger(request), profile: toProfile(request) };
  } catch (error) {
    if (error instanceof Failure) return error;
    throw error;
  }
}

function fromBatchResult(result: TriggerResult, at: number): TriggerBatchResult {
  switch (result.kind) {
    case "accepted":
      return create(TriggerBatchResultSchema, {
        transactionId: result.transactionId,
        runId: result.run?.id ?? "",
        outcomes: result.initial.map(({ plan, row }) =>
          create(TriggerOutcomeSchema, {
            channel: plan.channel,
            endpointId: plan.target.endpointId,
            outcome: row.next_attempt_at === undefined ? row.status : "held",
            nextAttemptAt: optionalTime(row.next_attempt_at ?? null),
            deliveryId: row.id,
            failurePhase: row.failure_phase ?? "",
            failureCode: row.failure_code ?? "",
            failureDetail: row.failure_detail ?? "",
            preferenceReasonCode: plan.reasonCode,
          }),
        ),
      });
    case "broadcast": {
      const { broadcast } = result;
      return create(TriggerBatchResultSchema, {
        transactionId: broadcast.transactionId,
        broadcast: toBroadcast(fromBroadcast(broadcast)),
      });
    }
    case "refused": {
      const { code, message, violations } = result.failure;
      const [violation] = violations;
      return create(TriggerBatchResultSchema, {
        errorCode: code,
        errorField: violation === undefined ? "" : `triggers[${at}].${violation.field}`,
        errorMessage: message,
      });
    }
    default:
      return unreachable(result);
  }
}

function toTrigger(request: TriggerNotificationRequest): Trigger {
  return {
    workflowKey: request.workflowKey,
    audience: audienceOf(request),
    channels: request.channels.length === 0 ? undefined : (request.channels as Channel[]),
    overrides: toOverrides(request.overrides),
    userId: request.userId,
    payload: request.payload ?? {},
  };
}

function toProfile({ subscriberExternalId, subscriber }: TriggerNotificationRequest): SubscriberUpsert | undefined {
  if (subscriber === undefined) return undefined;
  if (subscriberExternalId === "") {
    throw invalid("subscriber", "external_id", "may only be set together with subscriber_external_id");
  }
  const { firstName, lastName, email, phone, avatar, locale, timezone, data } = subscriber;
  return { externalId: subscriberExternalId, firstName, lastName, email, phone, avatar, locale, timezone, data };
}

const overrideNames = { email: "email", sms: "sms", push: "push", chat: "chat", in_app: "inApp" } as const;

function toOverrides(overrides: ContentOverrides | undefined): Overrides {
  if (overrides === undefined) return {};
  const given = channels.flatMap((channel) => {
    const override = overrides[overrideNames[channel]];
    if (override === undefined) return [];
    const { engine, subject, title, body, textBody, layoutId, data, strictVariables } = override;
    const attachments = override.attachments.length === 0 ? undefined : toAttachments(override.attachments);
    const content = { engine, subject, title, body, textBody, layoutId, data, strictVariables, attachments };
    return [[channel, content]] as const;
  });
  return Object.fromEntries(given) as Overrides;
}

/** An outcome updated with its delivery's current state. A delivery that waits for a retry counts as failed so far. */
function withCurrent(outcome: TriggerOutcome, delivery: Delivery): TriggerOutcome {
  const { status, failurePhase, failureCode, failureDetail, nextAttemptAt, reconciliationRequired } = delivery;
  const isHeld = status === "queued" && delivery.preferenceReasonCode === "held_quiet_hours";
  const isRetried = !isHeld && (status === "queued" || status === "running");
  return create(TriggerOutcomeSchema, {
    ...outcome,
    outcome: isHeld ? "held" : isRetried ? "failed" : status,
    failurePhase,
    failureCode,
    failureDetail,
    retryable: isRetried,
    nextAttemptAt: optionalTime(nextAttemptAt),
    preferenceReasonCode: delivery.preferenceReasonCode,
    reconciliationRequired,
  });
}

function fromOutcome({ plan, row, settlement }: Outcome, nowMs: number) {
  const status = settlement?.status ?? row.status;
  const result = settlement?.row ?? row;
  const isRetried = settlement?.status === "queued";
  const isHeld = settlement === undefined && plan.heldUntilMs !== undefined && status === "queued";
  const nextAttemptMs = isRetried ? nowMs + settlement.waitMs : isHeld ? plan.heldUntilMs : undefined;
  return create(TriggerOutcomeSchema, {
    channel: plan.channel,
    endpointId: plan.target.endpointId,
    // A delivery that waits for a retry has failed so far. A delivery in progress has no outcome yet.
    outcome: isHeld ? "held" : status === "queued" ? "failed" : status === "running" ? "" : status,
    deliveryId: row.id,
    failurePhase: result.failure_phase ?? "",
    failureCode: result.failure_code ?? "",
    failureDetail: result.failure_detail ?? "",
    retryable: isRetried,
    nextAttemptAt: nextAttemptMs === undefined ? undefined : timestampFromMs(nextAttemptMs),
    preferenceReasonCode: plan.reasonCode,
    reconciliationRequired: settlement?.row.reconciliation_required ?? false,
  });
}
