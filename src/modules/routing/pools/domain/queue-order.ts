import type { PoolConfig } from "./pool-config.ts";

/**
 * The value of one point of priority in a strict order: 139 years of waiting. No item waits that long, and the ranks of all
 * priorities are still exact as JavaScript numbers.
 */
export const strictPriorityS = 4_400_000_000;

/** Returns the seconds of waiting that one point of priority is worth. */
export function priorityWorthS({ order, ageingS }: Pick<PoolConfig["queue"], "order" | "ageingS">): number {
  if (order === "strict_priority") return strictPriorityS;
  return order === "arrival" ? 0 : ageingS;
}
