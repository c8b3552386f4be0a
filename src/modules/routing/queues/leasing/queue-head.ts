import type { Signals } from "../../../../platform/db/index.ts";

/**
 * Remembers the rank of the first item of a queue. Leased items leave dead index entries until PostgreSQL vacuums them,
 * and a scan from the very beginning would step over all of them each time.
 */
export type QueueHead = ReturnType<typeof createQueueHead>;

interface Scan {
  readonly fromRank: number | undefined;
  /** Number of resets before the scan began. A scan that began before a reset must not advance the head. */
  readonly generation: number;
}

/** How long a head stays valid. Items with a lost lease are ready again at a lower rank, and wakes may be missed. */
const validMs = 100;

/** Creates a head that is reset by the topic's next wake, because a newly ready item may precede all others. */
export function createQueueHead(signals: Pick<Signals, "onWake">, topic: string, nowMs = () => performance.now()) {
  let rank: number | undefined;
  let untilMs = 0;
  let generation = 0;
  const reset = () => {
    rank = undefined;
    generation++;
  };
  const stop = signals.onWake(topic, reset);
  return {
    /** Begins a scan; `fromRank` is undefined for a scan from the beginning of the queue. */
    beginScan(): Scan {
      if (rank !== undefined && nowMs() >= untilMs) reset();
      if (rank === undefined) untilMs = nowMs() + validMs;
      return { fromRank: rank, generation };
    },
    /** Records that the scan took every item up to a rank. */
    advance(scan: Scan, to: number) {
      if (scan.generation === generation) rank = to;
    },
    /** Makes the next scan start from the beginning. */
    reset,
    stop,
  };
}
