import { BoundedCache } from "../../../../platform/cache/bounded-cache.ts";
import type { PoolSnapshot } from "../../pools/index.ts";
import { type CompiledPool, compilePool } from "../domain/compilation/compiled-pool.ts";

/** Compiled pools without live state. */
export type CompiledPools = ReturnType<typeof createCompiledPools>;

export function createCompiledPools(entriesMax: number) {
  const entries = new BoundedCache<string, CompiledPool>(entriesMax);
  // The sides of a canary have the same pool.
  const keyOf = ({ pool, candidateId = "" }: PoolSnapshot) => `${pool.id}:${candidateId}`;

  function compiled(snapshot: PoolSnapshot): CompiledPool {
    const known = entries.get(keyOf(snapshot));
    return known?.snapshot.digest === snapshot.digest ? known : compilePool(snapshot, known);
  }

  return {
    /** The compiled form of a snapshot, which is kept for the next call. */
    compile(snapshot: PoolSnapshot): CompiledPool {
      const pool = compiled(snapshot);
      entries.set(keyOf(snapshot), pool);
      return pool;
    },
    /** The compiled form of a snapshot, which is not kept any longer. */
    take(snapshot: PoolSnapshot): CompiledPool {
      const pool = compiled(snapshot);
      entries.delete(keyOf(snapshot));
      return pool;
    },
  };
}
