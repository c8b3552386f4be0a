/** Processes rows in batches until a batch is not full; throws between two batches when the signal is aborted. */
export async function runInBatches(signal: AbortSignal, size: number, runBatch: (limit: number) => Promise<number>) {
  for (let done = size; done >= size; ) {
    signal.throwIfAborted();
    done = await runBatch(size);
  }
}
