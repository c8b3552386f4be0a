import type { Clock } from "../../platform/clock/clock.ts";
import { createBatcher, type Database } from "../../platform/db/index.ts";
import type { IdempotencyRecord } from "../../platform/idempotency/index.ts";
import { ulid } from "../../platform/ids/ulid.ts";
import type { Log } from "../../platform/log/log.ts";
import type { Metrics } from "../../platform/telemetry/index.ts";
import type { EventRecorder } from "../events/index.ts";
import type { Resolution } from "../preferences/index.ts";
import type { Subscribers } from "../subscribers/index.ts";
import type { Attempted } from "./attempt.ts";
import { failureFields, keptFields, wayFields } from "./beginning.ts";
import { dispatchStore, type LeasedDelivery, type SettledRow, type Settlement } from "./dispatch-store.ts";
import { attemptsMax, type DeliveryFailure } from "./domain/delivery.ts";
import { retryWaitMs } from "./domain/retry.ts";
import type { WakeInbox } from "./inbox-feed.ts";

/** What of a delivery its settlement needs. */
export type Settleable = Pick<
  LeasedDelivery,
  "tenantId" | "id" | "subscriberId" | "channel" | "endpointId" | "leaseToken" | "executionAttempt" | "deadLetterId"
>;

/** How a delivery's settlement is written down, and what else follows from it. */
export interface Settled extends Settlement {
  readonly delivery: Settleable;
  readonly suppressEndpoint: boolean;
}

interface Parts {
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly events: Pick<EventRecorder, "recordMany">;
  readonly subscribers: Pick<Subscribers, "suppressEndpoint">;
  /** Whether what failed is tried again: not without a queue. */
  readonly retries: boolean;
  readonly wakeInbox: WakeInbox;
  /** From 0 to 1; what spreads the waits between attempts. */
  readonly random: () => number;
}

/** Writes down what became of deliveries, many in one transaction. */
export type Settling = ReturnType<typeof createSettling>;

/** Makes this node's settling. */
export function createSettling(parts: Parts) {
  const { db, clock, log, metrics, events, subscribers, retries, wakeInbox, random } = parts;
  const outcomes = metrics.counter({
    name: "notification_deliveries_total",
    help: "Attempts to deliver notifications, by channel and by what came of them.",
    labels: ["channel", "outcome"],
  });

  const writer = createBatcher<Settled, void>({
    lanes: 2,
    batchMax: 200,
    async flush(settled) {
      const { owned, told } = await db.transaction(async (tx) => {
        const store = dispatchStore(tx);
        const [, owned] = await Promise.all([store.planAnew(), store.settle(settled)]);
        const failed = settled.filter(({ delivery, status }) => status === "failed" && owned.has(delivery.id));
        const entries = failed.map(({ delivery, row, newDeadLetterId }) => ({
          tenantId: delivery.tenantId,
          type: "notification.delivery.failed" as const,
          subject: delivery.id,
          data: {
            channel: delivery.channel,
            subscriber_id: delivery.subscriberId,
            failure_phase: row.failure_phase,
            failure_code: row.failure_code,
            dead_letter_id: newDeadLetterId ?? delivery.deadLetterId,
          },
        }));
        return { owned, told: await events.recordMany(tx, entries, clock.now()) };
      });
      told.wake();
      for (const { delivery, status, row, suppressEndpoint } of settled) {
        outcomes.inc({ channel: delivery.channel, outcome: status });
        if (!owned.has(delivery.id)) {
          log.warn({ delivery_id: delivery.id, outcome: status }, "a notification was settled too late");
        }
        if (row.kept_in === "inbox") wakeInbox(delivery.tenantId, [delivery.subscriberId]);
        if (suppressEndpoint && delivery.endpointId !== "") await suppress(delivery);
      }
      return settled.map(() => undefined);
    },
  });

  async function suppress({ tenantId, endpointId }: Settleable): Promise<void> {
    await subscribers
      .suppressEndpoint(db.sql, tenantId, endpointId, clock.now())
      .catch((error) => log.warn({ err: error, endpoint_id: endpointId }, "an endpoint could not be suppressed"));
  }

  function failed(
    delivery: Settleable,
    attempted: Extract<Attempted, { kind: "failed" }>,
  ): Pick<Settled, "status" | "waitMs" | "row" | "newDeadLetterId"> {
    const { failure, retryable, retryAfterMs } = attempted;
    const way = { ...wayFields(attempted), provider_attempts: attempted.providerAttempts };
    if (retryable && retries && delivery.executionAttempt < attemptsMax) {
      const waitMs = retryWaitMs(delivery.executionAttempt, retryAfterMs, random());
      const row = { ...way, ...failureFields(failure), retryable: true };
      return { status: "queued", waitMs, row, newDeadLetterId: undefined };
    }
    const isUnknown = failure.code === "outcome_unknown";
    const told = retryable && retries ? exhausted(failure) : failure;
    const row: SettledRow = {
      ...way,
      ...failureFields(told),
      ...(isUnknown && { reconciliation_required: true, observation_state: "unknown" }),
    };
    const newDeadLetterId = delivery.deadLetterId === "" ? ulid(clock.now()) : undefined;
    return { status: "failed", waitMs: 0, row, newDeadLetterId };
  }

  return {
    /** How an attempt is to be written down. */
    settlementOf(delivery: Settleable, attempted: Attempted, decided?: Resolution): Settled {
      const base = { delivery, waitMs: 0, newDeadLetterId: undefined, record: undefined, suppressEndpoint: false };
      const reason = decided && { reason: decided.reasonCode, layer: decided.winningLayer };
      const way = { ...reason, ...wayFields(attempted), provider_attempts: attempted.providerAttempts };
      switch (attempted.kind) {
        case "sent": {
          const { providerMessageId, observed } = attempted;
          const row = {
            ...way,
            provider_message_id: providerMessageId,
            observation_state: observed ? "awaiting" : "not_expected",
          };
          return { ...base, status: "sent", row };
        }
        case "kept":
          return { ...base, status: "sent", row: { ...way, ...keptFields(attempted) } };
        case "failed": {
          const { row, ...rest } = failed(delivery, attempted);
          return { ...base, ...rest, row: { ...reason, ...row }, suppressEndpoint: attempted.suppressEndpoint };
        }
      }
    },

    /** How it is to be written down that there is nothing to send after all. */
    skipped(delivery: Settleable, decided: Resolution | undefined, failure: DeliveryFailure | undefined): Settled {
      const row = {
        ...(decided && { reason: decided.reasonCode, layer: decided.winningLayer }),
        ...(failure && failureFields(failure)),
      };
      const base = { delivery, waitMs: 0, newDeadLetterId: undefined, record: undefined, suppressEndpoint: false };
      return { ...base, status: "skipped", row };
    },

    /** Resolves when everything is committed; the answer of the call that caused it is kept with the last of it. */
    async settle(settled: readonly Settled[], record?: IdempotencyRecord): Promise<void> {
      await Promise.all(settled.map((each, at) => writer.run(at === settled.length - 1 ? { ...each, record } : each)));
    },

    idle: () => writer.idle(),
  };
}

function exhausted({ phase, code, detail }: DeliveryFailure): DeliveryFailure {
  return {
    phase: "system",
    code: "attempts_exhausted",
    detail: `The last of all attempts: ${phase}/${code}: ${detail}`,
  };
}
