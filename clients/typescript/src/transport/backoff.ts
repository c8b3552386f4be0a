/** The first wait and the longest wait between retries. */
export interface Backoff {
  readonly initialMs: number;
  readonly maxMs: number;
}

/**
 * The wait before the next retry. Without a request of the service it grows exponentially, and half of it is random, so that
 * callers that failed together do not return together. A wait that the service asks for is never shortened.
 */
export function retryDelayMs(
  { initialMs, maxMs }: Backoff,
  failures: number,
  retryAfterMs: number | undefined,
  random: number,
): number {
  const grown = Math.min(maxMs, initialMs * 2 ** (failures - 1));
  if (retryAfterMs !== undefined) return retryAfterMs + random * Math.min(grown, retryAfterMs / 4);
  return grown / 2 + (random * grown) / 2;
}

/** Waits; rejects with the reason of the signal when it is aborted. */
export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) {
      reject(signal.reason);
      return;
    }
    const onAbort = () => {
      clearTimeout(timer);
      reject(signal!.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", onAbort);
      resolve();
    }, ms);
    signal?.addEventListener("abort", onAbort, { once: true });
  });
}
