/** The waiting times of many items in bounded memory. Quantiles are exact to 5 %. */
export class WaitTimes {
  items = 0;
  totalMs = 0;
  maxMs = 0;
  readonly #counts = new Float64Array(bucketsMax);

  add(ms: number): void {
    const waitedMs = Math.max(0, ms);
    this.items++;
    this.totalMs += waitedMs;
    this.maxMs = Math.max(this.maxMs, waitedMs);
    const bucket = Math.min(bucketsMax - 1, Math.floor(Math.log1p(waitedMs) / bucketWidth));
    this.#counts[bucket] = this.#counts[bucket]! + 1;
  }

  get meanMs(): number {
    return this.items === 0 ? 0 : this.totalMs / this.items;
  }

  /** The time that a share of the items did not exceed. */
  quantileMs(share: number): number {
    let left = Math.ceil(this.items * share);
    if (left === 0) return 0;
    let bucket = 0;
    while (left > this.#counts[bucket]!) left -= this.#counts[bucket++]!;
    return Math.min(this.maxMs, Math.expm1((bucket + 1) * bucketWidth));
  }
}

const bucketWidth = Math.log(1.05);
/** Up to 100 days. */
const bucketsMax = 470;
