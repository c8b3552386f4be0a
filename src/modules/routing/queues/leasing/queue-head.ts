import type { Signals } from "../../../../platform/db/index.ts";

/**
 * Remembers the rank of the first item of a queue. Leased items leave dead index entries until PostgreSQL vacuums them,
 * and a scan from the very beginning would step over all of them each time.
 */
export type QueueHead = ReturnType<typeof createQueueHead>;

interface Scan {
  readonly fromRank: number | undefined;
  readonly beganAtMs: number;
}

/** How long a head stays valid. Items with a lost lease are ready again at a lower rank, and wakes may be missed. */
const validMs = 100;
/** The part of the time that scans over dead entries may take: while an old snapshot keeps them, their number only grows. */
const deadShare = 0.1;
/** The longest time that an item before the head waits for such a scan. */
const pauseMsMax = 1000;
/** The weight of a measurement in an average. */
const weight = 1 / 8;

/**
 * Creates a head. The topic's next wake makes the next scan begin at the beginning, because a newly ready item may precede all
 * others; if stepping over dead entries takes long, after a pause.
 */
export function createQueueHead(signals: Pick<Signals, "onWake">, topic: string, nowMs = () => performance.now()) {
  let rank: number | undefined;
  let isStale = false;
  let wholeAtMs = 0;
  /** The average duration of scans from the head, and by how much scans from the beginning exceed it. */
  let headMs = 0;
  let deadMs = 0;
  const stop = signals.onWake(topic, () => {
    isStale = true;
  });

  function measure({ fromRank, beganAtMs }: Scan): void {
    const tookMs = nowMs() - beganAtMs;
    if (fromRank === undefined) deadMs += (Math.max(0, tookMs - headMs) - deadMs) * weight;
    else headMs += (tookMs - headMs) * weight;
  }

  return {
    /** Begins a scan; `fromRank` is undefined for a scan from the beginning of the queue. */
    beginScan(): Scan {
      const beganAtMs = nowMs();
      const ageMs = beganAtMs - wholeAtMs;
      if ((isStale || ageMs >= validMs) && ageMs >= Math.min(deadMs / deadShare, pauseMsMax)) rank = undefined;
      if (rank === undefined) {
        wholeAtMs = beganAtMs;
        isStale = false;
      }
      return { fromRank: rank, beganAtMs };
    },
    /** Records that the scan took every item up to a rank. */
    advance(scan: Scan, to: number) {
      measure(scan);
      rank = to;
    },
    /** Records that the scan took every item that it found, the last one with this rank. */
    exhaust(scan: Scan, last: number | undefined) {
      isStale = true;
      if (last === undefined) measure(scan);
      else this.advance(scan, last);
    },
    stop,
  };
}
