/** A reproducible source of random numbers (sfc32 by Chris Doty-Humphrey). */
export type SeededRandom = ReturnType<typeof createSeededRandom>;

export function createSeededRandom(seed: number) {
  let [a, b, c, counter] = [seed | 0, Math.floor(seed / 2 ** 32) | 0, 0x9e3779b9 | 0, 1];
  /** From 0 (inclusive) to 1 (exclusive). */
  const unit = () => {
    const sum = (((a + b) | 0) + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (((c << 21) | (c >>> 11)) + sum) | 0;
    return (sum >>> 0) / 2 ** 32;
  };
  // Warm up until the seed has reached the whole state.
  for (let i = 0; i < 12; i++) unit();
  let spare: number | undefined;
  /** Standard normal. */
  const normal = () => {
    if (spare !== undefined) {
      const value = spare;
      spare = undefined;
      return value;
    }
    const radius = Math.sqrt(-2 * Math.log(1 - unit()));
    const angle = 2 * Math.PI * unit();
    spare = radius * Math.sin(angle);
    return radius * Math.cos(angle);
  };
  return { unit, normal };
}
