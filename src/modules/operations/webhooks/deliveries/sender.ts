import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import type { Clock } from "../../../../platform/clock/clock.ts";
import type { Database, Signals } from "../../../../platform/db/index.ts";
import { createSerialTask } from "../../../../platform/jobs/index.ts";
import type { Log } from "../../../../platform/log/log.ts";
import type { Event, EventReader } from "../../events/index.ts";
import type { AttemptResult } from "../domain/delivery.ts";
import { type Destination, type EndpointRef, endpointStore } from "../endpoints/endpoint-store.ts";
import { type AttemptParts, attempt } from "./delivery-attempt.ts";
import type { DeliveryResultWriter } from "./delivery-result-writer.ts";
import { deliveryStore, type LeasedDelivery } from "./delivery-store.ts";
import { createSendSlots, keyOf } from "./send-slots.ts";

/** Sends due deliveries. */
export interface Sender {
  /** Hints that an endpoint has due deliveries. The sender also scans for them. */
  onDue(endpoint: EndpointRef): void;
  start(): void;
  /** Leases no more deliveries, waits a grace period for running attempts and releases the rest. */
  stop(): Promise<void>;
}

/** Signal topic for deliveries that callers made due. */
export const dueTopic = "webhooks_due";

const endpointBatchSize = 1000;
/** Well above the time limit of an attempt. */
const leaseMsDefault = 60_000;
const graceMs = 3000;

interface Dependencies extends AttemptParts {
  readonly db: Database;
  readonly signals: Signals;
  readonly reader: EventReader;
  readonly resultWriter: DeliveryResultWriter;
  readonly clock: Clock;
  readonly log: Log;
  readonly pollMs?: number;
  /** Duration of a delivery's lease. */
  readonly leaseMs?: number;
}

/** Creates this node's sender. Leases prevent two nodes from sending the same delivery. */
export function createSender(dependencies: Dependencies): Sender {
  const { db, signals, reader, resultWriter, clock, log, pollMs = 1000, leaseMs = leaseMsDefault } = dependencies;
  const store = deliveryStore(db.sql);
  const slots = createSendSlots();
  /** Endpoints that may have due deliveries, longest unserved first. */
  const ready = new Map<string, EndpointRef>();
  const sends = new Set<Promise<void>>();
  const stopping = new AbortController();
  let scannedTo: EndpointRef | undefined;
  let stopWaking: (() => void) | undefined;
  let timer: NodeJS.Timeout | undefined;

  const logWarning = (message: string) => (error: unknown) => log.warn({ err: error }, message);

  const scan = createSerialTask(async () => {
    const found = await store.dueEndpoints(scannedTo, endpointBatchSize);
    scannedTo = found.length < endpointBatchSize ? undefined : found.at(-1);
    for (const endpoint of found) ready.set(keyOf(endpoint), endpoint);
    leaseReady.run();
  }, logWarning("could not find due webhook deliveries"));

  const leaseReady = createSerialTask(async () => {
    // Wait for all, so that each releases its unused slots even if another fails.
    const taken = await Promise.allSettled(
      [...reserveSlots()].map(([each, endpoints]) => leaseAndSend(endpoints, each)),
    );
    for (const result of taken) if (result.status === "rejected") throw result.reason;
  }, logWarning("could not lease webhook deliveries"));

  /** Leases up to `each` deliveries per endpoint, whose slots are already reserved, and sends them. */
  async function leaseAndSend(endpoints: readonly EndpointRef[], each: number): Promise<void> {
    let leased: LeasedDelivery[] = [];
    try {
      leased = await store.lease(endpoints, { each, token: randomUUID(), leaseMs });
    } finally {
      const counts = Map.groupBy(leased, keyOf);
      for (const endpoint of endpoints) {
        const got = counts.get(keyOf(endpoint))?.length ?? 0;
        slots.release(endpoint, each - got);
        // A full batch: there are probably more.
        if (got === each) ready.set(keyOf(endpoint), endpoint);
      }
    }
    if (leased.length > 0) await dispatch(leased);
  }

  /** Reserves slots for the endpoints that have waited longest; returns the endpoints by their number of slots. */
  function reserveSlots(): Map<number, EndpointRef[]> {
    const chosen = new Map<number, EndpointRef[]>();
    for (const [key, endpoint] of ready) {
      const count = slots.reserve(endpoint);
      if (count === 0) continue;
      ready.delete(key);
      const same = chosen.get(count);
      if (same === undefined) chosen.set(count, [endpoint]);
      else same.push(endpoint);
    }
    return chosen;
  }

  /** Reads destinations and events and starts the sends, without waiting for their responses. */
  async function dispatch(leased: readonly LeasedDelivery[]): Promise<void> {
    try {
      const endpoints = [...new Map(leased.map((each) => [keyOf(each), each])).values()];
      const eventIds = leased.map(({ tenantId, eventId }) => ({ tenantId, id: eventId }));
      const [found, read] = await Promise.all([
        endpointStore(db.sql).destinations(endpoints),
        reader.findMany(db.sql, eventIds),
      ]);
      const destinations = new Map(found.map((each) => [keyOf(each), each]));
      const events = new Map(read.map((each) => [each.tenantId + each.id, each]));
      for (const delivery of leased) {
        const event = events.get(delivery.tenantId + delivery.eventId);
        const destination = destinations.get(keyOf(delivery));
        const sending = send(delivery, destination, event).finally(() => {
          sends.delete(sending);
          slots.release(delivery, 1);
          // The next delivery of an ordered endpoint was waiting for this one.
          if (destination?.ordered) ready.set(keyOf(delivery), delivery);
          leaseReady.run();
        });
        sends.add(sending);
      }
    } catch (error) {
      // The deliveries become due again when their leases expire.
      for (const delivery of leased) slots.release(delivery, 1);
      throw error;
    }
  }

  async function send(
    delivery: LeasedDelivery,
    destination: Destination | undefined,
    event: Event | undefined,
  ): Promise<void> {
    try {
      if (!destination?.open) return await resultWriter.cancel(delivery);
      const at = new Date(clock.now());
      const startedAtMs = performance.now();
      let result: AttemptResult = { responseStatus: undefined, failure: "event_forgotten" };
      if (event !== undefined) {
        try {
          result = await attempt(dependencies, destination, event, at.getTime(), stopping.signal);
        } catch (error) {
          if (stopping.signal.aborted) return await resultWriter.release(delivery);
          throw error;
        }
      }
      const tookMs = performance.now() - startedAtMs;
      slots.recordResult(delivery, tookMs, result.failure === undefined);
      await resultWriter.settle(delivery, { at, tookMs, result, retryDelaysS: destination.retryDelaysS });
    } catch (error) {
      // A delivery without a stored result is sent again when its lease expires.
      log.warn({ err: error, endpoint_id: delivery.endpointId }, "could not store the result of a webhook delivery");
    }
  }

  return {
    onDue(endpoint) {
      ready.set(keyOf(endpoint), endpoint);
      leaseReady.run();
    },
    start() {
      stopWaking = signals.onWake(dueTopic, scan.run);
      timer = setInterval(scan.run, pollMs);
      leaseReady.start();
      scan.start();
    },
    async stop() {
      clearInterval(timer);
      stopWaking?.();
      await Promise.all([scan.stop(), leaseReady.stop()]);
      const timeUp = new AbortController();
      const finished = Promise.all(sends).finally(() => timeUp.abort());
      await delay(graceMs, undefined, { signal: timeUp.signal }).catch(() => {});
      stopping.abort();
      await finished;
    },
  };
}
