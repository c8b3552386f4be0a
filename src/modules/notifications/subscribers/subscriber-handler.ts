import type { SubscriberService as Rpc } from "../../../../gen/service/api/subscriber_pb.ts";
import type { Handlers } from "../../../chain/handlers.ts";
import { expectedVersion } from "../../../platform/records/index.ts";
import type { BatchPlan } from "./domain/batch.ts";
import type { SubscriberUpsert } from "./domain/subscriber.ts";
import type { BatchResult, SubscriberBatchService } from "./subscriber-batch-service.ts";
import type { SubscriberService } from "./subscriber-service.ts";
import { subscriberStore } from "./subscriber-store.ts";

type SubscriberHandlers = Pick<
  Handlers<typeof Rpc>,
  | "upsertSubscriber"
  | "upsertSubscriberBatch"
  | "getSubscriber"
  | "listSubscribers"
  | "updateSubscriber"
  | "deleteSubscriber"
>;

export function subscriberHandlers(service: SubscriberService, batches: SubscriberBatchService): SubscriberHandlers {
  return {
    async upsertSubscriber(context, request) {
      return { subscriber: await service.upsertSubscriber(context, toUpsert(request)) };
    },

    async upsertSubscriberBatch(context, { subscribers }) {
      const results = await batches.upsertMany(context, subscribers.map(toUpsert));
      const count = (...outcomes: BatchPlan["outcome"][]) =>
        results.filter(({ plan }) => outcomes.includes(plan.outcome)).length;
      return {
        results: results.map((result, at) => fromBatchResult(result, subscribers[at]!.externalId, at)),
        created: count("created"),
        updated: count("updated", "reactivated"),
        unchanged: count("unchanged"),
        failed: count("failed"),
      };
    },

    getSubscriber: async (context, { id }) => ({ subscriber: await service.getSubscriber(context, id) }),

    listSubscribers(context, request) {
      const { active } = request;
      const filter = { externalId: request.externalId || undefined, email: request.email || undefined, active };
      return context.page("subscribers", request, [filter.externalId, filter.email, active], (page) =>
        subscriberStore(context.sql).list(context.tenantId, filter, page),
      );
    },

    async updateSubscriber(context, { id, recordVersion, ...request }) {
      const { firstName, lastName, email, phone, avatar, locale, timezone, data = {} } = request;
      const profile = { firstName, lastName, email, phone, avatar, locale, timezone, data };
      return { subscriber: await service.updateSubscriber(context, id, profile, expectedVersion(recordVersion)) };
    },

    deleteSubscriber: async (context, { id }) => ({ subscriber: await service.deleteSubscriber(context, id) }),
  };
}

function toUpsert(request: SubscriberUpsert): SubscriberUpsert {
  const { externalId, firstName, lastName, email, phone, avatar, locale, timezone, data } = request;
  return { externalId, firstName, lastName, email, phone, avatar, locale, timezone, data };
}

function fromBatchResult({ plan, id }: BatchResult, externalId: string, at: number) {
  const failure = plan.outcome === "failed" ? plan.failure : undefined;
  const violation = failure?.violations[0];
  return {
    externalId,
    outcome: plan.outcome,
    id,
    errorCode: failure?.code ?? "",
    errorField: violation === undefined ? "" : `subscribers[${at}].${violation.field}`,
    errorMessage: failure?.message ?? "",
  };
}
