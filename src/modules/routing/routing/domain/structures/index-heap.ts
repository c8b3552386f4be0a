/** A heap of indices below a bound, ordered by whatever `before` says; any of them can be taken out. */
export class IndexHeap {
  readonly #items: Int32Array;
  /** Where each index stands in the heap; -1 for one that is not in it. */
  readonly #places: Int32Array;
  readonly #before: (one: number, other: number) => boolean;
  #size = 0;

  constructor(bound: number, before: (one: number, other: number) => boolean) {
    this.#items = new Int32Array(bound);
    this.#places = new Int32Array(bound).fill(-1);
    this.#before = before;
  }

  has(index: number): boolean {
    return this.#places[index]! >= 0;
  }

  /** The first; -1 when there is none. */
  get first(): number {
    return this.#size === 0 ? -1 : this.#items[0]!;
  }

  add(index: number): void {
    this.#put(index, this.#size++);
    this.#rise(index);
  }

  remove(index: number): void {
    const place = this.#places[index]!;
    if (place < 0) return;
    this.#places[index] = -1;
    const last = this.#items[--this.#size]!;
    if (last === index) return;
    this.#put(last, place);
    this.#rise(last);
    this.#sink(last);
  }

  /** All of them in order, one at a time, without taking any out. */
  *inOrder(): Generator<number, void> {
    // Whoever comes next is a child of one that came already.
    const open: number[] = this.#size > 0 ? [0] : [];
    while (open.length > 0) {
      let next = 0;
      for (let at = 1; at < open.length; at++) {
        if (this.#before(this.#items[open[at]!]!, this.#items[open[next]!]!)) next = at;
      }
      const place = open[next]!;
      yield this.#items[place]!;
      const [left, right] = [2 * place + 1, 2 * place + 2];
      if (left < this.#size) open[next] = left;
      else open.splice(next, 1);
      if (right < this.#size) open.push(right);
    }
  }

  #put(index: number, place: number): void {
    this.#items[place] = index;
    this.#places[index] = place;
  }

  #rise(index: number): void {
    let place = this.#places[index]!;
    while (place > 0) {
      const above = this.#items[(place - 1) >> 1]!;
      if (!this.#before(index, above)) return;
      this.#put(above, place);
      place = (place - 1) >> 1;
      this.#put(index, place);
    }
  }

  #sink(index: number): void {
    let place = this.#places[index]!;
    for (;;) {
      let child = 2 * place + 1;
      if (child >= this.#size) return;
      if (child + 1 < this.#size && this.#before(this.#items[child + 1]!, this.#items[child]!)) child++;
      const below = this.#items[child]!;
      if (!this.#before(below, index)) return;
      this.#put(below, place);
      this.#put(index, child);
      place = child;
    }
  }
}
