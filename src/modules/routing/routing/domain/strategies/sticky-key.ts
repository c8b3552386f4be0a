import type { CompiledPool } from "../compilation/compiled-pool.ts";
import type { Evaluation } from "../evaluation.ts";
import type { RoutableItem } from "../item.ts";
import type { Trace } from "../trace.ts";

/**
 * What keeps an item with one recipient: what the pool's hash key gives, or else the item's key. An item that has neither
 * goes anywhere: were all of them to stick to one recipient, it would drown.
 */
export function stickyKey(
  pool: CompiledPool,
  evaluation: Evaluation,
  item: RoutableItem,
  seed: number,
  trace: Trace,
): string {
  const own = fromHashKey(pool, evaluation);
  if (own === undefined) trace.add("strategy", "hash_key_failed", { detail: "the item's key is hashed instead" });
  return own || item.key || `seed ${seed}`;
}

/** Undefined where it fails; empty where there is none. */
function fromHashKey({ hashKey }: CompiledPool, evaluation: Evaluation): string | undefined {
  if (hashKey === undefined) return "";
  if (hashKey === "invalid") return undefined;
  const value = evaluation.valueOf(hashKey);
  if (value === undefined) return undefined;
  return typeof value === "string" ? value : value === null ? "" : (JSON.stringify(value) ?? "");
}
