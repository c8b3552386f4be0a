import { create } from "@bufbuild/protobuf";
import {
  DeleteSubscriberResponseSchema,
  GetSubscriberResponseSchema,
  ListSubscribersResponseSchema,
  type SubscriberService as Rpc,
  type Subscriber as SubscriberMessage,
  type SubscriberProfile,
  SubscriberResultSchema,
  SubscriberSchema,
  UpdateSubscriberResponseSchema,
  UpsertSubscriberBatchResponseSchema,
  UpsertSubscriberResponseSchema,
} from "../../../../gen/service/api/subscriber_pb.ts";
import type { Handlers } from "../../../chain/handlers.ts";
import type { Cursors } from "../../../platform/cursor/index.ts";
import { readPage } from "../../../platform/paging/index.ts";
import { expectedVersion, optionalTime, stampFields } from "../../../platform/records/index.ts";
import type { BatchItem, BatchPlan } from "./domain/batch.ts";
import type { Subscriber } from "./domain/subscriber.ts";
import type { BatchResult, SubscriberBatchService } from "./subscriber-batch-service.ts";
import type { SubscriberService } from "./subscriber-service.ts";
import { subscriberStore } from "./subscriber-store.ts";

/** The operations of SubscriberService on subscribers themselves. */
type SubscriberHandlers = Pick<
  Handlers<typeof Rpc>,
  | "upsertSubscriber"
  | "upsertSubscriberBatch"
  | "getSubscriber"
  | "listSubscribers"
  | "updateSubscriber"
  | "deleteSubscriber"
>;

export function subscriberHandlers(
  service: SubscriberService,
  batches: SubscriberBatchService,
  cursors: Cursors,
): SubscriberHandlers {
  return {
    async upsertSubscriber(context, request) {
      const { externalId, firstName, lastName, email, phone, avatar, locale, timezone, data } = request;
      const profile = { externalId, firstName, lastName, email, phone, avatar, locale, timezone, data };
      const subscriber = await service.upsertSubscriber(context, profile);
      return create(UpsertSubscriberResponseSchema, { subscriber: fromSubscriber(subscriber) });
    },

    async upsertSubscriberBatch(context, { subscribers }) {
      const results = await batches.upsertMany(context, subscribers.map(toBatchItem));
      const count = (...outcomes: BatchPlan["outcome"][]) =>
        results.filter(({ plan }) => outcomes.includes(plan.outcome)).length;
      return create(UpsertSubscriberBatchResponseSchema, {
        results: results.map((result, at) => fromBatchResult(result, subscribers[at]!.externalId, at)),
        created: count("created"),
        updated: count("updated", "reactivated"),
        unchanged: count("unchanged"),
        failed: count("failed"),
      });
    },

    async getSubscriber(context, request) {
      const subscriber = await service.getSubscriber(context, request.id);
      return create(GetSubscriberResponseSchema, { subscriber: fromSubscriber(subscriber) });
    },

    async listSubscribers(context, request) {
      const { tenantId, operation, sql } = context;
      const { active } = request;
      const filter = { externalId: request.externalId || undefined, email: request.email || undefined, active };
      const page = await readPage(
        cursors,
        request,
        { tenantId, operation: operation.id, filter: [filter.externalId, filter.email, active] },
        (subscriber: Subscriber) => subscriber.id,
        (wanted) => subscriberStore(sql).list(tenantId, filter, wanted),
      );
      return create(ListSubscribersResponseSchema, { ...page, subscribers: page.items.map(fromSubscriber) });
    },

    async updateSubscriber(context, { id, recordVersion, ...request }) {
      const { firstName, lastName, email, phone, avatar, locale, timezone, data = {} } = request;
      const profile = { firstName, lastName, email, phone, avatar, locale, timezone, data };
      const subscriber = await service.updateSubscriber(context, id, profile, expectedVersion(recordVersion));
      return create(UpdateSubscriberResponseSchema, { subscriber: fromSubscriber(subscriber) });
    },

    async deleteSubscriber(context, request) {
      const subscriber = await service.deleteSubscriber(context, request.id);
      return create(DeleteSubscriberResponseSchema, { subscriber: fromSubscriber(subscriber) });
    },
  };
}

function toBatchItem(item: SubscriberProfile): BatchItem {
  const { externalId, firstName, lastName, email, phone, avatar, locale, timezone, data } = item;
  return { externalId, firstName, lastName, email, phone, avatar, locale, timezone, data };
}

function fromBatchResult({ plan, id }: BatchResult, externalId: string, at: number) {
  const { outcome } = plan;
  if (outcome !== "failed") return create(SubscriberResultSchema, { externalId, outcome, id });
  const [violation] = plan.failure.violations;
  return create(SubscriberResultSchema, {
    externalId,
    outcome,
    errorCode: plan.failure.code,
    errorField: violation === undefined ? "" : `subscribers[${at}].${violation.field}`,
    errorMessage: plan.failure.message,
  });
}

function fromSubscriber(subscriber: Subscriber): SubscriberMessage {
  return create(SubscriberSchema, {
    id: subscriber.id,
    tenantId: subscriber.tenantId,
    externalId: subscriber.externalId,
    firstName: subscriber.firstName,
    lastName: subscriber.lastName,
    email: subscriber.email,
    phone: subscriber.phone,
    avatar: subscriber.avatar,
    locale: subscriber.locale,
    timezone: subscriber.timezone,
    data: subscriber.data as never,
    active: subscriber.active,
    emailSuppressedAt: optionalTime(subscriber.emailSuppressedAt),
    phoneSuppressedAt: optionalTime(subscriber.phoneSuppressedAt),
    ...stampFields(subscriber),
  });
}
