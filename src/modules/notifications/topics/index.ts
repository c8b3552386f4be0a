/**
 * Topics: named sets of subscribers, and who was in them when.
 *
 * member: a subscriber in a topic. subscription: one stay of a member, from joining to leaving.
 * context keys: in which contexts a member is in the topic. cutoff: a snapshot in which membership counts.
 */

import type { TopicService as Rpc } from "../../../../gen/service/api/topic_pb.ts";
import type { Handlers } from "../../../chain/handlers.ts";
import type { TenantId } from "../../../platform/access/index.ts";
import type { Clock } from "../../../platform/clock/clock.ts";
import type { Cursors } from "../../../platform/cursor/index.ts";
import type { Sql } from "../../../platform/db/index.ts";
import type { JobKind } from "../../../platform/jobs/index.ts";
import type { EventRecorder } from "../../operations/index.ts";
import type { Subscribers } from "../subscribers/index.ts";
import type { TopicMember } from "./domain/subscription.ts";
import type { Topic } from "./domain/topic.ts";
import { forgetSubscriptionsJob } from "./jobs.ts";
import { type SubscriptionHandlers, subscriptionHandlers } from "./subscription-handler.ts";
import { subscriptionStore } from "./subscription-store.ts";
import { topicHandlers } from "./topic-handler.ts";
import { createTopicService } from "./topic-service.ts";
import { topicStore } from "./topic-store.ts";

export type { Topic, TopicMember };

/** The door of the module. */
export interface Topics {
  readonly handlers: {
    readonly topics: Handlers<typeof Rpc>;
    /** What SubscriberService has on a subscriber's topics. */
    readonly subscriptions: SubscriptionHandlers;
  };
  readonly jobs: readonly JobKind[];
  find(sql: Sql, tenantId: TenantId, topicKey: string): Promise<Topic | undefined>;
  /**
   * The cutoff of this moment: what was committed before counts, and what is under way does not. It is not for
   * transactions that have changed members themselves: whether their own changes count is left to chance.
   */
  cutoff(sql: Sql): Promise<string>;
  /**
   * Those who were members at a cutoff, by the ids of their subscriptions, from the one after `afterId` ("" for the
   * first). Pages are the same whenever they are read, for seven days.
   */
  membersAt(
    sql: Sql,
    tenantId: TenantId,
    topicKey: string,
    cutoff: string,
    afterId: string,
    limit: number,
  ): Promise<TopicMember[]>;
  /** How many were members at a cutoff. */
  countAt(sql: Sql, tenantId: TenantId, topicKey: string, cutoff: string): Promise<number>;
}

interface Parts {
  readonly sql: Sql;
  readonly clock: Clock;
  readonly cursors: Cursors;
  readonly events: EventRecorder;
  readonly subscribers: Pick<Subscribers, "find" | "identify">;
  readonly platformTenantId: () => string;
}

/** Makes the module. */
export function createTopics({ sql, clock, cursors, events, subscribers, platformTenantId }: Parts): Topics {
  const service = createTopicService({ events, subscribers });
  return {
    handlers: { topics: topicHandlers(service, cursors), subscriptions: subscriptionHandlers(service, cursors) },
    jobs: [forgetSubscriptionsJob({ sql, clock, platformTenantId })],
    find: (on, tenantId, topicKey) => topicStore(on).find(tenantId, topicKey),
    cutoff: (on) => subscriptionStore(on).snapshot(),
    membersAt: (on, tenantId, topicKey, cutoff, afterId, limit) =>
      subscriptionStore(on).membersAt(tenantId, topicKey, cutoff, afterId, limit),
    countAt: (on, tenantId, topicKey, cutoff) => subscriptionStore(on).countAt(tenantId, topicKey, cutoff),
  };
}
