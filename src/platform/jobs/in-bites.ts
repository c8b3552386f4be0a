/** Does something to so many rows at a time until fewer were left; throws between two bites when the signal is aborted. */
export async function inBites(
  signal: AbortSignal,
  size: number,
  bite: (limit: number) => Promise<number>,
): Promise<void> {
  for (let done = size; done === size; ) {
    signal.throwIfAborted();
    done = await bite(size);
  }
}
