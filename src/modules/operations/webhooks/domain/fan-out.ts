import { type EnvironmentMode, modeAllows } from "../../../../platform/access/index.ts";
import type { EventHead } from "../../events/index.ts";

/** An endpoint that gets events, and from when on. */
export interface Subscriber {
  readonly id: string;
  readonly eventTypes: readonly string[];
  readonly environmentMode: EnvironmentMode;
  /** What was committed when it came into use, as PostgreSQL writes a snapshot: `xmin:xmax:running,…`. */
  readonly sinceSnapshot: string;
  /** The transaction in which it came into use. */
  readonly sinceXid: string;
}

/** An event for an endpoint. */
export interface NewDelivery {
  readonly endpointId: string;
  readonly eventId: string;
  readonly eventType: string;
}

/** The type of tests: each goes to the endpoint it is about, and to no other. */
export const testType = "webhook.endpoint.test";

/** Who gets which of these events. */
export function deliveriesOf(events: readonly EventHead[], subscribers: readonly Subscriber[]): NewDelivery[] {
  return subscribers.flatMap((subscriber) => {
    const isKnown = visibilityIn(subscriber.sinceSnapshot);
    return events
      .filter(({ xid }) => xid !== subscriber.sinceXid && !isKnown(xid))
      .filter((event) => isFor(subscriber, event))
      .map((event) => ({ endpointId: subscriber.id, eventId: event.id, eventType: event.type }));
  });
}

/** Whether an endpoint may have an event and wants it, whenever it happened. */
export function isFor(
  { id, eventTypes, environmentMode }: Pick<Subscriber, "id" | "eventTypes" | "environmentMode">,
  event: EventHead,
): boolean {
  if (event.type === testType) return event.subject === id;
  if (!modeAllows(environmentMode, event.inProduction)) return false;
  return eventTypes.length === 0 || eventTypes.some((pattern) => matches(pattern, event.type));
}

function matches(pattern: string, type: string): boolean {
  return pattern.endsWith(".*") ? type.startsWith(pattern.slice(0, -1)) : type === pattern;
}

/** Whether what a transaction wrote was committed when a snapshot was taken; transactions that failed wrote nothing. */
function visibilityIn(snapshot: string): (xid: string) => boolean {
  const [min = "0", max = "0", running = ""] = snapshot.split(":");
  const xmin = BigInt(min);
  const xmax = BigInt(max);
  const wereRunning = new Set(running.split(","));
  return (xid) => {
    const value = BigInt(xid);
    return value < xmin || (value < xmax && !wereRunning.has(xid));
  };
}
