/** The part of the time that each kind of scan over dead rows may take. */
const scanShare = 0.05;
/** The longest pause, as long as that of a loop without a signal. */
const pauseMsMax = 15_000;

/**
 * How long to wait after a scan from the beginning of an index before the next one. While an old snapshot keeps dead rows, such a scan
 * steps over all of their entries, and their number only grows.
 */
export function pauseAfterScanMs(tookMs: number): number {
  return Math.min(tookMs / scanShare, pauseMsMax);
}
