import type { Clock } from "../../../../platform/clock/clock.ts";
import { createBatcher, type Database, type Sql } from "../../../../platform/db/index.ts";
import { type IdempotencyRecord, reviseResponses } from "../../../../platform/idempotency/index.ts";
import { ulid } from "../../../../platform/ids/ulid.ts";
import type { Log } from "../../../../platform/log/log.ts";
import type { Resolution } from "../../preferences/index.ts";
import type { Subscribers } from "../../subscribers/index.ts";
import { attemptsMax, type DeliveryFailure } from "../domain/delivery.ts";
import { retryWaitMs } from "../domain/retry.ts";
import type { WakeInbox } from "../inbox/inbox-feed.ts";
import type { NotSent, Way } from "../message/message-preparation.ts";
import type { Report, Reporting } from "./delivery-report.ts";
import {
  dispatchStore,
  type HandOver,
  type LeasedDelivery,
  type SettledRow,
  type Settlement,
} from "./dispatch-store.ts";
import { failureFields, keptFields, wayFields } from "./initial-delivery.ts";
import type { Attempted } from "./send-attempt.ts";

/** What of a delivery its settlement needs, by which way it was to go before among it. */
export type Settleable = Pick<
  LeasedDelivery,
  | keyof Way
  | "tenantId"
  | "id"
  | "subscriberId"
  | "channel"
  | "endpointId"
  | "leaseToken"
  | "executionAttempt"
  | "reconciliationRequired"
  | "deadLetterId"
>;

/** How a delivery's settlement is written down, and what else follows from it. */
export interface Settled extends Settlement {
  readonly delivery: Settleable;
  readonly suppressEndpoint: boolean;
}

/** What one call or one attempt came to: written down together. */
interface Bundle {
  readonly settled: readonly Settled[];
  /** The answer that the call's idempotency key is to have from now on. */
  readonly record: IdempotencyRecord | undefined;
}

interface Parts {
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Log;
  readonly reporting: Reporting;
  readonly subscribers: Pick<Subscribers, "suppress">;
  /** Whether what failed is tried again: not without a queue. */
  readonly retries: boolean;
  readonly wakeInbox: WakeInbox;
  /** From 0 to 1; what spreads the waits between attempts. */
  readonly random: () => number;
}

/** Writes down where deliveries go and what became of them, many in one transaction. */
export type Settling = ReturnType<typeof createSettling>;

/** Makes this node's settling. */
export function createSettling(parts: Parts) {
  const { db, clock, log, reporting, subscribers, retries, wakeInbox, random } = parts;

  const writer = createBatcher<Bundle, boolean>({
    lanes: 2,
    batchMax: 200,
    weigh: ({ settled }) => settled.length,
    async flush(bundles) {
      const settled = bundles.flatMap((bundle) => bundle.settled);
      const { owned, told } = await db.transaction(async (tx) => {
        const store = dispatchStore(tx);
        const [, owned] = await Promise.all([store.planAnew(), store.settle(settled)]);
        const isOwned = ({ delivery }: Settled) => owned.has(delivery.id);
        // What another has ended meanwhile is as that one has told it.
        const records = bundles.filter((bundle) => bundle.settled.every(isOwned)).flatMap(({ record }) => record ?? []);
        await reviseResponses(tx, records);
        await suppress(tx, settled);
        return { owned, told: await reporting.record(tx, settled.filter(isOwned).map(reportOf)) };
      });
      told.wake();
      reporting.count(settled.map(reportOf));
      for (const { delivery, status, row } of settled) {
        if (!owned.has(delivery.id)) {
          log.warn({ delivery_id: delivery.id, outcome: status }, "a notification was settled too late");
        } else if (row.kept_in === "inbox") wakeInbox(delivery.tenantId, [delivery.subscriberId]);
      }
      return bundles.map((bundle) => bundle.settled.every(({ delivery }) => owned.has(delivery.id)));
    },
  });

  /** Notes of which addresses a provider has said that they are gone for good. */
  async function suppress(tx: Sql, settled: readonly Settled[]): Promise<void> {
    const nowMs = clock.now();
    const gone = settled.filter(({ suppressEndpoint }) => suppressEndpoint).map(({ delivery }) => delivery);
    for (const [tenantId, deliveries] of Map.groupBy(gone, (delivery) => delivery.tenantId)) {
      const addresses = deliveries.map((delivery) => ({ ...delivery, usedAt: new Date(nowMs) }));
      await subscribers.suppress(tx, tenantId, addresses, nowMs);
    }
  }

  const handOvers = createBatcher<HandOver, boolean>({
    lanes: 2,
    batchMax: 200,
    async flush(handovers) {
      const owned = await dispatchStore(db.sql).handOver(handovers);
      return handovers.map(({ delivery }) => owned.has(delivery.id));
    },
  });

  function failed(
    delivery: Settleable,
    attempted: NotSent,
  ): Pick<Settled, "status" | "waitMs" | "row" | "newDeadLetterId"> {
    const { failure, retryable, retryAfterMs } = attempted;
    // Once a provider may have it, it may have it until it is known to.
    const doubt = delivery.reconciliationRequired || attempted.mayHaveArrived;
    // One that came to nobody this time still is with whom it may be.
    const by = attempted.integrationId === "" && delivery.reconciliationRequired ? delivery : attempted;
    const way = {
      ...wayFields(by),
      provider_attempts: attempted.providerAttempts,
      reconciliation_required: doubt,
    };
    if (retryable && retries && delivery.executionAttempt < attemptsMax) {
      const waitMs = retryWaitMs(delivery.executionAttempt, retryAfterMs, random());
      const row = { ...way, ...failureFields(failure), retryable: true };
      return { status: "queued", waitMs, row, newDeadLetterId: undefined };
    }
    const told = retryable && retries ? exhausted(failure) : failure;
    const row: SettledRow = { ...way, ...failureFields(told), ...(doubt && { observation_state: "unknown" }) };
    const newDeadLetterId = delivery.deadLetterId === "" ? ulid(clock.now()) : undefined;
    return { status: "failed", waitMs: 0, row, newDeadLetterId };
  }

  return {
    /** How an attempt is to be written down. */
    settlementOf(delivery: Settleable, attempted: Attempted, decided?: Resolution): Settled {
      const base = { delivery, waitMs: 0, newDeadLetterId: undefined, suppressEndpoint: false };
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
        ...(delivery.reconciliationRequired && { ...wayFields(delivery), reconciliation_required: true }),
      };
      const base = { delivery, waitMs: 0, newDeadLetterId: undefined, suppressEndpoint: false };
      return { ...base, status: "skipped", row };
    },

    /**
     * Resolves when everything is committed, with whether all of it was still this node's; the answer of the call that
     * caused it is kept with it then.
     */
    settle: (settled: readonly Settled[], record?: IdempotencyRecord): Promise<boolean> =>
      writer.run({ settled, record }),

    /** Resolves when it is committed that an integration may have the message, with whether it was still this node's. */
    handOver: (delivery: HandOver["delivery"], way: Way): Promise<boolean> => handOvers.run({ delivery, ...way }),

    idle: () => writer.idle(),
  };
}

function reportOf({ delivery, status, row, newDeadLetterId }: Settled): Report {
  return {
    ...delivery,
    status,
    failurePhase: row.failure_phase ?? "",
    failureCode: row.failure_code ?? "",
    deadLetterId: newDeadLetterId ?? delivery.deadLetterId,
  };
}

function exhausted({ phase, code, detail }: DeliveryFailure): DeliveryFailure {
  return {
    phase: "system",
    code: "attempts_exhausted",
    detail: `The last of all attempts: ${phase}/${code}: ${detail}`,
  };
}
