import { fail } from "../../../errors/index.ts";
import type { TenantId } from "../../../platform/access/index.ts";
import { BoundedCache } from "../../../platform/cache/bounded-cache.ts";
import type { Sql } from "../../../platform/db/index.ts";
import type { PoolSnapshot } from "../pools/index.ts";

/** A place in a queue for an item that is not committed yet. Call exactly one of the methods, once. */
export interface QueueReservation {
  /** The item was committed. */
  commit(): void;
  /** The item was not accepted. */
  release(): void;
}

/** The known usage of one pool's queue. */
interface QueueUsage {
  /** The depth at the last read, plus this node's commits since then. */
  depth: number;
  /** Places that this node has reserved and not committed yet. */
  reserved: number;
  /** The total number of items that this node has committed. */
  committed: number;
  /** By the monotonic clock; undefined if the depth was not read yet. */
  readAtMs: number | undefined;
  reading: Promise<void> | undefined;
}

const poolsMax = 10_000;
/** The maximum age of a depth. A queue can exceed its limit by the items that other nodes accept in this time. */
const freshMs = 500;

/**
 * Creates a function that reserves places in queues and rejects items for full queues. The depth is read periodically;
 * this node's reservations and commits are counted immediately.
 */
export function createQueueReservations(sql: Sql, monotonicMs = () => performance.now()) {
  const usages = new BoundedCache<string, QueueUsage>(poolsMax);

  async function read(tenantId: TenantId, poolId: string, usage: QueueUsage): Promise<void> {
    const { committed } = usage;
    const [row] = await sql<{ depth: number }[]>`
      select coalesce(sum(depth), 0)::bigint as depth from queue_depths
      where tenant_id = ${tenantId} and pool_id = ${poolId}`;
    // The read may not include concurrent commits, so they are added until the next read.
    usage.depth = row!.depth + (usage.committed - committed);
    usage.readAtMs = monotonicMs();
  }

  function reserve(usage: QueueUsage, { pool }: PoolSnapshot): QueueReservation {
    const { maxDepth } = pool.config.queue;
    if (usage.depth + usage.reserved >= maxDepth) {
      throw fail("ROUTING_FAILED", {
        public: `The queue of the pool ${pool.name} is full: ${maxDepth} items wait.`,
        headers: { "retry-after": "1" },
      });
    }
    usage.reserved++;
    return {
      commit() {
        usage.reserved--;
        usage.depth++;
        usage.committed++;
      },
      release() {
        usage.reserved--;
      },
    };
  }

  return (snapshot: PoolSnapshot): QueueReservation | Promise<QueueReservation> => {
    const { id: poolId, tenantId } = snapshot.pool;
    const known = usages.getOrCreate(poolId, unknownUsage);
    const isStale = known.readAtMs === undefined || monotonicMs() - known.readAtMs > freshMs;
    if (isStale) {
      known.reading ??= read(tenantId, poolId, known).finally(() => {
        known.reading = undefined;
      });
    }
    // Only the first call waits for the depth; later calls use the known depth during a refresh.
    if (known.readAtMs === undefined) return known.reading!.then(() => reserve(known, snapshot));
    known.reading?.catch(() => {});
    return reserve(known, snapshot);
  };
}

function unknownUsage(): QueueUsage {
  return { depth: 0, reserved: 0, committed: 0, readAtMs: undefined, reading: undefined };
}
