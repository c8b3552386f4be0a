import { createBatcher, type Sql } from "../../../../platform/db/index.ts";
import type { PlatformServices } from "../../../area.ts";
import { type AttemptResult, countsAgainstEndpoint, outcomeOf } from "../domain/delivery.ts";
import { failingMsMax } from "../domain/endpoint.ts";
import type { EndpointRef } from "../endpoints/endpoint-store.ts";
import { deliveryStore, type LeasedDelivery, type Settlement } from "./delivery-store.ts";
import { keyOf } from "./send-slots.ts";

interface FinishedAttempt {
  readonly at: Date;
  readonly tookMs: number;
  readonly result: AttemptResult;
  /** The endpoint's delays between attempts. */
  readonly retryDelaysS: readonly number[];
}

/** Stores the results of deliveries in batches; resolves after the commit. */
export type DeliveryResultWriter = ReturnType<typeof createDeliveryResultWriter>;

interface Dependencies extends Pick<PlatformServices, "log" | "metrics"> {
  readonly sql: Sql;
  /** Returns a number from 0 to 1. */
  readonly random: () => number;
  readonly disable: (endpoint: EndpointRef, reason: "gone" | "failing") => Promise<boolean>;
}

interface ObservedSettlement extends Settlement {
  /** The endpoint's health according to the attempt. */
  readonly health: "good" | "bad" | "gone" | undefined;
}

export function createDeliveryResultWriter({ sql, log, metrics, random, disable }: Dependencies) {
  const store = deliveryStore(sql);
  const attempts = metrics.tenantCounter({
    name: "webhook_attempts_total",
    help: "Attempts to send webhook messages, by outcome.",
    labels: ["outcome"],
  });

  const writer = createBatcher<ObservedSettlement, void>({
    async flush(settled) {
      const failing = await recordHealth(settled).catch((error) => {
        log.warn({ err: error }, "could not store the health of webhook endpoints");
        return [];
      });
      await store.settle(settled);
      for (const endpoint of endpointsOf(settled, "gone").values()) await disableEndpoint(endpoint, "gone");
      for (const endpoint of failing) await disableEndpoint(endpoint, "failing");
      return settled.map(() => undefined);
    },
  });

  /** Stores the health of endpoints; returns those that have failed for too long. */
  async function recordHealth(settled: readonly ObservedSettlement[]): Promise<readonly EndpointRef[]> {
    const good = endpointsOf(settled, "good");
    // An endpoint that accepted one of several messages is not failing.
    const bad = [...endpointsOf(settled, "bad")].filter(([key]) => !good.has(key)).map(([, endpoint]) => endpoint);
    if (good.size + bad.length > 0) await store.recordHealth([...good.values()], bad);
    return bad.length === 0 ? [] : store.findLongFailing(bad, failingMsMax);
  }

  async function disableEndpoint(endpoint: EndpointRef, reason: "gone" | "failing"): Promise<void> {
    const disabled = await disable(endpoint, reason).catch((error) => {
      log.warn({ err: error, endpoint_id: endpoint.endpointId }, "could not disable a webhook endpoint");
      return false;
    });
    if (!disabled) return;
    log.warn({ tenant_id: endpoint.tenantId, endpoint_id: endpoint.endpointId, reason }, "disabled a webhook endpoint");
  }

  return {
    async settle(delivery: LeasedDelivery, { at, tookMs, result, retryDelaysS }: FinishedAttempt) {
      attempts.inc(delivery.tenantId, { outcome: result.failure ?? "succeeded" });
      const outcome = outcomeOf(result, delivery.runAttempts + 1, random(), retryDelaysS);
      await writer.run({
        delivery,
        status: outcome.status,
        waitMs: outcome.status === "pending" ? outcome.waitMs : 0,
        attempt: {
          at: at.toISOString(),
          duration_ms: Math.round(tookMs),
          response_status: result.responseStatus ?? 0,
          failure: result.failure ?? "",
        },
        health: healthOf(result, outcome.status === "failed" && outcome.endpointGone),
      });
    },
    /** Cancels a delivery whose endpoint is disabled. */
    cancel: (delivery: LeasedDelivery) =>
      writer.run({ delivery, status: "cancelled", waitMs: 0, attempt: undefined, health: undefined }),
    /** Releases a delivery whose attempt did not finish. It is due again immediately. */
    release: (delivery: LeasedDelivery) =>
      writer.run({ delivery, status: "pending", waitMs: 0, attempt: undefined, health: undefined }),
  };
}

function healthOf(result: AttemptResult, isGone: boolean): ObservedSettlement["health"] {
  if (result.failure === undefined) return "good";
  if (isGone) return "gone";
  return countsAgainstEndpoint(result) ? "bad" : undefined;
}

function endpointsOf(
  settled: readonly ObservedSettlement[],
  health: ObservedSettlement["health"],
): Map<string, EndpointRef> {
  const found = settled.filter((each) => each.health === health);
  return new Map(found.map(({ delivery }) => [keyOf(delivery), delivery]));
}
