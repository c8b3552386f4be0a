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
import { deliveryStore, type LeasedDelivery } from "./delivery-store.ts";
import type { Settler } from "./settler.ts";
import { createTraffic, keyOf } from "./traffic.ts";

/** Sends deliveries that are due. */
export interface Sender {
  /** Says that an endpoint has something due: a hint, the sender also looks by itself. */
  onDue(endpoint: EndpointRef): void;
  start(): void;
  /** Takes no more deliveries, waits a moment for those under way and hands back the rest. */
  stop(): Promise<void>;
}

/** The topic of deliveries that came due by somebody else's doing. */
export const dueTopic = "webhooks_due";

const endpointsAtOnce = 1000;
/** Well above the time that an attempt may take. */
const leaseMsDefault = 60_000;
const graceMs = 3000;

interface Parts extends AttemptParts {
  readonly db: Database;
  readonly signals: Signals;
  readonly reader: EventReader;
  readonly settler: Settler;
  readonly clock: Clock;
  readonly log: Log;
  readonly pollMs?: number;
  /** How long a delivery is a node's own. */
  readonly leaseMs?: number;
}

/** Makes this node's sender. Other nodes have theirs; leases keep them apart. */
export function createSender(parts: Parts): Sender {
  const { db, signals, reader, settler, clock, log, pollMs = 1000, leaseMs = leaseMsDefault } = parts;
  const store = deliveryStore(db.sql);
  const traffic = createTraffic();
  /** Endpoints that may have something due, longest unserved first. */
  const ready = new Map<string, EndpointRef>();
  const flights = new Set<Promise<void>>();
  const leaving = new AbortController();
  let scannedTo: EndpointRef | undefined;
  let stopWaking: (() => void) | undefined;
  let timer: NodeJS.Timeout | undefined;

  const complain = (complaint: string) => (error: unknown) => log.warn({ err: error }, complaint);

  const scan = createSerialTask(async () => {
    const found = await store.dueEndpoints(scannedTo, endpointsAtOnce);
    scannedTo = found.length < endpointsAtOnce ? undefined : found.at(-1);
    for (const endpoint of found) ready.set(keyOf(endpoint), endpoint);
    look.run();
  }, complain("due webhook deliveries cannot be found"));

  const look = createSerialTask(async () => {
    // All are waited for, so that each gives back the room that it took, whatever becomes of the others.
    const taken = await Promise.allSettled([...choose()].map(([each, endpoints]) => take(endpoints, each)));
    for (const result of taken) if (result.status === "rejected") throw result.reason;
  }, complain("webhook deliveries cannot be leased"));

  /** Leases up to so many deliveries for each endpoint, whose room is taken already, and sends them. */
  async function take(endpoints: readonly EndpointRef[], each: number): Promise<void> {
    let leased: LeasedDelivery[] = [];
    try {
      leased = await store.lease(endpoints, { each, token: randomUUID(), leaseMs });
    } finally {
      const counts = Map.groupBy(leased, keyOf);
      for (const endpoint of endpoints) {
        const got = counts.get(keyOf(endpoint))?.length ?? 0;
        traffic.release(endpoint, each - got);
        // As much as was asked for: there is probably more.
        if (got === each) ready.set(keyOf(endpoint), endpoint);
      }
    }
    if (leased.length > 0) await dispatch(leased);
  }

  /** Takes room for the endpoints that have waited longest; answers with them by how much each got. */
  function choose(): Map<number, EndpointRef[]> {
    const chosen = new Map<number, EndpointRef[]>();
    for (const [key, endpoint] of ready) {
      const room = traffic.reserve(endpoint);
      if (room === 0) continue;
      ready.delete(key);
      const same = chosen.get(room);
      if (same === undefined) chosen.set(room, [endpoint]);
      else same.push(endpoint);
    }
    return chosen;
  }

  /** Reads what is to be sent, and sends it; nobody waits for the answers here. */
  async function dispatch(leased: readonly LeasedDelivery[]): Promise<void> {
    try {
      const endpoints = [...new Map(leased.map((each) => [keyOf(each), each])).values()];
      const wanted = leased.map(({ tenantId, eventId }) => ({ tenantId, id: eventId }));
      const [found, read] = await Promise.all([
        endpointStore(db.sql).destinations(endpoints),
        reader.findMany(db.sql, wanted),
      ]);
      const destinations = new Map(found.map((each) => [keyOf(each), each]));
      const events = new Map(read.map((each) => [each.tenantId + each.id, each]));
      for (const delivery of leased) {
        const event = events.get(delivery.tenantId + delivery.eventId);
        const flight = fly(delivery, destinations.get(keyOf(delivery)), event).finally(() => {
          flights.delete(flight);
          traffic.release(delivery, 1);
          look.run();
        });
        flights.add(flight);
      }
    } catch (error) {
      // They come due again when their leases end.
      for (const delivery of leased) traffic.release(delivery, 1);
      throw error;
    }
  }

  async function fly(
    delivery: LeasedDelivery,
    destination: Destination | undefined,
    event: Event | undefined,
  ): Promise<void> {
    try {
      if (!destination?.open) return await settler.cancel(delivery);
      const at = new Date(clock.now());
      const startedAtMs = performance.now();
      let result: AttemptResult = { responseStatus: undefined, failure: "event_forgotten" };
      if (event !== undefined) {
        try {
          result = await attempt(parts, destination, event, at.getTime(), leaving.signal);
        } catch (error) {
          if (leaving.signal.aborted) return await settler.handBack(delivery);
          throw error;
        }
      }
      const tookMs = performance.now() - startedAtMs;
      traffic.learn(delivery, tookMs, result.failure === undefined);
      await settler.settle(delivery, { at, tookMs, result });
    } catch (error) {
      // What is not written down is sent once more when its lease ends.
      log.warn({ err: error, endpoint_id: delivery.endpointId }, "a webhook delivery was not settled");
    }
  }

  return {
    onDue(endpoint) {
      ready.set(keyOf(endpoint), endpoint);
      look.run();
    },
    start() {
      stopWaking = signals.onWake(dueTopic, scan.run);
      timer = setInterval(scan.run, pollMs);
      look.start();
      scan.start();
    },
    async stop() {
      clearInterval(timer);
      stopWaking?.();
      await Promise.all([scan.stop(), look.stop()]);
      const timeUp = new AbortController();
      const landed = Promise.all(flights).finally(() => timeUp.abort());
      await delay(graceMs, undefined, { signal: timeUp.signal }).catch(() => {});
      leaving.abort();
      await landed;
    },
  };
}
