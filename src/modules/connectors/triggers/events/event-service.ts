import type { Context } from "../../../../chain/call.ts";
import { fail, invalid } from "../../../../errors/index.ts";
import { requireEnvironmentAccess } from "../../../../platform/access/index.ts";
import { notFound } from "../../../../platform/db/index.ts";
import type { EventRecorder } from "../../../operations/index.ts";
import type { Subscription } from "../domain/subscription.ts";
import type { SubscriptionService } from "../subscriptions/subscription-service.ts";
import { eventStore, type FullEvent, type ReplaySelection } from "./event-store.ts";

interface Dependencies {
  readonly events: EventRecorder;
  readonly subscriptions: Pick<SubscriptionService, "getSubscription">;
  /** Wakes the delivery of events. */
  readonly wakeDelivery: () => void;
}

/** A time range of events to deliver again. */
export type ReplayRange = Pick<ReplaySelection, "from" | "to" | "status">;

const replaysMax = 1000;

export type EventService = ReturnType<typeof createEventService>;

export function createEventService({ events, subscriptions, wakeDelivery }: Dependencies) {
  async function getEvent(context: Context, id: string): Promise<FullEvent> {
    const event = await eventStore(context.sql).find(context.tenantId, id);
    if (event === undefined) throw notFound("trigger event");
    requireEnvironmentAccess(context, event.environmentKey);
    return event;
  }

  async function recordReplay(context: Context, { id, environmentId }: Subscription, count: number): Promise<void> {
    await events.record(context, "connector.trigger.replayed", id, { environment_id: environmentId, count });
    context.afterCommit(wakeDelivery);
  }

  return {
    getEvent,

    async replayEvent(context: Context, id: string): Promise<FullEvent> {
      const { sql, tenantId } = context;
      const event = await getEvent(context, id);
      // An event of a deleted subscription has no target.
      const subscription = await subscriptions.getSubscription(context, event.subscriptionId);
      if (event.payload === null && event.status === "dead") {
        throw fail("FAILED_PRECONDITION", { public: "The event has no payload that could be delivered." });
      }
      if (!(await eventStore(sql).replay(tenantId, id))) {
        throw fail("FAILED_PRECONDITION", {
          public: "The event is still being delivered. Replay it when that has ended.",
        });
      }
      await recordReplay(context, subscription, 1);
      return getEvent(context, id);
    },

    async replayEvents(context: Context, subscriptionId: string, range: ReplayRange) {
      const { sql, tenantId } = context;
      if (range.to <= range.from) throw invalid("to", "after", "must be after from");
      const subscription = await subscriptions.getSubscription(context, subscriptionId);
      const replayed = await eventStore(sql).replayMany(tenantId, { subscriptionId, ...range, limit: replaysMax });
      if (replayed > 0) await recordReplay(context, subscription, replayed);
      return { replayed, hasMore: replayed === replaysMax };
    },
  };
}
