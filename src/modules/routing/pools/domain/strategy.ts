/** The method by which a pool chooses among eligible recipients. */
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
