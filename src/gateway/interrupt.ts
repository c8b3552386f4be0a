/** Waits for work, but no longer than the call lasts. */
export type Interruptible = <T>(work: Promise<T>) => Promise<T>;

/**
 * Makes a wait that ends with the signal's reason when the signal aborts first.
 *
 * Promise.race against one long-lived promise would keep a reaction for every message of a stream; here only the
 * current wait is known. One wait at a time.
 */
export function interruptible(signal: AbortSignal): Interruptible {
  let interrupt: (reason: unknown) => void = () => {};
  signal.addEventListener("abort", () => interrupt(signal.reason), { once: true });
  return (work) =>
    new Promise((resolve, reject) => {
      interrupt = reject;
      work.then(resolve, reject);
      if (signal.aborted) reject(signal.reason);
    });
}
