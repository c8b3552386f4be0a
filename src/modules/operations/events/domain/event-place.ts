import type { NewEvent } from "./event.ts";

/** What an event's environment is found by: the environment itself, or a pool of it. */
export interface EventPlace {
  readonly environmentId?: string;
  readonly poolId?: string;
}

/** First parts of types whose events are about a pool, or about something in one. */
export const poolFamilies: ReadonlySet<string> = new Set([
  "pool",
  "recipient",
  "rule",
  "route",
  "queue",
  "admission",
  "dead_letter",
  "anomaly",
]);

/** Where an event happened; undefined for one about something that belongs to no environment. */
export function placeOf({ type, subject, data }: Pick<NewEvent, "type" | "subject" | "data">): EventPlace | undefined {
  const family = type.slice(0, type.indexOf("."));
  if (family === "environment") return { environmentId: subject };
  if (!poolFamilies.has(family)) return undefined;
  // What is not about something in a pool is about the pool itself.
  return { poolId: typeof data.pool_id === "string" ? data.pool_id : subject };
}
