/**
 * Triggers: what happens in connected accounts starts workflow runs, routes items, or is recorded.
 *
 * Subscription: a trigger of a provider for one connection, with a condition and a target. Intake: how events arrive, as webhooks
 * or by polls. Registration: a webhook at the provider that the service created; it outlives its subscription until it is removed.
 * Scan: reading a provider's list to its end, page by page, with a look-back window. Ledger: the keys of what was seen; whatever is
 * in it is not received again. Baseline: the first scan, whose items are not events. Event: something that happened, stored in one
 * commit with its delivery. Delivery: the work to pass an event to its target. Claim: a node's right to a piece of work for a time.
 * Dead: an event that could not be delivered. Replay: delivering an ended event again, as a new effect.
 */

import type { OperationCaller } from "../../../chain/operation-caller.ts";
import type { TenantId } from "../../../platform/access/index.ts";
import type { NextDue, Sql } from "../../../platform/db/index.ts";
import { createTenantConcurrencyLimiter } from "../../../platform/event-loop/index.ts";
import { createLeasedWorkLoop, type LeasedWorkLoop, type LeaseRequest } from "../../../platform/jobs/index.ts";
import { createShards } from "../../../platform/shards/index.ts";
import type { PlatformServices } from "../../area.ts";
import type { EventRecorder } from "../../operations/index.ts";
import type { Catalogue, GuardedHttp } from "../manifests/index.ts";
import { dueDeliveries } from "./delivery/delivery-store.ts";
import { createDispatcher } from "./delivery/dispatcher.ts";
import { createTargetCaller, type FindPoolId } from "./delivery/target-calls.ts";
import type { CompileTemplate } from "./delivery/target-templates.ts";
import { shardCount } from "./domain/subscription.ts";
import { createEventService } from "./events/event-service.ts";
import { triggerHandlers } from "./handler.ts";
import { createWebhookIntake } from "./intake/webhook-intake.ts";
import { pollStore } from "./polling/poll-store.ts";
import { createPoller } from "./polling/poller.ts";
import { type ConnectionAccess, createProviderClient } from "./provider-client.ts";
import { createRegistrar } from "./registration/registrar.ts";
import { registrationStore } from "./registration/registration-store.ts";
import { maintainTriggersJob } from "./retention-job.ts";
import { reencryptableSecrets } from "./sealed-secrets.ts";
import { createStatusStore } from "./status-store.ts";
import {
  createSubscriptionService,
  type EnvironmentLookup,
  type SubscriptionParts,
} from "./subscriptions/subscription-service.ts";
import { subscriptionStore } from "./subscriptions/subscription-store.ts";
import { findSubscriptionUses } from "./subscriptions/subscription-uses.ts";
import { createTriggerMetrics } from "./trigger-metrics.ts";

export { challengeReply, readDelivery } from "./intake/delivery-reader.ts";
export { isSameText, isVerified, type ReadDelivery } from "./intake/verification.ts";
export type { CompileTemplate, EnvironmentLookup, FindPoolId };

/** The module's dependencies on connections. */
export type TriggerConnections = ConnectionAccess & SubscriptionParts["connections"];

export interface TriggerParts
  extends Pick<PlatformServices, "db" | "signals" | "clock" | "log" | "shares" | "keyring" | "metrics"> {
  readonly events: EventRecorder;
  readonly catalogue: Pick<Catalogue, "trigger">;
  readonly connections: TriggerConnections;
  readonly http: GuardedHttp;
  readonly environments: EnvironmentLookup;
  readonly compileTemplate: CompileTemplate;
  /** Performs operations of other areas. */
  readonly call: OperationCaller;
  readonly findPoolId: FindPoolId;
  /** The URL at which providers reach the service. */
  readonly publicUrl: () => string;
  readonly retentionDays: number;
  /** How long the results of calls are known by their idempotency keys. */
  readonly idempotencyMs: number;
  readonly platformTenantId: () => string;
  /** Shorter times, for tests. */
  readonly times?: Partial<Times>;
}

interface Times {
  readonly shardLeaseMs: number;
  /** How long the work of a node that died waits for another node. */
  readonly claimMs: number;
  readonly pollMs: number;
}

/** Signal topics for changes of subscriptions and for new events. */
const intakeTopic = "connector.triggers";
const deliveryTopic = "connector.trigger_events";
/** The polls and registrations of one tenant that a node makes at a time. */
const perTenant = 8;
const concurrency = 32;

export function createTriggers(parts: TriggerParts) {
  const { db, signals, clock, log, connections } = parts;
  const { shardLeaseMs = 5000, claimMs = 120_000, pollMs = 1000 } = parts.times ?? {};
  const metrics = createTriggerMetrics(parts.metrics);
  const storeStatus = createStatusStore(parts);
  const send = createProviderClient(parts);
  const wakeDelivery = () => signals.wake(deliveryTopic);
  const common = { ...parts, metrics, storeStatus, send, wakeDelivery, claimMs, pollMs };

  const shards = createShards({ db, clock, log, signals, kind: intakeTopic, count: shardCount, leaseMs: shardLeaseMs });
  const limiter = createTenantConcurrencyLimiter(perTenant);
  const register = createRegistrar(common);
  const poll = createPoller(common);
  const owned = () => shards.currentSql(db.sql, shards.owned());
  /** The earliest due time in the shards of this node. */
  const nextIn =
    (table: string, due: string): NextDue =>
    (sql) =>
      sql`
      select min(first.due) from unnest(${[...shards.owned().keys()]}::int[]) as owned(shard) cross join lateral (
        select ${sql(due)} as due from ${sql(table)} where shard = owned.shard and ${sql(due)} is not null
        order by ${sql(due)} limit 1) first`;

  /** The loop of work on connections, one piece per connection at a time: all of it belongs to one shard, and so to one node. */
  function loopOf<Item extends { readonly tenantId: TenantId; readonly connectionId: string }>(
    name: string,
    nextDue: NextDue,
    claim: (request: LeaseRequest) => Promise<readonly Item[]>,
    perform: (item: Item, signal: AbortSignal) => Promise<void>,
  ): LeasedWorkLoop {
    return createLeasedWorkLoop<Item>({
      ...{ concurrency, busyAt: perTenant },
      subscribe: ({ run, runWithin, runEvery }) => [
        signals.onWake(intakeTopic, run),
        signals.onDue(nextDue, (inMs) => (inMs > 0 ? runWithin(inMs) : runEvery(pollMs))),
      ],
      lease: async (request) => ({ items: shards.owned().size === 0 ? [] : await claim(request), scannedTo: "" }),
      onLeaseError: (error) => log.warn({ err: error }, `${name} cannot be claimed`),
      handle: () => (item, signal) => limiter.run(item.tenantId, item.connectionId, () => perform(item, signal)),
      onItemError(error, _item, { aborted }) {
        if (!aborted) log.warn({ err: error }, `${name} failed`);
      },
    });
  }

  const registrations = loopOf(
    "the registration of webhooks",
    nextIn("connector_trigger_registrations", "due_at"),
    (request) => registrationStore(db.sql).claimDue(owned(), request, claimMs),
    register,
  );
  const polls = loopOf(
    "the polls of providers",
    nextIn("connector_trigger_subscriptions", "poll_due_at"),
    (request) => pollStore(db.sql).claimDue(owned(), request, claimMs),
    poll,
  );
  const dispatcher = createDispatcher({
    ...common,
    callTarget: createTargetCaller(parts),
    topic: deliveryTopic,
    keyLifeMs: parts.idempotencyMs,
  });
  const intake = createWebhookIntake(common);
  const subscriptions = createSubscriptionService({
    ...parts,
    connections,
    wakeWorkers: () => signals.wake(intakeTopic),
  });
  const eventService = createEventService({ ...parts, subscriptions, wakeDelivery });
  const loops = [registrations, polls, dispatcher];
  let stopListening: (() => void) | undefined;
  return {
    handlers: triggerHandlers({ ...parts, subscriptions, events: eventService }),
    jobs: [maintainTriggersJob(parts)],
    backlog: dueDeliveries,
    /** Registers webhooks, polls and delivers events, on a node that does background work. */
    worker: {
      start() {
        stopListening = shards.onChange(() => {
          registrations.run();
          polls.run();
        });
        shards.start();
        for (const loop of loops) loop.start();
      },
      async stop() {
        stopListening?.();
        await Promise.all(loops.map((loop) => loop.stop()));
        await dispatcher.idle();
        await shards.stop();
      },
    },
    /** Receives a webhook delivery. When it resolves, its events are committed. */
    receive: intake.receive,
    /** Whether a provider has subscriptions. */
    hasProvider: (sql: Sql, tenantId: TenantId, providerKey: string) =>
      subscriptionStore(sql).hasProvider(tenantId, providerKey),
    /** Finds subscriptions that refer to records of packs. */
    findUses: findSubscriptionUses,
    /** Secrets that are re-encrypted when the master key changes. */
    sealed: reencryptableSecrets(db.sql),
    /** Resolves when nothing is being written. */
    idle: intake.idle,
  };
}
