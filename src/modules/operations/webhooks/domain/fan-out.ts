import { type EnvironmentMode, modeAllows } from "../../../../platform/access/index.ts";
import type { EventHead } from "../../events/index.ts";
import type { Delivery } from "./delivery.ts";

/** An active endpoint, and the point in the log from which it gets events. */
export interface Subscriber {
  readonly id: string;
  readonly eventTypes: readonly string[];
  readonly environmentMode: EnvironmentMode;
  /** The snapshot when it became active, in PostgreSQL's format: `xmin:xmax:running,…`. */
  readonly sinceSnapshot: string;
  /** The transaction that made it active. */
  readonly sinceStamp: string;
}

export type NewDelivery = Pick<Delivery, "endpointId" | "eventId" | "eventType">;

/** The type of test events, which are sent only to the endpoint in their subject. */
export const testType = "webhook.endpoint.test";

export function fanOut(events: readonly EventHead[], subscribers: readonly Subscriber[]): NewDelivery[] {
  return subscribers.flatMap((subscriber) => {
    const isOld = createVisibilityCheck(subscriber.sinceSnapshot);
    return events
      .filter(({ stamp }) => stamp !== subscriber.sinceStamp && !isOld(stamp))
      .filter((event) => isSubscribed(subscriber, event))
      .map((event) => ({ endpointId: subscriber.id, eventId: event.id, eventType: event.type }));
  });
}

/** Whether an endpoint is subscribed to an event and may see it, regardless of its time. */
export function isSubscribed(
  { id, eventTypes, environmentMode }: Pick<Subscriber, "id" | "eventTypes" | "environmentMode">,
  event: Omit<EventHead, "stamp">,
): boolean {
  if (event.type === testType) return event.subject === id;
  if (!modeAllows(environmentMode, event.inProduction)) return false;
  return eventTypes.length === 0 || eventTypes.some((pattern) => matches(pattern, event.type));
}

function matches(pattern: string, type: string): boolean {
  if (pattern === "*") return true;
  return pattern.endsWith(".*") ? type.startsWith(pattern.slice(0, -1)) : type === pattern;
}

/** Creates a check of whether a transaction was committed before a snapshot. Failed transactions have no events. */
function createVisibilityCheck(snapshot: string): (stamp: string) => boolean {
  const [min = "0", max = "0", running = ""] = snapshot.split(":");
  const xmin = BigInt(min);
  const xmax = BigInt(max);
  const wereRunning = new Set(running.split(","));
  return (stamp) => {
    const value = BigInt(stamp);
    return value < xmin || (value < xmax && !wereRunning.has(stamp));
  };
}
