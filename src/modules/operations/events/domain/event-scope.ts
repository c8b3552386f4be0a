import type { NewEvent } from "./event.ts";

/** The source of an event's environment: the environment itself, or one of its pools. */
export interface EventScope {
  readonly environmentId?: string;
  readonly poolId?: string;
}

/** First segments of the types of events about a pool or its contents. */
export const poolFamilies: ReadonlySet<string> = new Set([
  "pool",
  "recipient",
  "rule",
  "route",
  "queue",
  "admission",
  "dead_letter",
  "anomaly",
  "schedule",
]);

/** First segments of the types of events whose data may name an environment. */
const namingFamilies: ReadonlySet<string> = new Set(["workflow", "connector", "experiment", "promotion", "evidence"]);

/** An event's scope; undefined if its subject belongs to no environment. */
export function scopeOf({ type, subject, data }: Pick<NewEvent, "type" | "subject" | "data">): EventScope | undefined {
  const family = type.slice(0, type.indexOf("."));
  if (family === "environment") return { environmentId: subject };
  // Other events of these families name their environment when they are stored, or have none.
  if (namingFamilies.has(family))
    return typeof data.environment_id === "string" ? { environmentId: data.environment_id } : undefined;
  if (!poolFamilies.has(family)) return undefined;
  // Without a pool_id, the subject is the pool itself.
  return { poolId: typeof data.pool_id === "string" ? data.pool_id : subject };
}
