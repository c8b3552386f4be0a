import { unreachable } from "../../../../../errors/index.ts";
import type { Strategy } from "../../../pools/index.ts";
import type { NoMatchReason } from "../decision.ts";
import { AT_CAPACITY } from "../facts/observation.ts";
import type { Attempt, Choice } from "./attempt.ts";
import { longestIdle, lowestCost, lowestLatency, skillsBased } from "./by-metric.ts";
import { byPriority, weightedRandom } from "./by-weight.ts";
import { leastLoaded } from "./least-loaded.ts";
import { roundRobin } from "./round-robin.ts";
import { stickyHash } from "./sticky-hash.ts";

/** The chosen recipient, or the reason why there is none. */
export type ChoiceResult =
  | { readonly index: number; readonly how: string; readonly isNamed?: boolean }
  | { readonly reason: NoMatchReason; readonly how: string };

/** Chooses a recipient by strategy. A recipient named by the item or a rule takes precedence over the strategy. */
export function choose(strategy: Strategy, attempt: Attempt): ChoiceResult {
  if (attempt.filter.only !== -1) return chooseNamed(attempt);
  if (strategy === "first_accept") return { reason: "awaiting_acceptance", how: "whoever asks first" };
  if (strategy === "manual") return { reason: "awaiting_assignment", how: "whoever is named" };
  if (attempt.pool.eligible.length === 0) return { reason: "no_recipients", how: "nobody is active" };
  const choice = byStrategy(strategy, attempt);
  return choice.index >= 0 ? choice : explainNoChoice(choice);
}

function byStrategy(strategy: Exclude<Strategy, "first_accept" | "manual">, attempt: Attempt): Choice {
  switch (strategy) {
    case "weighted_random":
      return weightedRandom(attempt);
    case "round_robin":
      return roundRobin(attempt);
    case "least_loaded":
      return leastLoaded(attempt);
    case "priority":
      return byPriority(attempt);
    case "sticky_hash":
      return stickyHash(attempt);
    case "skills_based":
      return skillsBased(attempt);
    case "longest_idle":
      return longestIdle(attempt);
    case "lowest_latency":
      return lowestLatency(attempt);
    case "lowest_cost":
      return lowestCost(attempt);
    default:
      return unreachable(strategy);
  }
}

function chooseNamed({ filter, facts }: Attempt): ChoiceResult {
  const { only } = filter;
  if (only < 0 || !filter.admits(only) || filter.rank(only) < 0) {
    return { reason: "recipient_not_eligible", how: "not let in" };
  }
  return facts.availability(only) < AT_CAPACITY
    ? { index: only, how: "named", isNamed: true }
    : { reason: "recipient_unavailable", how: "at capacity or ejected" };
}

function explainNoChoice({ ranking }: Choice): ChoiceResult {
  const { atCapacity = 0, ejected = 0, refused = 0 } = ranking ?? {};
  const how = `${atCapacity} at capacity, ${ejected} ejected, ${refused} kept out by rules`;
  if (atCapacity > 0 && ejected > 0) return { reason: "none_available", how };
  if (atCapacity > 0) return { reason: "all_at_capacity", how };
  if (ejected > 0) return { reason: "all_ejected", how };
  return { reason: refused > 0 ? "rules_exclude_all" : "requirements_unmet", how };
}
