import type { Recipient } from "../../pools/index.ts";
import type { CompiledPool } from "./compilation/compiled-pool.ts";
import type { Condition } from "./compilation/condition.ts";
import type { RankingMetric } from "./facts/facts.ts";

/** Values that decided something, by what people call them. */
export type DecisiveValues = Readonly<Record<string, unknown>>;

const valuesMax = 16;
const charsMax = 200;

/** The values that a condition reads, by their paths. */
export function valuesRead({ expression }: Condition, roots: Readonly<Record<string, unknown>>): DecisiveValues {
  const paths = expression?.paths.slice(0, valuesMax) ?? [];
  return Object.fromEntries(paths.map((path) => [path, shorten(readPath(roots, path))]));
}

function readPath(roots: Readonly<Record<string, unknown>>, path: string): unknown {
  return path
    .split(".")
    .reduce<unknown>((value, name) => (value as Record<string, unknown> | null | undefined)?.[name], roots);
}

function shorten(value: unknown): unknown {
  if (value === undefined) return null;
  if (value instanceof Date) return value.toISOString();
  const text = JSON.stringify(value);
  return text.length <= charsMax ? value : `${text.slice(0, charsMax)}…`;
}

/** What a strategy knew about a recipient when it chose. */
export interface SeenMetric {
  readonly metric: RankingMetric;
  readonly value: number;
}

/** What the strategy of the pool compares of a recipient: its settings, and the live value that the decision read. */
export function comparedValues(
  { snapshot: { pool }, weights, capacities, costs }: CompiledPool,
  { priority }: Recipient,
  index: number,
  seen: SeenMetric | undefined,
): DecisiveValues {
  const capacity = capacities[index]!;
  return {
    weight: weights[index]!,
    ...(pool.strategy === "priority" && { priority }),
    ...(capacity > 0 && { capacity }),
    ...(pool.strategy === "lowest_cost" && { cost: costs[index]! }),
    ...(seen && liveValues(seen, capacity || weights[index]!)),
  };
}

function liveValues({ metric, value }: SeenMetric, room: number): DecisiveValues {
  switch (metric) {
    case "inFlight":
      return { in_flight: value, load: value / room };
    case "latencyMs":
      return Number.isNaN(value) ? {} : { latency_ms: value };
    case "cost":
      return { cost: value };
    case "lastAssignedAtMs":
      return { last_work_at: value > 0 ? new Date(value).toISOString() : null };
    case "turn":
      return { turn: value };
    default:
      return {};
  }
}
