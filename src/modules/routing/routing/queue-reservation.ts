import { fail } from "../../../errors/index.ts";
import type { TenantId } from "../../../platform/access/index.ts";
import type { Clock } from "../../../platform/clock/clock.ts";
import type { Sql } from "../../../platform/db/index.ts";
import type { PoolSnapshot } from "../pools/index.ts";

/** A place in a queue for an item that is not committed yet. End it in one of the two ways, once. */
export interface QueueReservation {
  /** The item was committed. */
  keep(): void;
  /** The item did not come in. */
  release(): void;
}

interface Room {
  /** The depth as it was read, and what this node committed since. */
  depth: number;
  /** Reserved by this node and not committed yet. */
  reserved: number;
  /** How many items this node has committed in all. */
  committed: number;
  readAtMs: number;
  reading: Promise<void> | undefined;
}

const poolsMax = 10_000;
/** How old a depth may be: a queue can grow past its bound by what comes in meanwhile on other nodes. */
const freshMs = 500;

/**
 * Reserves places in queues, and refuses items for queues that are full. The depth is read now and then; reservations
 * and commits of this node are counted at once.
 */
export function createQueueRoom(sql: Sql, clock: Clock) {
  const rooms = new Map<string, Room>();

  async function read(tenantId: TenantId, poolId: string, room: Room): Promise<void> {
    const { committed } = room;
    const [row] = await sql<{ depth: number }[]>`
      select coalesce(sum(depth), 0)::bigint as depth from queue_depths
      where tenant_id = ${tenantId} and pool_id = ${poolId}`;
    // What was committed meanwhile may have been read or not: it counts, until the next read tells.
    room.depth = row!.depth + (room.committed - committed);
    room.readAtMs = clock.now();
  }

  function reserve(room: Room, { pool }: PoolSnapshot): QueueReservation {
    const { maxDepth } = pool.config.queue;
    if (room.depth + room.reserved >= maxDepth) {
      throw fail("ROUTING_FAILED", {
        public: `The queue of the pool ${pool.name} is full: ${maxDepth} items wait.`,
        headers: { "retry-after": "1" },
      });
    }
    room.reserved++;
    return {
      keep() {
        room.reserved--;
        room.depth++;
        room.committed++;
      },
      release() {
        room.reserved--;
      },
    };
  }

  return (snapshot: PoolSnapshot): QueueReservation | Promise<QueueReservation> => {
    const { id: poolId, tenantId } = snapshot.pool;
    let room = rooms.get(poolId);
    if (room === undefined) {
      if (rooms.size >= poolsMax) rooms.clear();
      room = { depth: 0, reserved: 0, committed: 0, readAtMs: 0, reading: undefined };
      rooms.set(poolId, room);
    }
    const known = room;
    const stale = clock.now() - known.readAtMs > freshMs;
    if (stale) {
      known.reading ??= read(tenantId, poolId, known).finally(() => {
        known.reading = undefined;
      });
    }
    // Only the first look has to wait; later ones go by what is known while it is read again.
    if (known.readAtMs === 0) return known.reading!.then(() => reserve(known, snapshot));
    known.reading?.catch(() => {});
    return reserve(known, snapshot);
  };
}
