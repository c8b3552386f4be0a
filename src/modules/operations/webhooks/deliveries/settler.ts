import { createBatcher, type Sql } from "../../../../platform/db/index.ts";
import type { Log } from "../../../../platform/log/log.ts";
import type { Metrics } from "../../../../platform/telemetry/index.ts";
import { type AttemptResult, concernsEndpoint, verdictOn } from "../domain/delivery.ts";
import { failingMsMax } from "../domain/endpoint.ts";
import type { EndpointRef } from "../endpoints/endpoint-store.ts";
import { deliveryStore, type LeasedDelivery, type Settlement } from "./delivery-store.ts";
import { keyOf } from "./traffic.ts";

/** An attempt that has ended. */
interface EndedAttempt {
  readonly at: Date;
  readonly tookMs: number;
  readonly result: AttemptResult;
}

/** Writes down what became of deliveries, many in one statement; resolves when that is committed. */
export interface Settler {
  settle(delivery: LeasedDelivery, attempt: EndedAttempt): Promise<void>;
  /** Its endpoint gets nothing now. */
  cancel(delivery: LeasedDelivery): Promise<void>;
  /** It was not tried, or not to the end, and is due again at once. */
  handBack(delivery: LeasedDelivery): Promise<void>;
}

interface Parts {
  readonly sql: Sql;
  readonly log: Log;
  readonly metrics: Metrics;
  /** From 0 to 1. */
  readonly random: () => number;
  readonly disable: (endpoint: EndpointRef, reason: "gone" | "failing") => Promise<boolean>;
}

interface Settled extends Settlement {
  /** What the attempt says about its endpoint. */
  readonly health: "good" | "bad" | "gone" | undefined;
}

/** Makes this node's settler. */
export function createSettler({ sql, log, metrics, random, disable }: Parts): Settler {
  const store = deliveryStore(sql);
  const attempts = metrics.counter({
    name: "webhook_attempts_total",
    help: "Attempts to send webhook messages, by what came of them.",
    labels: ["outcome"],
  });

  const writer = createBatcher<Settled, void>({
    async flush(settled) {
      const failing = await noteHealth(settled).catch((error) => {
        log.warn({ err: error }, "the health of webhook endpoints was not kept");
        return [];
      });
      await store.settle(settled);
      for (const endpoint of endpointsOf(settled, "gone").values()) await giveUp(endpoint, "gone");
      for (const endpoint of failing) await giveUp(endpoint, "failing");
      return settled.map(() => undefined);
    },
  });

  /** Keeps who took its messages and who did not; answers with those that have not for too long. */
  async function noteHealth(settled: readonly Settled[]): Promise<readonly EndpointRef[]> {
    const good = endpointsOf(settled, "good");
    // An endpoint that took one of several messages does not "only fail".
    const bad = [...endpointsOf(settled, "bad")].filter(([key]) => !good.has(key)).map(([, endpoint]) => endpoint);
    if (good.size + bad.length > 0) await store.noteHealth([...good.values()], bad);
    return bad.length === 0 ? [] : store.longFailing(bad, failingMsMax);
  }

  async function giveUp(endpoint: EndpointRef, reason: "gone" | "failing"): Promise<void> {
    const disabled = await disable(endpoint, reason).catch((error) => {
      log.warn({ err: error, endpoint_id: endpoint.endpointId }, "a webhook endpoint could not be disabled");
      return false;
    });
    if (!disabled) return;
    log.warn(
      { tenant_id: endpoint.tenantId, endpoint_id: endpoint.endpointId, reason },
      "a webhook endpoint is disabled",
    );
  }

  return {
    async settle(delivery, { at, tookMs, result }) {
      attempts.inc({ outcome: result.failure ?? "succeeded" });
      const verdict = verdictOn(result, delivery.runAttempts + 1, random());
      await writer.run({
        delivery,
        status: verdict.status,
        waitMs: verdict.status === "pending" ? verdict.waitMs : 0,
        attempt: {
          at: at.toISOString(),
          duration_ms: Math.round(tookMs),
          response_status: result.responseStatus ?? 0,
          failure: result.failure ?? "",
        },
        health: healthOf(result, verdict.status === "failed" && verdict.endpointGone),
      });
    },
    cancel: (delivery) =>
      writer.run({ delivery, status: "cancelled", waitMs: 0, attempt: undefined, health: undefined }),
    handBack: (delivery) =>
      writer.run({ delivery, status: "pending", waitMs: 0, attempt: undefined, health: undefined }),
  };
}

function healthOf(result: AttemptResult, isGone: boolean): Settled["health"] {
  if (result.failure === undefined) return "good";
  if (isGone) return "gone";
  return concernsEndpoint(result) ? "bad" : undefined;
}

function endpointsOf(settled: readonly Settled[], health: Settled["health"]): Map<string, EndpointRef> {
  const found = settled.filter((each) => each.health === health);
  return new Map(found.map(({ delivery }) => [keyOf(delivery), delivery]));
}
