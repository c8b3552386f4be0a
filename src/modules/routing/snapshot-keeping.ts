import type { Clock } from "../../platform/clock/clock.ts";
import type { Sql } from "../../platform/db/index.ts";
import type { PoolSnapshot, SnapshotBody } from "../pools/index.ts";
import { decisionStore } from "./store.ts";

/** Keeps what decisions are made from, so that they can be made again. */
export interface SnapshotKeeping {
  /** Undefined when it is kept already. */
  keep(snapshot: PoolSnapshot): Promise<void> | undefined;
}

const knownMax = 10_000;
/** After so long a snapshot is marked again as in use. */
const againMs = 12 * 3_600_000;

/** Makes it. Most calls only look up the snapshot in memory. */
export function createSnapshotKeeping(
  sql: Sql,
  clock: Clock,
  bodyOf: (snapshot: PoolSnapshot) => SnapshotBody,
): SnapshotKeeping {
  const keptAtMs = new Map<string, number>();
  // A key that is put together anew for each call costs more than all the rest of it.
  const freshUntilMs = new WeakMap<PoolSnapshot, number>();
  const writing = new Map<string, Promise<void>>();

  async function write(key: string, snapshot: PoolSnapshot): Promise<void> {
    const nowMs = clock.now();
    const { tenantId } = snapshot.pool;
    await decisionStore(sql).keepSnapshot(tenantId, snapshot.digest, bodyOf(snapshot), new Date(nowMs));
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
