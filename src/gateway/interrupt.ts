/** Waits for work, but not after the call has ended. */
export type Interruptible = <T>(work: Promise<T>) => Promise<T>;

/**
 * Creates a wait that rejects with the signal's reason if the signal aborts first. It supports one wait at a time.
 *
 * Promise.race against one long-lived promise would leak a reaction for every message of a stream. Here only the current
 * wait is referenced.
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
