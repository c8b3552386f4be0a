/** A source of whole numbers below a limit, always the same for a seed. */
export function chooser(seed: number): (limit: number) => number {
  let state = seed;
  return (limit) => {
    state = (Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9) | 0;
    return ((state ^ (state >>> 13)) >>> 0) % limit;
  };
}
