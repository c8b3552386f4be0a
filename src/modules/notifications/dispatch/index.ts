/**
 * Dispatch: sends notifications to subscribers and tracks what happens to them.
 *
 * trigger: a request to notify a subscriber or a topic. transaction: all deliveries of one trigger. delivery: one message
 * to one address. broadcast: a trigger for the members of a topic. expansion: creating the deliveries of a broadcast.
 * lane: one of two queues, so that broadcasts never delay single sends. hand-over: recording which integration may have
 * a message before it is sent. settlement: saving the outcome of an attempt. dead letter: a delivery or broadcast page
 * that failed permanently. redrive: retrying a dead letter. observation: evidence of what happened to a message after it
 * was sent. run: the way of one recipient through the steps of a workflow. inbox: the messages of the channel in_app. outbox: messages that no integration serves, stored for
 * developers.
 */

import type { NotificationService } from "../../../../gen/service/api/notification_pb.ts";
import type { Context } from "../../../chain/call.ts";
import type { Handlers } from "../../../chain/handlers.ts";
import { requireFound } from "../../../platform/db/index.ts";
import type { PlatformServices } from "../../area.ts";
import type { Connections } from "../../connectors/index.ts";
import type { HistoryRecorder, HistorySource } from "../../history-source.ts";
import type { EventRecorder } from "../../operations/index.ts";
import type { Quotas } from "../../tenancy/index.ts";
import type { Integrations } from "../integrations/index.ts";
import type { Layouts } from "../layouts/index.ts";
import type { Partials } from "../partials/index.ts";
import type { Preferences } from "../preferences/index.ts";
import type { Providers } from "../providers/index.ts";
import type { Subscribers } from "../subscribers/index.ts";
import type { Topics } from "../topics/index.ts";
import { broadcastTopic, createBroadcastExpander } from "./broadcasts/broadcast-expander.ts";
import { createBroadcastService } from "./broadcasts/broadcast-service.ts";
import { createDeadLetterService } from "./dead-letters/dead-letter-service.ts";
import { openLetters } from "./dead-letters/dead-letter-store.ts";
import { deliveryHandlers } from "./delivery/delivery-handler.ts";
import { createDeliveryReporter } from "./delivery/delivery-report.ts";
import { dueDeliveries } from "./delivery/dispatch-store.ts";
import { createDispatcher, dispatchTopic } from "./delivery/dispatcher.ts";
import { createMessageSender } from "./delivery/send-attempt.ts";
import { createDeliveryResultWriter } from "./delivery/settlement.ts";
import { channels } from "./domain/plan.ts";
import { reachHandlers } from "./explain/reach-handler.ts";
import { createReachService } from "./explain/reach-service.ts";
import { createInboxFeed } from "./inbox/inbox-feed.ts";
import { inboxHandlers } from "./inbox/inbox-handler.ts";
import { createInboxService } from "./inbox/inbox-service.ts";
import { createMessagePreparer } from "./message/message-preparation.ts";
import { createObservationService } from "./observations/observation-service.ts";
import { outboxHandlers } from "./outbox/outbox-handler.ts";
import { deleteExpiredNotificationsJob } from "./retention-job.ts";
import { createCancellation } from "./runs/cancellation.ts";
import { runHandlers } from "./runs/run-handler.ts";
import { runStore } from "./runs/run-store.ts";
import { createRunWorker, runTopic } from "./runs/run-worker.ts";
import { simulationHandlers } from "./simulation/simulation-handler.ts";
import { createSimulationService } from "./simulation/simulation-service.ts";
import { createTriggerBatchService } from "./triggers/trigger-batch-service.ts";
import { triggerHandlers } from "./triggers/trigger-handler.ts";
import { createTriggerService } from "./triggers/trigger-service.ts";
import { createTriggerWriter } from "./triggers/trigger-writer.ts";

export { deliveryExplainer } from "./delivery/delivery-explainer.ts";
export { deliveryUsage } from "./delivery/usage-source.ts";
export { runExplainer } from "./runs/run-explainer.ts";

interface Dependencies extends Pick<PlatformServices, "db" | "signals" | "clock" | "log" | "shares" | "metrics"> {
  readonly history: HistoryRecorder;
  readonly events: EventRecorder;
  readonly subscribers: Subscribers;
  readonly topics: Topics;
  readonly preferences: Preferences;
  readonly layouts: Layouts;
  readonly partials: Pick<Partials, "libraryOf">;
  readonly integrations: Integrations;
  readonly connections: Connections;
  readonly providers: Providers;
  readonly quotas: Quotas;
  readonly settings: NotificationSettings;
  readonly platformTenantId: () => string;
  /** Returns a number from 0 to 1 that spreads the delays between attempts. */
  readonly random?: () => number;
}

interface NotificationSettings {
  /** False switches sending off. */
  readonly enabled: boolean;
  /** The queue of waiting messages: two lanes, one lane, or no queue. */
  readonly queue: "tiered" | "flat" | "none";
  readonly verifiedOnly: boolean;
  /** Whether messages that no integration serves are stored in the outbox. */
  readonly outbox: boolean;
  readonly payloadRetentionDays: number;
  readonly retentionDays: number;
  readonly observationRetentionDays: number;
}

/** The module's public API. */
export type Dispatch = ReturnType<typeof createDispatch>;

const dayMs = 86_400_000;

export function createDispatch(dependencies: Dependencies) {
  const { db, signals, events, settings, random = Math.random } = dependencies;
  const { verifiedOnly, queue } = settings;
  const feed = createInboxFeed(db.sql, signals);
  const wakeInbox = feed.wake;
  const wakeExpander = () => signals.wake(broadcastTopic);
  const wakeDispatch = () => signals.wake(dispatchTopic);
  const payloadRetentionMs = settings.payloadRetentionDays * dayMs;
  const hasQueue = queue !== "none";
  const wakeRuns = () => signals.wake(runTopic);
  const prepare = createMessagePreparer({ ...dependencies, outbox: settings.outbox });
  const send = createMessageSender({ ...dependencies, prepare });
  const reporter = createDeliveryReporter(dependencies);
  const resultWriter = createDeliveryResultWriter({ ...dependencies, reporter, retries: hasQueue, wakeInbox, random });
  const sending = {
    ...dependencies,
    prepare,
    send,
    resultWriter,
    reporter,
    verifiedOnly,
    wakeInbox,
    wakeRuns,
    holds: hasQueue,
  };
  const writer = createTriggerWriter({ ...dependencies, reporter });
  const accepting = { ...sending, writer, hasQueue, payloadRetentionMs, wakeExpander, wakeDispatch };
  const triggers = createTriggerService(accepting);
  const batches = createTriggerBatchService(accepting);
  const broadcasts = createBroadcastService(accepting);
  const deadLetters = createDeadLetterService({ events, wakeExpander, wakeDispatch });
  const observations = createObservationService(dependencies);
  /** Wakes runs that wait for inbox messages to be seen or read. */
  const onInboxChange = async ({ sql, tenantId, afterCommit }: Context, messageIds: readonly string[]) => {
    if ((await runStore(sql).wakeAwaiting(tenantId, messageIds)) > 0) afterCommit(wakeRuns);
  };
  return {
    backlogs: [dueDeliveries, openLetters],
    history: {
      kind: "channel",
      async resolve(_, name) {
        return requireFound(
          channels.find((channel) => channel === name),
          "channel",
        );
      },
      visible: ({ sql }) => sql`select unnest(${[...channels]}::text[])`,
    } satisfies HistorySource,
    handlers: {
      notifications: {
        ...triggerHandlers({ triggers, batches, broadcasts, hasQueue, dispatchEnabled: settings.enabled }),
        ...deliveryHandlers(broadcasts, deadLetters),
        ...runHandlers(createCancellation({ events, reporter, wakeRuns })),
        ...simulationHandlers(createSimulationService({ ...sending, outbox: settings.outbox })),
      } satisfies Handlers<typeof NotificationService>,
      inbox: inboxHandlers({
        ...{ ...dependencies, feed },
        service: createInboxService({ events, observations, wakeInbox, onInboxChange }),
      }),
      outbox: outboxHandlers,
      /** The operation of SubscriberService that explains what reaches a subscriber. */
      subscribers: reachHandlers(createReachService({ ...dependencies, outbox: settings.outbox, verifiedOnly })),
    },
    jobs: [deleteExpiredNotificationsJob({ ...dependencies, ...settings })],
    /** Creates the deliveries of broadcasts, on nodes that do background work. */
    expander: createBroadcastExpander({
      ...sending,
      enabled: settings.enabled,
      lane: queue === "tiered" ? "broadcast" : "single",
      wakeDispatch,
    }),
    /** Sends queued deliveries, on nodes that do background work. */
    dispatcher: createDispatcher({ ...sending, enabled: settings.enabled }),
    /** Takes runs through the steps of their workflows, on nodes that do background work. */
    runs: createRunWorker({ ...sending, enabled: settings.enabled, payloadRetentionMs, wakeDispatch }),
    /** Accepts a provider's callback about messages that it accepted. */
    receive: observations.receive,
    /** Resolves when no send that a caller waits for is in progress. */
    async idle() {
      await triggers.idle();
      await resultWriter.idle();
    },
  };
}
