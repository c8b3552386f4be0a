import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import {
  type ContentOverrides,
  type NotificationService,
  type TriggerNotificationRequest,
  type TriggerNotificationResponse,
  TriggerNotificationResponseSchema,
  type TriggerOutcome,
  TriggerOutcomeSchema,
} from "../../../../../gen/service/api/notification_pb.ts";
import type { Context } from "../../../../chain/call.ts";
import type { Handlers } from "../../../../chain/handlers.ts";
import { fail, invalid } from "../../../../errors/index.ts";
import { optionalTime } from "../../../../platform/records/index.ts";
import type { Channel, NamedProfile } from "../../subscribers/index.ts";
import type { BroadcastService } from "../broadcasts/broadcast-service.ts";
import { fromBroadcast } from "../delivery/delivery-handler.ts";
import type { Delivery } from "../domain/delivery.ts";
import { channels, type Overrides } from "../domain/plan.ts";
import { audienceOf, type Trigger } from "../domain/trigger.ts";
import type { Outcome, TriggerService } from "./trigger-service.ts";

interface Parts {
  readonly triggers: TriggerService;
  readonly broadcasts: BroadcastService;
  readonly dispatchEnabled: boolean;
}

/** The operation that notifies. */
export function triggerHandlers({
  triggers,
  broadcasts,
  dispatchEnabled,
}: Parts): Pick<Handlers<typeof NotificationService>, "triggerNotification"> {
  return {
    triggerNotification: {
      async grouped(context: Context, request: TriggerNotificationRequest, keyed) {
        if (!dispatchEnabled) {
          throw fail("FAILED_PRECONDITION", {
            public: "Notifications are switched off: notification.dispatch.enabled.",
          });
        }
        const trigger = toTrigger(request);
        const profile = toProfile(request);
        if (trigger.audience.kind === "topic") {
          return broadcasts.accept(context, trigger, keyed, (broadcast) =>
            create(TriggerNotificationResponseSchema, {
              transactionId: broadcast.transactionId,
              broadcast: fromBroadcast(broadcast),
            }),
          );
        }
        return triggers.trigger(context, {
          trigger,
          profile,
          keyed,
          answer: ({ transactionId, outcomes, current }) =>
            create(TriggerNotificationResponseSchema, {
              transactionId,
              outcomes: outcomes.map((outcome) => {
                const told = fromOutcome(outcome, context.nowMs);
                const delivery = current?.get(outcome.row.id);
                return delivery === undefined ? told : withCurrent(told, delivery);
              }),
            }),
        });
      },

      async replay({ tenantId }: Context, recorded: TriggerNotificationResponse) {
        const open = recorded.outcomes.filter(({ outcome }) => outcome === "").map(({ deliveryId }) => deliveryId);
        if (open.length === 0) return recorded;
        const current = await triggers.ended(tenantId, open);
        const outcomes = recorded.outcomes.map((told) => {
          const delivery = current.get(told.deliveryId);
          return delivery === undefined ? told : withCurrent(told, delivery);
        });
        return create(TriggerNotificationResponseSchema, { ...recorded, outcomes });
      },
    },
  };
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

function toProfile({ subscriberExternalId, subscriber }: TriggerNotificationRequest): NamedProfile | undefined {
  if (subscriber === undefined) return undefined;
  if (subscriberExternalId === "") {
    throw invalid("subscriber", "external_id", "goes with subscriber_external_id only");
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
    const content = { engine, subject, title, body, textBody, layoutId, data, strictVariables };
    return [[channel, content]] as const;
  });
  return Object.fromEntries(given) as Overrides;
}

/** An outcome that says what has become of its delivery since. What waits, or is being tried again, has failed so far. */
function withCurrent(told: TriggerOutcome, delivery: Delivery): TriggerOutcome {
  const { status, failurePhase, failureCode, failureDetail, nextAttemptAt, reconciliationRequired } = delivery;
  const isRetried = status === "queued" || status === "running";
  return create(TriggerOutcomeSchema, {
    ...told,
    outcome: isRetried ? "failed" : status,
    failurePhase,
    failureCode,
    failureDetail,
    retryable: isRetried,
    nextAttemptAt: optionalTime(nextAttemptAt),
    preferenceReasonCode: delivery.preferenceReasonCode,
    reconciliationRequired,
  });
}

function fromOutcome({ plan, row, settled }: Outcome, nowMs: number) {
  const status = settled?.status ?? row.status;
  const told = settled?.row ?? row;
  const isRetried = settled?.status === "queued";
  return create(TriggerOutcomeSchema, {
    channel: plan.channel,
    endpointId: plan.target.endpointId,
    // What waits to be tried again has failed so far; what is on its way has come to nothing yet.
    outcome: status === "queued" ? "failed" : status === "running" ? "" : status,
    deliveryId: row.id,
    failurePhase: told.failure_phase ?? "",
    failureCode: told.failure_code ?? "",
    failureDetail: told.failure_detail ?? "",
    retryable: isRetried,
    nextAttemptAt: isRetried ? timestampFromMs(nowMs + settled.waitMs) : undefined,
    preferenceReasonCode: plan.reasonCode,
    reconciliationRequired: settled?.row.reconciliation_required ?? false,
  });
}
