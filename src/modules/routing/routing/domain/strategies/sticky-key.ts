import type { CompiledPool } from "../compilation/compiled-pool.ts";
import type { Evaluation } from "../evaluation.ts";
import type { RoutableItem } from "../item.ts";
import type { Trace } from "../trace.ts";

/**
 * Returns the value that ties an item to a recipient: the hash key of the pool, or the key of the item. An item
 * with neither gets a random value; otherwise all such items would go to one recipient.
 */
export function stickyKey(pool: CompiledPool, evaluation: Evaluation, item: RoutableItem, seed: number, trace: Trace) {
  const own = fromHashKey(pool, evaluation);
  if (own === undefined) trace.add("strategy", "hash_key_failed", { detail: "the item's key is hashed instead" });
  return own || item.key || `seed ${seed}`;
}

/** Returns undefined if the expression fails and an empty string if there is none. */
function fromHashKey({ hashKey }: CompiledPool, evaluation: Evaluation): string | undefined {
  if (hashKey === undefined) return "";
  if (hashKey === "invalid") return undefined;
  const value = evaluation.valueOf(hashKey);
  if (value === undefined) return undefined;
  return typeof value === "string" ? value : value === null ? "" : (JSON.stringify(value) ?? "");
}
