import { createBatcher, type Sql } from "../../../../platform/db/index.ts";
import { type IdempotencyRecord, reviseResponses } from "../../../../platform/idempotency/index.ts";
import { ulid } from "../../../../platform/ids/ulid.ts";
import type { PlatformServices } from "../../../area.ts";
import type { Resolution } from "../../preferences/index.ts";
import type { Subscribers } from "../../subscribers/index.ts";
import { attemptsMax, type DeliveryFailure } from "../domain/delivery.ts";
import { retryWaitMs } from "../domain/retry.ts";
import type { WakeInbox } from "../inbox/inbox-feed.ts";
import type { FailedMessage, Route } from "../message/message-preparation.ts";
import type { DeliveryReport, DeliveryReporter } from "./delivery-report.ts";
import {
  dispatchStore,
  type HandOver,
  type LeasedDelivery,
  type Settlement,
  type SettlementRow,
} from "./dispatch-store.ts";
import { failureFields, routeFields, storedFields } from "./initial-delivery.ts";
import type { AttemptResult } from "./send-attempt.ts";

/** The fields of a delivery that its settlement needs, including the route of its previous attempt. */
export type SettleableDelivery = Pick<
  LeasedDelivery,
  | keyof Route
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

/** A delivery's settlement, and the address that it suppresses. */
export interface DeliverySettlement extends Settlement {
  readonly delivery: SettleableDelivery;
  /** "" for none. */
  readonly unreachableIdentity: string;
}

/** The settlements of one call or attempt, which are committed together. */
interface Bundle {
  readonly settlements: readonly DeliverySettlement[];
  /** The final response to store under the call's idempotency key. */
  readonly record: IdempotencyRecord | undefined;
}

interface Dependencies extends Pick<PlatformServices, "db" | "clock" | "log"> {
  readonly reporter: DeliveryReporter;
  readonly subscribers: Pick<Subscribers, "suppress">;
  /** Whether failed deliveries are retried, which needs a queue. */
  readonly retries: boolean;
  readonly wakeInbox: WakeInbox;
  /** Returns a number from 0 to 1 that spreads the delays between attempts. */
  readonly random: () => number;
}

/** The waiting deliveries that start a concurrent statement: few large statements cost less than many small ones. */
const concurrentMin = 50;

/** Saves hand-overs and outcomes of deliveries, many per transaction. */
export type DeliveryResultWriter = ReturnType<typeof createDeliveryResultWriter>;

export function createDeliveryResultWriter(dependencies: Dependencies) {
  const { db, clock, log, reporter, subscribers, retries, wakeInbox, random } = dependencies;

  const writer = createBatcher<Bundle, boolean>({
    ...{ lanes: 2, batchMax: 200, concurrentMin },
    weigh: ({ settlements }) => settlements.length,
    async flush(bundles) {
      const settlements = bundles.flatMap((bundle) => bundle.settlements);
      const owned = await db.transaction(async (tx) => {
        const store = dispatchStore(tx);
        const [, owned] = await Promise.all([store.forceCustomPlans(), store.settle(settlements)]);
        const isOwned = ({ delivery }: DeliverySettlement) => owned.has(delivery.id);
        // A delivery that another node has settled in the meantime keeps that node's outcome.
        const records = bundles
          .filter((bundle) => bundle.settlements.every(isOwned))
          .flatMap(({ record }) => record ?? []);
        await reviseResponses(tx, records);
        await suppress(tx, settlements);
        await reporter.record(tx, settlements.filter(isOwned).map(reportOf));
        return owned;
      });
      reporter.count(settlements.filter(({ delivery }) => owned.has(delivery.id)).map(reportOf));
      for (const { delivery, status, row } of settlements) {
        if (!owned.has(delivery.id)) {
          log.warn({ delivery_id: delivery.id, outcome: status }, "a notification was settled after its lease expired");
        } else if (row.stored_in === "inbox") wakeInbox(delivery.tenantId, [delivery.subscriberId]);
      }
      return bundles.map((bundle) => bundle.settlements.every(({ delivery }) => owned.has(delivery.id)));
    },
  });

  /** Suppresses addresses that a provider has reported as permanently unreachable. */
  async function suppress(tx: Sql, settlements: readonly DeliverySettlement[]): Promise<void> {
    const nowMs = clock.now();
    const suppressed = settlements.filter(({ unreachableIdentity }) => unreachableIdentity !== "");
    for (const [tenantId, own] of Map.groupBy(suppressed, ({ delivery }) => delivery.tenantId)) {
      const addresses = own.map(({ delivery, row, unreachableIdentity: identity }) => ({
        ...{ ...delivery, deliveryId: delivery.id, used: { identity }, reason: "unreachable" as const },
        providerKey: row.provider_key ?? delivery.providerKey,
      }));
      await subscribers.suppress(tx, tenantId, addresses, nowMs);
    }
  }

  const handOvers = createBatcher<HandOver, boolean>({
    ...{ lanes: 2, batchMax: 200, concurrentMin },
    async flush(handovers) {
      const owned = await dispatchStore(db.sql).handOver(handovers);
      return handovers.map(({ delivery }) => owned.has(delivery.id));
    },
  });

  function failed(
    delivery: SettleableDelivery,
    result: FailedMessage,
  ): Pick<DeliverySettlement, "status" | "waitMs" | "row" | "newDeadLetterId"> {
    const { failure, retryable, retryAfterMs } = result;
    // A message with an unknown outcome stays with its provider until the outcome is known.
    const isUnknown = delivery.reconciliationRequired || result.mayHaveArrived;
    // An attempt that reached no provider keeps the route to the provider that may have the message.
    const by = result.integrationId === "" && delivery.reconciliationRequired ? delivery : result;
    const route = {
      ...routeFields(by),
      provider_attempts: result.providerAttempts,
      reconciliation_required: isUnknown,
    };
    if (retryable && retries && delivery.executionAttempt < attemptsMax) {
      const waitMs = retryWaitMs(delivery.executionAttempt, retryAfterMs, random());
      const row = { ...route, ...failureFields(failure), retryable: true };
      return { status: "queued", waitMs, row, newDeadLetterId: undefined };
    }
    const final = retryable && retries ? exhausted(failure) : failure;
    const row: SettlementRow = {
      ...route,
      ...failureFields(final),
      ...(isUnknown && { observation_state: "unknown" }),
    };
    const newDeadLetterId = delivery.deadLetterId === "" ? ulid(clock.now()) : undefined;
    return { status: "failed", waitMs: 0, row, newDeadLetterId };
  }

  return {
    /** Converts an attempt's result to a settlement. */
    settlementOf(delivery: SettleableDelivery, result: AttemptResult, decided?: Resolution): DeliverySettlement {
      const base = { delivery, waitMs: 0, newDeadLetterId: undefined, unreachableIdentity: "" };
      const reason = decided && { reason: decided.reasonCode, layer: decided.winningLayer };
      const route = { ...reason, ...routeFields(result), provider_attempts: result.providerAttempts };
      switch (result.kind) {
        case "sent": {
          const { providerMessageId, observed } = result;
          const row = {
            ...route,
            provider_message_id: providerMessageId,
            observation_state: observed ? "awaiting" : "not_expected",
          };
          return { ...base, status: "sent", row };
        }
        case "stored":
          return { ...base, status: "sent", row: { ...route, ...storedFields(result) } };
        case "failed": {
          const { row, ...rest } = failed(delivery, result);
          return { ...base, ...rest, row: { ...reason, ...row }, unreachableIdentity: result.unreachableIdentity };
        }
      }
    },

    /** The settlement of a delivery that is not sent after all. */
    skippedSettlement(
      delivery: SettleableDelivery,
      decided: Resolution | undefined,
      failure: DeliveryFailure | undefined,
    ): DeliverySettlement {
      const row = {
        ...(decided && { reason: decided.reasonCode, layer: decided.winningLayer }),
        ...(failure && failureFields(failure)),
        ...(delivery.reconciliationRequired && { ...routeFields(delivery), reconciliation_required: true }),
      };
      const base = { delivery, waitMs: 0, newDeadLetterId: undefined, unreachableIdentity: "" };
      return { ...base, status: "skipped", row };
    },

    /** The settlement of a delivery that waits for the end of quiet hours. */
    heldSettlement(delivery: SettleableDelivery, decided: Resolution, waitMs: number): DeliverySettlement {
      const row = {
        ...{ reason: decided.reasonCode, layer: decided.winningLayer, held: true },
        ...(delivery.reconciliationRequired && { ...routeFields(delivery), reconciliation_required: true }),
      };
      return { delivery, status: "queued", waitMs, row, newDeadLetterId: undefined, unreachableIdentity: "" };
    },

    /**
     * Commits settlements. Resolves to true if all leases were still valid; only then is the response of the call stored
     * with them.
     */
    settle: (settlements: readonly DeliverySettlement[], record?: IdempotencyRecord): Promise<boolean> =>
      writer.run({ settlements, record }),

    /** Commits that an integration may have the message. Resolves to true if the lease is still valid. */
    handOver: (delivery: HandOver["delivery"], route: Route): Promise<boolean> => handOvers.run({ delivery, ...route }),

    idle: () => writer.idle(),
  };
}

function reportOf({ delivery, status, row, newDeadLetterId }: DeliverySettlement): DeliveryReport {
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
    detail: `All attempts failed. The last one: ${phase}/${code}: ${detail}`,
  };
}
