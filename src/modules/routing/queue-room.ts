import { fail } from "../../errors/index.ts";
import type { TenantId } from "../../platform/access/index.ts";
import type { Clock } from "../../platform/clock/clock.ts";
import type { Sql } from "../../platform/db/index.ts";
import type { PoolSnapshot } from "../pools/index.ts";

interface Room {
  depth: number;
  readAtMs: number;
  reading: Promise<void> | undefined;
}

const poolsMax = 10_000;
/** How old a depth may be: a queue can grow past its bound by what comes in meanwhile on all nodes. */
const freshMs = 500;

/** Refuses items for queues that are full. The depth is read now and then, and counted on in between. */
export function createQueueRoom(sql: Sql, clock: Clock) {
  const rooms = new Map<string, Room>();

  async function read(tenantId: TenantId, poolId: string, room: Room): Promise<void> {
    const [row] = await sql<{ depth: number }[]>`
      select coalesce(sum(depth), 0)::bigint as depth from queue_depths
      where tenant_id = ${tenantId} and pool_id = ${poolId}`;
    room.depth = row!.depth;
    room.readAtMs = clock.now();
  }

  function take(room: Room, { pool }: PoolSnapshot, count: number): void {
    const { maxDepth } = pool.config.queue;
    if (room.depth + count > maxDepth) {
      throw fail("ROUTING_FAILED", {
        public: `The queue of the pool ${pool.name} is full: ${maxDepth} items wait.`,
        headers: { "retry-after": "1" },
      });
    }
    room.depth += count;
  }

  return (snapshot: PoolSnapshot, count: number): Promise<void> | undefined => {
    const { id: poolId, tenantId } = snapshot.pool;
    let room = rooms.get(poolId);
    if (room === undefined) {
      if (rooms.size >= poolsMax) rooms.clear();
      room = { depth: 0, readAtMs: 0, reading: undefined };
      rooms.set(poolId, room);
    }
    const known = room;
    const stale = clock.now() - known.readAtMs > freshMs;
    if (stale) {
      known.reading ??= read(tenantId, poolId, known).finally(() => {
        known.reading = undefined;
      });
    }
    // Only the first look has to wait; later ones go by what is known while it is read anew.
    if (known.readAtMs === 0) return known.reading!.then(() => take(known, snapshot, count));
    known.reading?.catch(() => {});
    take(known, snapshot, count);
    return undefined;
  };
}
