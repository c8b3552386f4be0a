import { pauseAfterScanMs, type Signals } from "../../../../platform/db/index.ts";

/**
 * Remembers the rank of the first item of a queue. Leased items leave dead index entries until PostgreSQL vacuums them,
 * and a scan from the very beginning would step over all of them each time.
 */
export type QueueHead = ReturnType<typeof createQueueHead>;

/** A scan of a queue that has begun. */
export interface Scan {
  readonly fromRank: number | undefined;
  readonly beganAtMs: number;
}

/** How long a head stays valid. Items with a lost lease are ready again at a lower rank, and wakes may be missed. */
const validMs = 100;
/** While scans over dead entries pause for longer, a scan from the head may report an empty queue. */
const longPauseMs = 2000;
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

  function beginWholeScan(): Scan {
    isStale = false;
    wholeAtMs = nowMs();
    return { fromRank: undefined, beganAtMs: wholeAtMs };
  }

  return {
    /** Begins a scan; `fromRank` is undefined for a scan from the beginning of the queue. */
    beginScan(): Scan {
      const ageMs = nowMs() - wholeAtMs;
      const isDue = (isStale || ageMs >= validMs) && ageMs >= pauseAfterScanMs(deadMs);
      return rank === undefined || isDue ? beginWholeScan() : { fromRank: rank, beganAtMs: nowMs() };
    },
    /**
     * Begins a scan from the beginning, after one from the head that found nothing, because only a full scan may report an empty
     * queue. Returns undefined if dead entries make it long and the last one was a moment ago.
     */
    beginWholeScan(): Scan | undefined {
      const pauseMs = pauseAfterScanMs(deadMs);
      return pauseMs > longPauseMs && nowMs() - wholeAtMs < pauseMs ? undefined : beginWholeScan();
    },
    /** Records that the scan took every item up to a rank. Items that another scan has found before its head are left to the next one. */
    advance(scan: Scan, to: number) {
      measure(scan);
      if (scan.fromRank === undefined || scan.fromRank === rank) rank = to;
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
