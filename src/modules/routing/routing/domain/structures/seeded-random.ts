/**
 * Reproducible randomness: everything derives from a seed of up to 53 bits.
 *
 * `Draws` is a sequential generator (sfc32 by Chris Doty-Humphrey: 128 bits of state, passes PractRand).
 * `unitAt` is stateless: it returns a number for each seed and recipient, for ties and races.
 */

const TWO_32 = 2 ** 32;

/** Mixes 32 bits: each input bit flips half of the output bits on average. */
export function mix32(value: number): number {
  let x = value;
  x = Math.imul(x ^ (x >>> 16), 0x21f0aaad);
  x = Math.imul(x ^ (x >>> 15), 0x735a2d97);
  return (x ^ (x >>> 15)) >>> 0;
}

/** Returns the low 32 bits of a seed. */
export function lowBits(seed: number): number {
  return seed >>> 0;
}

/** Returns the bits of a seed above the low 32. */
export function highBits(seed: number): number {
  return Math.floor(seed / TWO_32) >>> 0;
}

/** Returns a number between 0 and 1 for a 64-bit seed and a position; never 0. */
export function unitAt(low: number, high: number, position: number): number {
  const first = mix32(low ^ Math.imul(position + 1, 0x9e3779b1));
  return unitOf(mix32(first ^ high), first);
}

/** Returns a number between 0 and 1 from 32 bits and 21 more; never 0. */
export function unitOf(bits: number, more: number): number {
  return (bits * 2 ** 21 + (more >>> 11) + 0.5) / 2 ** 53;
}

/** A sequence of random draws. */
export class Draws {
  #a: number;
  #b: number;
  #c: number;
  #counter = 1;

  constructor(seed: number) {
    this.#a = lowBits(seed);
    this.#b = highBits(seed);
    this.#c = 0x9e3779b9;
    // Warm up until the seed has reached the whole state.
    for (let round = 0; round < 12; round++) this.bits();
  }

  /** Returns 32 random bits. */
  bits(): number {
    const sum = (((this.#a + this.#b) | 0) + this.#counter) | 0;
    this.#counter = (this.#counter + 1) | 0;
    this.#a = this.#b ^ (this.#b >>> 9);
    this.#b = (this.#c + (this.#c << 3)) | 0;
    this.#c = (((this.#c << 21) | (this.#c >>> 11)) + sum) | 0;
    return sum >>> 0;
  }

  /** Returns a number from 0 (inclusive) to 1 (exclusive). */
  unit(): number {
    return this.bits() / TWO_32;
  }

  /** Returns an integer below a bound. */
  below(bound: number): number {
    return Math.floor(this.unit() * bound);
  }
}

/** Hashes a text to 64 bits, low half first. */
export function hashText(text: string): readonly [number, number] {
  let low = 0x811c9dc5;
  let high = 0x2c1b3c6d;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    low = Math.imul(low ^ unit, 0x01000193);
    high = Math.imul((high ^ unit) + at, 0x297a2d39);
    high ^= high >>> 15;
  }
  const mixed = mix32(low ^ text.length);
  return [mixed, mix32(high ^ mixed)];
}
