import type { Worker } from "./work-protocol.ts";

/** When a program with workers stops. */
export interface RunWorkersOptions {
  /** The time for handlers to finish, in milliseconds; default 25,000. */
  readonly drainMs?: number;
  /** The signals of the operating system that stop the workers; default SIGTERM and SIGINT. */
  readonly signals?: readonly string[];
  /** Stops the workers as well. */
  readonly signal?: AbortSignal;
}

/** The part of Node's `process` that is needed here. */
interface SignalSource {
  once(signal: string, listener: () => void): unknown;
  off(signal: string, listener: () => void): unknown;
}

/**
 * Runs workers until the process is asked to stop, then lets them finish what they have begun. If one worker fails, the
 * others stop as well, and the error is thrown after all have finished.
 */
export async function runWorkers(workers: readonly Worker[], options: RunWorkersOptions = {}): Promise<void> {
  const { signals = ["SIGTERM", "SIGINT"], drainMs, signal } = options;
  const { process } = globalThis as unknown as { process: SignalSource };
  const stopping = new AbortController();
  const stop = () => stopping.abort();
  if (signal?.aborted) stop();
  signal?.addEventListener("abort", stop, { once: true });
  for (const name of signals) process.once(name, stop);
  try {
    const runs = workers.map((worker) =>
      worker.run({ signal: stopping.signal, ...(drainMs !== undefined && { drainMs }) }).catch((error: unknown) => {
        stop();
        throw error;
      }),
    );
    const results = await Promise.allSettled(runs);
    const errors = results.flatMap((result) => (result.status === "rejected" ? [result.reason] : []));
    if (errors.length > 0) throw errors[0];
  } finally {
    for (const name of signals) process.off(name, stop);
    signal?.removeEventListener("abort", stop);
  }
}
