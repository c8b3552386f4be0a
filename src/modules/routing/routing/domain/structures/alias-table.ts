import type { Draws } from "./seeded-random.ts";

/** Draws an index with a probability proportional to its weight in constant time (Vose's alias method). */
export class AliasTable {
  readonly #indices: Uint32Array;
  /** The share of each column that belongs to itself; the rest belongs to its alias. */
  readonly #own: Float64Array;
  readonly #alias: Uint32Array;

  constructor(indices: Uint32Array, weights: Float64Array) {
    const count = indices.length;
    this.#indices = indices;
    this.#own = new Float64Array(count).fill(1);
    this.#alias = new Uint32Array(count);
    let total = 0;
    for (const index of indices) total += weights[index]!;
    const small: number[] = [];
    const large: number[] = [];
    for (let column = 0; column < count; column++) {
      this.#own[column] = (weights[indices[column]!]! * count) / total;
      this.#alias[column] = column;
      (this.#own[column]! < 1 ? small : large).push(column);
    }
    // Columns left over by rounding errors keep their whole share.
    while (small.length > 0 && large.length > 0) {
      const poor = small.pop()!;
      const rich = large.pop()!;
      this.#alias[poor] = rich;
      this.#own[rich] = this.#own[rich]! - (1 - this.#own[poor]!);
      (this.#own[rich]! < 1 ? small : large).push(rich);
    }
    for (const column of small) this.#own[column] = 1;
    for (const column of large) this.#own[column] = 1;
  }

  get size(): number {
    return this.#indices.length;
  }

  /** Draws an index; the table must not be empty. */
  draw(draws: Draws): number {
    const column = draws.below(this.#indices.length);
    return this.#indices[draws.unit() < this.#own[column]! ? column : this.#alias[column]!]!;
  }
}
