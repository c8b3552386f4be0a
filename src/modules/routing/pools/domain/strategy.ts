/** How a pool chooses among the recipients that may take an item. */
export type Strategy =
  | "weighted_random"
  | "round_robin"
  | "least_loaded"
  | "priority"
  | "sticky_hash"
  | "skills_based"
  | "longest_idle"
  | "lowest_latency"
  | "lowest_cost"
  | "first_accept"
  | "manual";
