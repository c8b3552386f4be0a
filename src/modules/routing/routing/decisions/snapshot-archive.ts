import { BoundedCache } from "../../../../platform/cache/bounded-cache.ts";
import type { Clock } from "../../../../platform/clock/clock.ts";
import type { Sql } from "../../../../platform/db/index.ts";
import type { PoolSnapshot, Pools, RecipientChunk } from "../../pools/index.ts";
import { snapshotStore } from "./snapshot-store.ts";

const knownMax = 10_000;
/** The interval after which a snapshot and its parts are marked as in use again. */
const touchIntervalMs = 12 * 3_600_000;
/** The number of parts per statement: about 400 kB of JSON. */
const partBatchSize = 8;

/** Creates the archive of the snapshots of decisions, so that they can be replayed. Most calls only check the cache in memory. */
export function createSnapshotArchive(sql: Sql, clock: Clock, codec: Pools["snapshotCodec"]) {
  const store = snapshotStore(sql);
  const savedAtMs = new BoundedCache<string, number>(knownMax);
  // Keyed by identity, because building a string key for each call costs more than the rest of it.
  const freshUntilMs = new WeakMap<PoolSnapshot, number>();
  const partFreshUntilMs = new WeakMap<RecipientChunk, number>();
  const writing = new Map<string, Promise<void>>();

  /** Writes the parts that are not stored yet; after a change of the pool these are only the changed parts. */
  async function writeParts(snapshot: PoolSnapshot, nowMs: number): Promise<void> {
    const missing = codec.chunks(snapshot).filter((part) => nowMs >= (partFreshUntilMs.get(part) ?? 0));
    for (let from = 0; from < missing.length; from += partBatchSize) {
      const parts = missing.slice(from, from + partBatchSize);
      const rows = parts.map((part) => ({ digest: part.digest, recipients: JSON.stringify(codec.encodeChunk(part)) }));
      await store.saveParts(snapshot.pool.tenantId, rows, new Date(nowMs));
      for (const part of parts) partFreshUntilMs.set(part, nowMs + touchIntervalMs);
    }
  }

  async function write(key: string, snapshot: PoolSnapshot): Promise<void> {
    const nowMs = clock.now();
    await writeParts(snapshot, nowMs);
    await store.save(snapshot.pool.tenantId, snapshot.digest, codec.encodeHead(snapshot), new Date(nowMs));
    savedAtMs.set(key, nowMs);
  }

  return {
    /** Saves a snapshot. Returns undefined when it is already stored. */
    save(snapshot: PoolSnapshot): Promise<void> | undefined {
      const nowMs = clock.now();
      if (nowMs < (freshUntilMs.get(snapshot) ?? 0)) return undefined;
      const key = snapshot.pool.tenantId + snapshot.digest;
      const at = savedAtMs.get(key);
      if (at !== undefined && nowMs - at < touchIntervalMs) {
        freshUntilMs.set(snapshot, at + touchIntervalMs);
        return undefined;
      }
      const known = writing.get(key);
      if (known !== undefined) return known;
      const written = write(key, snapshot).finally(() => writing.delete(key));
      writing.set(key, written);
      return written;
    },
  };
}
