/** A binary heap of indices below a bound, ordered by `before`, with removal of any index. */
export class IndexHeap {
  readonly #items: Int32Array;
  /** The position of each index in the heap; -1 if absent. */
  readonly #positions: Int32Array;
  readonly #before: (one: number, other: number) => boolean;
  #size = 0;

  constructor(bound: number, before: (one: number, other: number) => boolean) {
    this.#items = new Int32Array(bound);
    this.#positions = new Int32Array(bound).fill(-1);
    this.#before = before;
  }

  has(index: number): boolean {
    return this.#positions[index]! >= 0;
  }

  /** The first index; -1 if the heap is empty. */
  get first(): number {
    return this.#size === 0 ? -1 : this.#items[0]!;
  }

  add(index: number): void {
    this.#put(index, this.#size++);
    this.#rise(index);
  }

  remove(index: number): void {
    const position = this.#positions[index]!;
    if (position < 0) return;
    this.#positions[index] = -1;
    const last = this.#items[--this.#size]!;
    if (last === index) return;
    this.#put(last, position);
    this.#rise(last);
    this.#sink(last);
  }

  /** Iterates over all indices in order without removing them. */
  *inOrder(): Generator<number, void> {
    // The next index is always a child of one that was returned.
    const open: number[] = this.#size > 0 ? [0] : [];
    while (open.length > 0) {
      let next = 0;
      for (let at = 1; at < open.length; at++) {
        if (this.#before(this.#items[open[at]!]!, this.#items[open[next]!]!)) next = at;
      }
      const position = open[next]!;
      yield this.#items[position]!;
      const [left, right] = [2 * position + 1, 2 * position + 2];
      if (left < this.#size) open[next] = left;
      else open.splice(next, 1);
      if (right < this.#size) open.push(right);
    }
  }

  #put(index: number, position: number): void {
    this.#items[position] = index;
    this.#positions[index] = position;
  }

  #rise(index: number): void {
    let position = this.#positions[index]!;
    while (position > 0) {
      const above = this.#items[(position - 1) >> 1]!;
      if (!this.#before(index, above)) return;
      this.#put(above, position);
      position = (position - 1) >> 1;
      this.#put(index, position);
    }
  }

  #sink(index: number): void {
    let position = this.#positions[index]!;
    for (;;) {
      let child = 2 * position + 1;
      if (child >= this.#size) return;
      if (child + 1 < this.#size && this.#before(this.#items[child + 1]!, this.#items[child]!)) child++;
      const below = this.#items[child]!;
      if (!this.#before(below, index)) return;
      this.#put(below, position);
      this.#put(index, child);
      position = child;
    }
  }
}
