import { IndexHeap } from "./index-heap.ts";
import { mix32 } from "./seeded-random.ts";

/**
 * Weighted round robin: earliest eligible virtual deadline first (EEVDF).
 *
 * Virtual time advances by 1 ÷ total weight with each turn. A recipient of weight w has consecutive turns of length
 * 1 ÷ w. A turn may be taken once it has begun, and the turn with the earliest deadline goes first. Each recipient
 * is therefore always less than one turn ahead of or behind its exact share: weights 5, 1, 1 give a b a a c a a and
 * never five a's in a row. Finding the next recipient takes O(log n).
 *
 * A recipient that was unavailable does not catch up on all missed turns: it keeps at most one.
 */
export class TurnQueue {
  readonly #starts: Float64Array;
  readonly #lengths: Float64Array;
  #weights: Float64Array;
  readonly #order: Uint32Array;
  readonly #begun: IndexHeap;
  readonly #waiting: IndexHeap;
  #now = 0;
  #totalWeight = 0;
  #longest = 0;

  /** `salt` determines the initial order of equal recipients, so nodes do not all start with the same one. */
  constructor(weights: Float64Array, salt: number) {
    this.#weights = weights;
    this.#starts = new Float64Array(weights.length);
    this.#lengths = weights.map((weight) => (weight > 0 ? 1 / weight : 0));
    this.#order = Uint32Array.from(weights, (_, index) => mix32(mix32(salt >>> 0) ^ index));
    for (const length of this.#lengths) this.#longest = Math.max(this.#longest, length);
    const earlier = (one: number, other: number, difference: number) =>
      difference !== 0 ? difference < 0 : this.#order[one]! < this.#order[other]!;
    this.#begun = new IndexHeap(weights.length, (one, other) =>
      earlier(one, other, this.#deadline(one) - this.#deadline(other)),
    );
    this.#waiting = new IndexHeap(weights.length, (one, other) =>
      earlier(one, other, this.#starts[one]! - this.#starts[other]! || this.#deadline(one) - this.#deadline(other)),
    );
  }

  /** Adds a recipient: at `startsIn`, or where it left off, but not before now. */
  join(index: number, startsIn?: number): void {
    if (this.#weights[index] === 0 || this.#begun.has(index) || this.#waiting.has(index)) return;
    const bound = this.#lengths[index]!;
    this.#starts[index] =
      startsIn === undefined
        ? Math.max(this.#now, this.#starts[index]!)
        : this.#now + Math.min(Math.max(startsIn, -bound), bound);
    this.#totalWeight += this.#weights[index]!;
    this.#place(index);
  }

  /** Removes a recipient. */
  leave(index: number): void {
    if (!this.#begun.has(index) && !this.#waiting.has(index)) return;
    this.#begun.remove(index);
    this.#waiting.remove(index);
    this.#totalWeight -= this.#weights[index]!;
  }

  /** Applies new weights. The given indices changed and leave the queue. */
  reweigh(weights: Float64Array, indices: readonly number[]): void {
    for (const index of indices) this.leave(index);
    this.#weights = weights;
    for (const index of indices) {
      const weight = weights[index]!;
      this.#lengths[index] = weight > 0 ? 1 / weight : 0;
      this.#longest = Math.max(this.#longest, this.#lengths[index]!);
    }
  }

  /** Returns the start of the turn of a recipient relative to now. */
  startsIn(index: number): number {
    return this.#starts[index]! - this.#now;
  }

  /** Takes a turn; the length of the next one follows from the current weight. */
  take(index: number, weight: number): void {
    if (!this.#begun.has(index) && !this.#waiting.has(index)) return;
    this.#begun.remove(index);
    this.#waiting.remove(index);
    const start = Math.max(this.#starts[index]!, this.#now - this.#lengths[index]!);
    // A turn that has not begun is taken only if no other recipient could; virtual time skips to it.
    this.#now = Math.max(this.#now, start) + 1 / this.#totalWeight;
    this.#starts[index] = start + this.#lengths[index]!;
    this.#lengths[index] = 1 / weight;
    this.#longest = Math.max(this.#longest, 1 / weight);
    this.#place(index);
    for (let next = this.#waiting.first; next >= 0 && this.#hasBegun(next); next = this.#waiting.first) {
      this.#waiting.remove(next);
      this.#begun.add(next);
    }
  }

  /** The recipient whose turn it is; -1 if the queue is empty. */
  get first(): number {
    const { first } = this.#begun;
    return first >= 0 ? first : this.#waiting.first;
  }

  /** Iterates over all recipients in the order of their turns. */
  *inOrder(): Generator<number, void> {
    yield* this.#begun.inOrder();
    yield* this.#waiting.inOrder();
  }

  /** Returns a number that sorts recipients by their turns. */
  rank(index: number): number {
    if (!this.#hasBegun(index)) return this.#starts[index]! - this.#now;
    return this.#deadline(index) - this.#now - this.#longest - 1;
  }

  #deadline(index: number): number {
    return this.#starts[index]! + this.#lengths[index]!;
  }

  #hasBegun(index: number): boolean {
    // Tolerate rounding errors of up to a thousandth of a turn.
    return this.#starts[index]! <= this.#now + 0.001 / this.#totalWeight;
  }

  #place(index: number): void {
    (this.#hasBegun(index) ? this.#begun : this.#waiting).add(index);
  }
}
