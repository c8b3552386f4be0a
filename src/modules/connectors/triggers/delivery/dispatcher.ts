import { Failure } from "../../../../errors/index.ts";
import { type Backoff, backoffMs } from "../../../../platform/backoff/backoff.ts";
import { CelError } from "../../../../platform/cel/index.ts";
import { classifyDatabaseError, createBatcher, mayBeCommitted } from "../../../../platform/db/index.ts";
import { createLeasedWorkLoop } from "../../../../platform/jobs/index.ts";
import type { Log } from "../../../../platform/log/log.ts";
import type { PlatformServices } from "../../../area.ts";
import type { EventEntry, EventRecorder } from "../../../operations/index.ts";
import { shortMessage } from "../domain/failure.ts";
import type { StoreStatus } from "../status-store.ts";
import type { TriggerMetrics } from "../trigger-metrics.ts";
import { type ClaimedDelivery, type DeliveryEnd, deliveryStore, nextPending } from "./delivery-store.ts";
import { type CallTarget, TargetRefusal } from "./target-calls.ts";
import { isConditionTrue } from "./target-templates.ts";

interface Dependencies extends Pick<PlatformServices, "db" | "signals" | "clock" | "log" | "shares"> {
  readonly events: EventRecorder;
  readonly metrics: TriggerMetrics;
  readonly callTarget: CallTarget;
  readonly storeStatus: StoreStatus;
  /** Signal topic for new events. */
  readonly topic: string;
  /** How long the results of calls are known by their idempotency keys. */
  readonly keyLifeMs: number;
  readonly pollMs: number;
  /** How long an event waits for another node after its node died. */
  readonly claimMs: number;
}

const concurrency = 64;
const perTenant = 16;
const retries: Backoff = { firstMs: 1000, maxMs: 60 * 60_000, spread: [1, 1.2] };
/** With the back-off, attempts end after about nine hours. */
const attemptsMax = 20;
const keyMarginMs = 60 * 60_000;

type Outcome =
  | Pick<DeliveryEnd, "status" | "result" | "error">
  | { readonly status: "retry"; readonly error: string; readonly waitMs?: number };

/** Creates the dispatcher of this node. Each event is passed to its target under its own idempotency key until a result is stored. */
export function createDispatcher(dependencies: Dependencies) {
  const { db, signals, clock, log, shares, events, metrics, callTarget, storeStatus, topic, keyLifeMs } = dependencies;
  const store = deliveryStore(db.sql);
  const ends = createBatcher<DeliveryEnd, void>({
    flush: async (batch) => {
      if (batch.some(({ status }) => status === "dead")) await endAndReport(batch);
      else await store.end(batch);
      return batch.map(() => undefined);
    },
  });

  async function outcomeOf(delivery: ClaimedDelivery): Promise<Outcome> {
    const { tenantId, eventId, subscriptionId, subscription, type, payload, receivedAt, replay } = delivery;
    if (subscription === undefined) return dead("The subscription was deleted.");
    if (clock.now() - delivery.firstClaimedAt.getTime() > keyLifeMs - keyMarginMs) {
      return dead("The attempts took too long: whether an earlier one succeeded is unknown.");
    }
    if (delivery.attempts > attemptsMax) return dead("The node ended while it delivered the event, on every attempt.");
    const event = { id: eventId, type, subject: subscriptionId, time: receivedAt, data: payload };
    const slices = shares.forBackground(tenantId);
    if (slices.isOver()) await slices.next();
    if (!holds(subscription.condition, event)) return { status: "ignored", result: null, error: "" };
    const { target, environmentId } = subscription;
    if (target.kind === "record") return { status: "recorded", result: null, error: "" };
    const origin = {
      tenantId,
      subject: "service:connector-trigger",
      // A replay is a new effect. Attempts of one replay are not.
      idempotencyKey: replay === 0 ? eventId : `${eventId}:${replay}`,
      requestId: eventId,
    };
    return { status: "delivered", result: await callTarget(target, environmentId, origin, event), error: "" };
  }

  async function attempt(delivery: ClaimedDelivery): Promise<Outcome> {
    try {
      return await outcomeOf(delivery);
    } catch (error) {
      return failureOf(error, delivery, log);
    }
  }

  async function perform(delivery: ClaimedDelivery): Promise<void> {
    const { subscription, tenantId, subscriptionId, attempts } = delivery;
    const outcome = await attempt(delivery);
    metrics.delivered(subscription?.target.kind ?? "record", outcome.status);
    const error = shortMessage(outcome.error);
    if (outcome.status === "retry") {
      const waitMs = outcome.waitMs ?? backoffMs(retries, attempts, Math.random());
      return store.retry(delivery, { waitMs, error });
    }
    await ends.run({ delivery, ...outcome, error, endedAt: new Date(clock.now()) });
    const known = subscription?.deliveryError ?? "";
    const deliveryError = outcome.status === "dead" ? `An event could not be delivered: ${error}` : "";
    if (known !== deliveryError) await storeStatus({ tenantId, subscriptionId }, { deliveryError });
  }

  /** Stores ends together with the reports of events that could not be delivered. */
  async function endAndReport(batch: readonly DeliveryEnd[]): Promise<void> {
    await db.transaction(async (tx) => {
      const ended = await deliveryStore(tx).end(batch);
      const dead = batch.filter(({ status, delivery }) => status === "dead" && ended.has(delivery.claim));
      await events.recordMany(tx, dead.map(deadEvent), clock.now());
    });
  }

  const loop = createLeasedWorkLoop<ClaimedDelivery>({
    ...{ concurrency, busyAt: perTenant },
    subscribe: ({ run, runEvery }) => [
      signals.onWake(topic, run),
      signals.onDue(nextPending, () => runEvery(dependencies.pollMs)),
    ],
    lease: (request) => store.claimDue(request, dependencies.claimMs),
    onLeaseError: (error) => log.warn({ err: error }, "the delivery of trigger events cannot be claimed"),
    handle: () => perform,
    onItemError(error, _delivery, { aborted }) {
      if (!aborted) log.warn({ err: error }, "the delivery of trigger events failed");
    },
  });
  // `idle` resolves when no result is being written.
  return { ...loop, idle: ends.idle };
}

function deadEvent({ delivery, error }: DeliveryEnd): EventEntry {
  const { tenantId, subscriptionId, subscription, eventId, type } = delivery;
  const environment = subscription && { environment_id: subscription.environmentId };
  const data = { ...environment, event_id: eventId, type, message: error };
  return { tenantId, type: "connector.trigger.event_dead", subject: subscriptionId, data };
}

/** A condition that cannot be evaluated does not hold. */
function holds(condition: string, event: Parameters<typeof isConditionTrue>[1]): boolean {
  try {
    return isConditionTrue(condition, event);
  } catch (error) {
    if (error instanceof CelError) return false;
    throw error;
  }
}

function dead(error: string): Outcome {
  return { status: "dead", result: null, error };
}

/** Errors that say nothing about the target: the call is still being made, or has to wait until the tenant is active again. */
const repeatedCodes: ReadonlySet<string> = new Set(["IDEMPOTENCY_IN_PROGRESS", "TENANT_SUSPENDED", "QUOTA_EXCEEDED"]);

function failureOf(error: unknown, { attempts }: ClaimedDelivery, log: Log): Outcome {
  if (error instanceof TargetRefusal) return dead(error.message);
  if (error instanceof CelError) return dead(`A template of the target failed: ${error.message}`);
  const failure = error instanceof Failure ? error : classifyDatabaseError(error);
  if (failure === undefined) log.warn({ err: error }, "a trigger event could not be delivered");
  const isTemporary =
    failure === undefined || failure.entry.retryable || repeatedCodes.has(failure.code) || mayBeCommitted(failure);
  const message = failure?.message ?? "The service failed unexpectedly.";
  return isTemporary && attempts < attemptsMax ? { status: "retry", error: message } : dead(message);
}
