import { mix32 } from "./chance.ts";
import { IndexHeap } from "./index-heap.ts";

/**
 * Whose turn it is, by weight: earliest deadline first among those whose turn has begun (EEVDF).
 *
 * Time passes by 1 ÷ all weights with each turn. One of weight w has turns of length 1 ÷ w, one behind the other; its turn
 * may be taken once it has begun, and the turn that ends first goes first. So everyone is, at any moment, less than one turn
 * ahead of or behind its exact share: weights 5, 1, 1 give a b a a c a a and never five a's in a row. Finding the next takes
 * O(log n).
 *
 * One who could not take turns for a while does not get them all at once: at most one turn is kept for it.
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

  /** `salt` decides whom equals begin with, so that not every node begins with the same. */
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

  /** Lets one take turns: from `startsIn` on, or from where it left off, but no earlier than now. */
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

  /** Leaves one out. */
  leave(index: number): void {
    if (!this.#begun.has(index) && !this.#waiting.has(index)) return;
    this.#begun.remove(index);
    this.#waiting.remove(index);
    this.#totalWeight -= this.#weights[index]!;
  }

  /** Takes over new weights. Those at the given indices differ, and leave the queue. */
  reweigh(weights: Float64Array, indices: readonly number[]): void {
    for (const index of indices) this.leave(index);
    this.#weights = weights;
    for (const index of indices) {
      const weight = weights[index]!;
      this.#lengths[index] = weight > 0 ? 1 / weight : 0;
      this.#longest = Math.max(this.#longest, this.#lengths[index]!);
    }
  }

  /** When one's turn begins, as seen from now. */
  startsIn(index: number): number {
    return this.#starts[index]! - this.#now;
  }

  /** One took its turn; the next is as long as its weight, here and now, makes it. */
  take(index: number, weight: number): void {
    if (!this.#begun.has(index) && !this.#waiting.has(index)) return;
    this.#begun.remove(index);
    this.#waiting.remove(index);
    const start = Math.max(this.#starts[index]!, this.#now - this.#lengths[index]!);
    // One whose turn had not begun is taken only when nobody else could: time skips to it.
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

  /** Whose turn it is; -1 when there is nobody. */
  get first(): number {
    const { first } = this.#begun;
    return first >= 0 ? first : this.#waiting.first;
  }

  /** Everyone in the order of their turns. */
  *inOrder(): Generator<number, void> {
    yield* this.#begun.inOrder();
    yield* this.#waiting.inOrder();
  }

  /** A number by which everyone can be put in the order of their turns. */
  rank(index: number): number {
    if (!this.#hasBegun(index)) return this.#starts[index]! - this.#now;
    return this.#deadline(index) - this.#now - this.#longest - 1;
  }

  #deadline(index: number): number {
    return this.#starts[index]! + this.#lengths[index]!;
  }

  #hasBegun(index: number): boolean {
    // Sums of fractions: what is due to a thousandth of a turn is due.
    return this.#starts[index]! <= this.#now + 0.001 / this.#totalWeight;
  }

  #place(index: number): void {
    (this.#hasBegun(index) ? this.#begun : this.#waiting).add(index);
  }
}
