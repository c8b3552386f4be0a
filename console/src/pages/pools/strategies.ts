import { words } from "../../ui/format";

const names = [
  "weighted_random",
  "round_robin",
  "least_loaded",
  "priority",
  "sticky_hash",
  "skills_based",
  "longest_idle",
  "lowest_latency",
  "lowest_cost",
  "first_accept",
  "manual",
];

/** The strategies by which a pool chooses among eligible recipients. */
export const strategies = names.map((value) => ({ value, label: words(value) }));

export const strategyMeanings: Readonly<Record<string, string>> = {
  weighted_random: "A random recipient, in proportion to the weights.",
  round_robin: "One after the other, in proportion to the weights.",
  least_loaded: "The one with the most free capacity among a few random ones.",
  priority: "The one with the lowest priority number that has capacity.",
  sticky_hash: "The same recipient for the same key, as long as it is there.",
  skills_based: "The one whose skills exceed the requirements least.",
  longest_idle: "The one that has waited longest for work.",
  lowest_latency: "The one with the lowest recent latency.",
  lowest_cost: "The cheapest one that has capacity.",
  first_accept: "Whoever leases the item first.",
  manual: "Nobody, until a person assigns it.",
};
