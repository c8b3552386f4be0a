/**
 * Topics: named sets of subscribers with their membership history.
 *
 * member: a subscriber in a topic. subscription: one membership, from joining to leaving. context keys: the contexts in
 * which a member belongs to the topic. import: adding many members in the background. cutoff: a database snapshot that determines the members of a broadcast.
 */

import type { TenantId } from "../../../platform/access/index.ts";
import type { Sql } from "../../../platform/db/index.ts";
import type { Log } from "../../../platform/log/log.ts";
import type { PlatformServices } from "../../area.ts";
import type { EventRecorder } from "../../operations/index.ts";
import type { Subscribers } from "../subscribers/index.ts";
import { createDeletedTopics } from "./deleted-topics.ts";
import type { TopicMember } from "./domain/subscription.ts";
import type { Topic } from "./domain/topic.ts";
import { createImportService } from "./import-service.ts";
import { deleteEndedSubscriptionsJob } from "./jobs.ts";
import { subscriptionHandlers } from "./subscription-handler.ts";
import { subscriptionStore } from "./subscription-store.ts";
import { topicHandlers } from "./topic-handler.ts";
import { createTopicService } from "./topic-service.ts";
import { topicStore } from "./topic-store.ts";

export type { Topic, TopicMember };

/** The module's public API. */
export type Topics = ReturnType<typeof createTopics>;

interface Dependencies extends Pick<PlatformServices, "db" | "clock"> {
  readonly log: Pick<Log, "error">;
  readonly events: EventRecorder;
  readonly subscribers: Pick<Subscribers, "find" | "resolveIds">;
  readonly platformTenantId: () => string;
  /** Has imports and removals of members start immediately. */
  readonly jobs: { wake(): void };
}

export function createTopics({ db, clock, log, events, subscribers, platformTenantId, jobs }: Dependencies) {
  const wakeJobs = () => jobs.wake();
  const deleted = createDeletedTopics({ sql: db.sql, clock, wakeJobs });
  const service = createTopicService({ events, subscribers, endMembersLater: deleted.endMembersLater });
  const imports = createImportService({ db, clock, log, events, topics: service, wakeJobs });
  return {
    handlers: {
      topics: topicHandlers(service, imports),
      /** SubscriberService operations on a subscriber's topics. */
      subscriptions: subscriptionHandlers(service),
    },
    jobs: [imports.job, deleted.job, deleteEndedSubscriptionsJob({ db, clock, platformTenantId })],
    find: (tx: Sql, tenantId: TenantId, topicKey: string) => topicStore(tx).find(tenantId, topicKey),
    /** Topics by key; unknown keys are omitted. */
    async findMany(tx: Sql, tenantId: TenantId, topicKeys: readonly string[]): Promise<Map<string, Topic>> {
      const found = await topicStore(tx).findMany(tenantId, topicKeys);
      return new Map(found.map((topic) => [topic.key, topic]));
    },
    /**
     * The current cutoff: committed changes count, changes of open transactions do not. Do not use it in a transaction that
     * has changed members itself: whether its own changes count is undefined.
     */
    cutoff: (tx: Sql) => subscriptionStore(tx).snapshot(),
    /**
     * The members at a cutoff, ordered by subscription id, starting after `afterId` ("" for the first). Pages are stable for
     * seven days.
     */
    membersAt: (tx: Sql, tenantId: TenantId, topicKey: string, cutoff: string, afterId: string, limit: number) =>
      subscriptionStore(tx).membersAt(tenantId, topicKey, cutoff, afterId, limit),
    /** The number of members at a cutoff. */
    countAt: (tx: Sql, tenantId: TenantId, topicKey: string, cutoff: string) =>
      subscriptionStore(tx).countAt(tenantId, topicKey, cutoff),
  };
}
