/**
 * Notifications: messages to people on the channels that they allow.
 *
 * subscribers: the recipients and their addresses. topics: named sets of subscribers. preferences: which channels reach
 * which subscriber, and the notification workflows with their templates. layouts: templates that wrap message content.
 * partials: pieces of templates that others include.
 * integrations: which provider serves which channel. providers: the systems that send messages. dispatch: triggers,
 * broadcasts, deliveries, inbox and outbox.
 */
import type { Area, PlatformServices } from "../area.ts";
import type { Connections, Messaging } from "../connectors/index.ts";
import type { HistoryRecorder } from "../history-source.ts";
import type { EventRecorder } from "../operations/index.ts";
import type { Quotas } from "../tenancy/index.ts";
import { createDispatch, deliveryExplainer, deliveryUsage, runExplainer } from "./dispatch/index.ts";
import { createIntegrations } from "./integrations/index.ts";
import { createLayouts } from "./layouts/index.ts";
import { notificationNames } from "./name-sources.ts";
import { createPartials, partialUsePattern } from "./partials/index.ts";
import { createPersonalData } from "./personal-data/index.ts";
import { checkTemplateSyntax, createPreferences, hasStoredLayout } from "./preferences/index.ts";
import { createProviders } from "./providers/index.ts";
import { createSubscribers, createSubscriberTokens } from "./subscribers/index.ts";
import { createTopics } from "./topics/index.ts";

export type { SubscriberTokens } from "./subscribers/index.ts";

interface Dependencies extends PlatformServices {
  readonly history: HistoryRecorder;
  readonly events: EventRecorder;
  readonly connections: Connections;
  /** Sends notifications through providers of the connector catalogue. */
  readonly messaging: Messaging;
  readonly quotas: Quotas;
  /** Signs subscriber tokens. */
  readonly subscriberTokenSecret: Buffer;
}

export function createNotifications({ config, ...parts }: Dependencies) {
  const { cacheLoadDb } = parts;
  const providers = createProviders(parts);
  const integrations = createIntegrations({ ...parts, providers });
  const subscriberTokens = createSubscriberTokens({ ...parts, secret: parts.subscriberTokenSecret });
  const subscribers = createSubscribers({
    ...parts,
    checkConnection: integrations.checkConnection,
    onDeactivated: subscriberTokens.changed,
  });
  const topics = createTopics({ ...parts, subscribers });
  const personalData = createPersonalData({ ...parts, subscribers, wakeJobs: () => parts.jobs.wake() });
  const partials = createPartials({
    ...parts,
    async findUses(sql, tenantId, key, limit) {
      const pattern = partialUsePattern(key);
      const workflows = await preferences.partialUses(sql, tenantId, pattern, limit);
      const named = await layouts.partialUses(sql, tenantId, pattern, limit);
      return [
        ...workflows.map((workflowKey) => `the notification workflow ${workflowKey}`),
        ...named.map((name) => `the layout ${name}`),
      ];
    },
  });
  const preferences = createPreferences({
    ...parts,
    partials,
    db: cacheLoadDb,
    subscribers,
    checkTemplate: checkTemplateSyntax,
    hasLayout: hasStoredLayout,
    allowUnknownWorkflows: config["notification.allow_unknown_workflows"],
  });
  const layouts = createLayouts({ ...parts, partials, findLayoutUses: preferences.layoutUses });
  const dispatch = createDispatch({
    ...parts,
    subscribers,
    topics,
    preferences,
    layouts,
    partials,
    integrations,
    providers,
    settings: {
      enabled: config["notification.dispatch.enabled"],
      queue: config["notification.dispatch.queue"],
      verifiedOnly: config["notification.verified_endpoints_only"],
      outbox: config["notification.outbox.enabled"],
      payloadRetentionDays: config["notification.payload_retention_days"],
      retentionDays: config["notification.retention_days"],
      observationRetentionDays: config["notification.observation_retention_days"],
    },
  });
  return {
    handlers: {
      "service.api.SubscriberService": {
        ...subscribers.handlers,
        ...topics.handlers.subscriptions,
        ...preferences.handlers.subscribers,
        ...dispatch.handlers.subscribers,
        ...personalData.handlers,
      },
      "service.api.SubscriberTokenService": subscriberTokens.handlers,
      "service.api.SuppressionService": subscribers.suppressionHandlers,
      "service.api.TopicService": topics.handlers.topics,
      "service.api.NotificationWorkflowService": preferences.handlers.workflows,
      "service.api.LayoutService": layouts.handlers,
      "service.api.PartialService": partials.handlers,
      "service.api.IntegrationService": integrations.handlers,
      "service.api.NotificationService": dispatch.handlers.notifications,
      "service.api.InboxService": dispatch.handlers.inbox,
      "service.api.OutboxService": dispatch.handlers.outbox,
    },
    jobs: [...topics.jobs, ...personalData.jobs, ...dispatch.jobs],
    workers: [dispatch.expander, dispatch.runs, dispatch.dispatcher],
    names: notificationNames,
    providers,
    /** The records that packs contain. A layout comes before the workflows that use it. */
    packRecords: [layouts.packRecords, preferences.packRecords],
    backlogs: dispatch.backlogs,
    usageSources: [deliveryUsage],
    historySources: [dispatch.history],
    explainers: [deliveryExplainer, runExplainer],
    /** Finds which of some keys belong to notification workflows. */
    findNotificationWorkflows: preferences.findWorkflows,
    /** Identifies subscribers by their tokens. */
    subscriberTokens,
    /** Accepts a provider's callback about messages that it accepted. */
    receive: dispatch.receive,
    idle: dispatch.idle,
    close: () => providers.close(),
  } satisfies Area & Record<string, unknown>;
}
