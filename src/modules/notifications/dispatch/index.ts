/**
 * Dispatch: what is said to subscribers, on which channels, and what becomes of it.
 *
 * trigger: the wish to notify someone about something. transaction: what came of one trigger. delivery: one message to
 * one address. broadcast: a trigger for the members of a topic. expansion: making the deliveries of a broadcast.
 * lane: one of two queues, so that a broadcast is never in the way of what is sent to one. dead letter: what failed for
 * good. redrive: having it tried once more. observation: evidence of what became of a message after it was sent.
 * inbox: the messages of the channel in_app. outbox: what would have been sent, for developers to see.
 */

import type { InboxService } from "../../../../gen/service/api/inbox_pb.ts";
import type { NotificationService } from "../../../../gen/service/api/notification_pb.ts";
import type { OutboxService } from "../../../../gen/service/api/outbox_pb.ts";
import type { Handlers } from "../../../chain/handlers.ts";
import type { Clock } from "../../../platform/clock/clock.ts";
import type { Cursors } from "../../../platform/cursor/index.ts";
import type { Database, Signals } from "../../../platform/db/index.ts";
import type { JobKind } from "../../../platform/jobs/index.ts";
import type { Log } from "../../../platform/log/log.ts";
import type { EventLoopShares } from "../../../platform/scheduling/index.ts";
import type { Metrics } from "../../../platform/telemetry/index.ts";
import type { Connections } from "../../connectors/index.ts";
import type { EventRecorder } from "../../operations/index.ts";
import type { Quotas } from "../../tenancy/index.ts";
import type { Integrations } from "../integrations/index.ts";
import type { Layouts } from "../layouts/index.ts";
import type { Preferences } from "../preferences/index.ts";
import type { Providers } from "../providers/index.ts";
import type { Subscribers } from "../subscribers/index.ts";
import type { Topics } from "../topics/index.ts";
import { broadcastTopic, createExpanding, type Expanding } from "./broadcasts/broadcast-expander.ts";
import { createBroadcastService } from "./broadcasts/broadcast-service.ts";
import { createDeadLetterService } from "./dead-letters/dead-letter-service.ts";
import { deliveryHandlers } from "./delivery/delivery-handler.ts";
import { createReporting } from "./delivery/delivery-report.ts";
import { createDispatching, type Dispatching, dispatchTopic } from "./delivery/dispatcher.ts";
import { createSend } from "./delivery/send-attempt.ts";
import { createSettling } from "./delivery/settlement.ts";
import { createInboxFeed } from "./inbox/inbox-feed.ts";
import { inboxHandlers } from "./inbox/inbox-handler.ts";
import { createPrepare } from "./message/message-preparation.ts";
import { createObservationService, type ObservationService } from "./observations/observation-service.ts";
import { outboxHandlers } from "./outbox/outbox-handler.ts";
import { forgetNotificationsJob } from "./retention-job.ts";
import { triggerHandlers } from "./triggers/trigger-handler.ts";
import { createTriggerService } from "./triggers/trigger-service.ts";
import { createTriggerWriter } from "./triggers/trigger-writer.ts";

interface Parts {
  readonly db: Database;
  readonly signals: Signals;
  readonly cursors: Cursors;
  readonly clock: Clock;
  readonly log: Log;
  readonly shares: EventLoopShares;
  readonly metrics: Metrics;
  readonly events: EventRecorder;
  readonly subscribers: Subscribers;
  readonly topics: Topics;
  readonly preferences: Preferences;
  readonly layouts: Layouts;
  readonly integrations: Integrations;
  readonly connections: Connections;
  readonly providers: Providers;
  readonly quotas: Quotas;
  readonly settings: NotificationSettings;
  readonly platformTenantId: () => string;
  /** From 0 to 1; what spreads the waits between attempts. */
  readonly random?: () => number;
}

/** How an instance notifies. */
interface NotificationSettings {
  /** Whether anything is sent at all. */
  readonly enabled: boolean;
  /** What keeps messages that wait: two lanes, one, or nothing. */
  readonly queue: "tiered" | "flat" | "none";
  readonly verifiedOnly: boolean;
  /** Whether what no integration serves is kept for developers to see. */
  readonly outbox: boolean;
  readonly payloadRetentionDays: number;
  readonly retentionDays: number;
}

/** The door of the module. */
export interface Dispatch {
  readonly handlers: {
    readonly notifications: Handlers<typeof NotificationService>;
    readonly inbox: Handlers<typeof InboxService>;
    readonly outbox: Handlers<typeof OutboxService>;
  };
  readonly jobs: readonly JobKind[];
  /** Makes the deliveries of broadcasts, on a node that does background work. */
  readonly expanding: Expanding;
  /** Sends what waits, on a node that does background work. */
  readonly dispatching: Dispatching;
  /** Takes in what a provider tells about messages that it took. */
  readonly receive: ObservationService["receive"];
  /** Resolves when nothing that a caller waits for is on its way any more. */
  idle(): Promise<void>;
}

const dayMs = 86_400_000;

/** Makes the module. */
export function createDispatch(parts: Parts): Dispatch {
  const { db, signals, cursors, events, settings, random = Math.random } = parts;
  const { verifiedOnly, queue } = settings;
  const feed = createInboxFeed(db.sql, signals);
  const wakeInbox = feed.wake;
  const wakeExpanding = () => signals.wake(broadcastTopic);
  const wakeDispatch = () => signals.wake(dispatchTopic);
  const payloadKeptMs = settings.payloadRetentionDays * dayMs;
  const hasQueue = queue !== "none";
  const prepare = createPrepare({ ...parts, outbox: settings.outbox });
  const send = createSend({ ...parts, prepare });
  const reporting = createReporting(parts);
  const settling = createSettling({ ...parts, reporting, retries: hasQueue, wakeInbox, random });
  const sending = { ...parts, prepare, send, settling, reporting, verifiedOnly, wakeInbox };
  const writer = createTriggerWriter({ ...parts, reporting });
  const triggers = createTriggerService({ ...sending, writer, payloadKeptMs });
  const broadcasts = createBroadcastService({ ...parts, writer, hasQueue, payloadKeptMs, wakeExpanding });
  const deadLetters = createDeadLetterService({ events, wakeExpanding, wakeDispatch });
  const observations = createObservationService(parts);
  return {
    handlers: {
      notifications: {
        ...triggerHandlers({ triggers, broadcasts, dispatchEnabled: settings.enabled }),
        ...deliveryHandlers({ broadcasts, deadLetters, cursors }),
      },
      inbox: inboxHandlers({ ...parts, feed, observations }),
      outbox: outboxHandlers(cursors),
    },
    jobs: [forgetNotificationsJob({ ...parts, sql: db.sql, retentionDays: settings.retentionDays })],
    expanding: createExpanding({
      ...sending,
      enabled: settings.enabled,
      lane: queue === "tiered" ? "broadcast" : "single",
      wakeDispatch,
    }),
    dispatching: createDispatching({ ...sending, enabled: settings.enabled }),
    receive: observations.receive,
    async idle() {
      await triggers.idle();
      await settling.idle();
    },
  };
}
