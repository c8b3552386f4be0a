import { createLeasedWorkLoop, createRepeatedTask } from "../../../../platform/jobs/index.ts";
import type { PlatformServices } from "../../../area.ts";
import type { Event, EventReader } from "../../events/index.ts";
import type { AttemptResult } from "../domain/delivery.ts";
import { type Destination, type EndpointRef, endpointStore } from "../endpoints/endpoint-store.ts";
import { type AttemptParts, attempt } from "./delivery-attempt.ts";
import type { DeliveryResultWriter } from "./delivery-result-writer.ts";
import { deliveryStore, type LeasedDelivery, nextPending } from "./delivery-store.ts";
import { createSendSlots, keyOf } from "./send-slots.ts";

/** Sends due deliveries. */
export type Sender = ReturnType<typeof createSender>;

/** Signal topic for deliveries that callers made due. */
export const dueTopic = "webhooks_due";

const endpointBatchSize = 1000;
/** Well above the time limit of an attempt. */
const leaseMsDefault = 60_000;
const graceMs = 3000;

interface Dependencies extends Pick<PlatformServices, "db" | "signals" | "clock" | "log">, AttemptParts {
  readonly reader: EventReader;
  readonly resultWriter: DeliveryResultWriter;
  readonly pollMs?: number | undefined;
  /** Duration of a delivery's lease. */
  readonly leaseMs?: number | undefined;
}

/** A leased delivery with what its attempt needs. */
interface Send {
  readonly tenantId: string;
  readonly delivery: LeasedDelivery;
  readonly destination: Destination | undefined;
  readonly event: Event | undefined;
}

/** Creates this node's sender. Leases prevent two nodes from sending the same delivery. */
export function createSender(dependencies: Dependencies) {
  const { db, signals, reader, resultWriter, clock, log, pollMs = 1000, leaseMs = leaseMsDefault } = dependencies;
  const store = deliveryStore(db.sql);
  const slots = createSendSlots();
  /** Endpoints that may have due deliveries, longest unserved first. */
  const ready = new Map<string, EndpointRef>();
  let scannedTo: EndpointRef | undefined;

  const scan = createRepeatedTask({
    async work() {
      const found = await store.dueEndpoints(scannedTo, endpointBatchSize);
      scannedTo = found.length < endpointBatchSize ? undefined : found.at(-1);
      for (const endpoint of found) ready.set(keyOf(endpoint), endpoint);
      sends.run();
    },
    onError: (error) => log.warn({ err: error }, "could not find due webhook deliveries"),
    subscribe: ({ run, runEvery }) => [
      signals.onWake(dueTopic, run),
      signals.onDue(nextPending, () => runEvery(pollMs)),
    ],
  });

  const sends = createLeasedWorkLoop<Send>({
    // The slots bound the sends of endpoints, of tenants and in all.
    ...{ pollMs, graceMs, concurrency: Number.POSITIVE_INFINITY },
    lease: async ({ token }) => ({ items: await leaseReady(token), scannedTo: "" }),
    onLeaseError: (error) => log.warn({ err: error }, "could not lease webhook deliveries"),
    handle: () => (each, signal) =>
      send(each, signal).finally(() => {
        slots.release(each.delivery, 1);
        // The next delivery of an ordered endpoint was waiting for this one.
        if (each.destination?.ordered) ready.set(keyOf(each.delivery), each.delivery);
      }),
    // A delivery without a stored result is sent again when its lease expires.
    onItemError: (error, { delivery: { endpointId } }) =>
      log.warn({ err: error, endpoint_id: endpointId }, "could not store the result of a webhook delivery"),
  });

  /** Leases deliveries of the endpoints that have waited longest, as many as they have slots. */
  async function leaseReady(token: string): Promise<readonly Send[]> {
    const reserved = [...ready.values()]
      .map((endpoint) => ({ ...endpoint, count: slots.reserve(endpoint) }))
      .filter(({ count }) => count > 0);
    for (const endpoint of reserved) ready.delete(keyOf(endpoint));
    if (reserved.length === 0) return [];
    let leased: readonly Send[] = [];
    try {
      leased = await withDetails(await store.lease(reserved, token, leaseMs));
      return leased;
    } finally {
      // The deliveries of a failed lease become due again when their leases expire.
      const counts = Map.groupBy(leased, ({ delivery }) => keyOf(delivery));
      for (const endpoint of reserved) {
        const got = counts.get(keyOf(endpoint))?.length ?? 0;
        slots.release(endpoint, endpoint.count - got);
        // A full batch: there are probably more.
        if (got === endpoint.count) ready.set(keyOf(endpoint), endpoint);
      }
    }
  }

  /** Reads the destinations and events of deliveries. */
  async function withDetails(leased: readonly LeasedDelivery[]): Promise<readonly Send[]> {
    if (leased.length === 0) return [];
    const endpoints = [...new Map(leased.map((each) => [keyOf(each), each])).values()];
    const eventIds = leased.map(({ tenantId, eventId }) => ({ tenantId, id: eventId }));
    const [found, read] = await Promise.all([
      endpointStore(db.sql).destinations(endpoints),
      reader.findMany(db.sql, eventIds),
    ]);
    const destinations = new Map(found.map((each) => [keyOf(each), each]));
    const events = new Map(read.map((each) => [each.tenantId + each.id, each]));
    return leased.map((delivery) => ({
      tenantId: delivery.tenantId,
      delivery,
      destination: destinations.get(keyOf(delivery)),
      event: events.get(delivery.tenantId + delivery.eventId),
    }));
  }

  async function send({ delivery, destination, event }: Send, signal: AbortSignal): Promise<void> {
    if (!destination?.open) return resultWriter.cancel(delivery);
    const at = new Date(clock.now());
    const startedAtMs = performance.now();
    let result: AttemptResult = { responseStatus: undefined, failure: "event_forgotten" };
    if (event !== undefined) {
      try {
        result = await attempt(dependencies, destination, event, at.getTime(), signal);
      } catch (error) {
        if (signal.aborted) return resultWriter.release(delivery);
        throw error;
      }
    }
    const tookMs = performance.now() - startedAtMs;
    slots.recordResult(delivery, tookMs, result.failure === undefined);
    await resultWriter.settle(delivery, { at, tookMs, result, retryDelaysS: destination.retryDelaysS });
  }

  return {
    /** Hints that an endpoint has due deliveries. The sender also scans for them. */
    onDue(endpoint: EndpointRef) {
      ready.set(keyOf(endpoint), endpoint);
      sends.run();
    },
    start() {
      sends.start();
      scan.start();
    },
    /** Leases no more deliveries, waits a grace period for running attempts and releases the rest. */
    async stop() {
      await scan.stop();
      await sends.stop();
    },
  };
}
