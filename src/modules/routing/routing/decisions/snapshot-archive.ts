import type { Clock } from "../../../../platform/clock/clock.ts";
import type { Sql } from "../../../../platform/db/index.ts";
import type { PoolSnapshot, Pools, RecipientChunk } from "../../pools/index.ts";
import { snapshotStore } from "./snapshot-store.ts";

/** Stores what decisions are made from, so that they can be replayed. */
export interface SnapshotKeeping {
  /** Undefined when the snapshot is stored already. */
  keep(snapshot: PoolSnapshot): Promise<void> | undefined;
}

const knownMax = 10_000;
/** After so long a snapshot and its parts are marked again as in use. */
const againMs = 12 * 3_600_000;
/** So many parts are written with one statement: some 400 kB of JSON. */
const partsAtOnce = 8;

/** Creates the storage of snapshots. Most calls only look up the snapshot in memory. */
export function createSnapshotKeeping(sql: Sql, clock: Clock, codec: Pools["snapshotCodec"]): SnapshotKeeping {
  const store = snapshotStore(sql);
  const keptAtMs = new Map<string, number>();
  // A key that is put together anew for each call costs more than all the rest of it.
  const freshUntilMs = new WeakMap<PoolSnapshot, number>();
  const partFreshUntilMs = new WeakMap<RecipientChunk, number>();
  const writing = new Map<string, Promise<void>>();

  /** Writes the parts that are not stored yet: of a pool that changed, the few in which something did. */
  async function writeParts(snapshot: PoolSnapshot, nowMs: number): Promise<void> {
    const missing = codec.chunks(snapshot).filter((part) => nowMs >= (partFreshUntilMs.get(part) ?? 0));
    for (let from = 0; from < missing.length; from += partsAtOnce) {
      const parts = missing.slice(from, from + partsAtOnce);
      const rows = parts.map((part) => ({ digest: part.digest, recipients: JSON.stringify(codec.encodeChunk(part)) }));
      await store.keepParts(snapshot.pool.tenantId, rows, new Date(nowMs));
      for (const part of parts) partFreshUntilMs.set(part, nowMs + againMs);
    }
  }

  async function write(key: string, snapshot: PoolSnapshot): Promise<void> {
    const nowMs = clock.now();
    await writeParts(snapshot, nowMs);
    await store.keep(snapshot.pool.tenantId, snapshot.digest, codec.encodeHead(snapshot), new Date(nowMs));
    if (keptAtMs.size >= knownMax) keptAtMs.clear();
    keptAtMs.set(key, nowMs);
  }

  return {
    keep(snapshot) {
      const nowMs = clock.now();
      if (nowMs < (freshUntilMs.get(snapshot) ?? 0)) return undefined;
      const key = snapshot.pool.tenantId + snapshot.digest;
      const at = keptAtMs.get(key);
      if (at !== undefined && nowMs - at < againMs) {
        freshUntilMs.set(snapshot, at + againMs);
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
