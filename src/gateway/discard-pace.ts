import type { Readable } from "node:stream";

/** How fast a node reads what it discards. */
interface Limits {
  /** What each body may send at once. */
  readonly burstBytes: number;
  /** What each body may send per second after that. */
  readonly bytesPerSecond: number;
  /** What all bodies together may send per second. */
  readonly totalBytesPerSecond: number;
}

const tickMs = 50;

/** Discards bodies at a bounded rate. */
export interface DiscardPace {
  /** Reads a body and discards it; calls `onBytes` with the length of each chunk. */
  discard(body: Readable, onBytes: (length: number) => void): void;
}

/**
 * Reads discarded bodies slowly, so that the sender waits on its own connection.
 *
 * A refusal costs the node less than the body behind it: a tenant over its limit could otherwise keep a processor busy
 * with hundreds of megabytes per second that nobody looks at.
 */
export function createDiscardPace({ burstBytes, bytesPerSecond, totalBytesPerSecond }: Limits): DiscardPace {
  /** What each body may still send before the next tick. */
  const allowances = new Map<Readable, number>();
  let timer: NodeJS.Timeout | undefined;

  function tick(): void {
    // Only bodies that wait for more share the rate: those whose sender is slow take nothing from the others.
    let waiting = 0;
    for (const body of allowances.keys()) if (body.isPaused()) waiting++;
    const perSecond = Math.min(bytesPerSecond, totalBytesPerSecond / Math.max(waiting, 1));
    const added = (perSecond * tickMs) / 1000;
    for (const [body, before] of allowances) {
      const allowance = Math.min(before + added, burstBytes);
      allowances.set(body, allowance);
      if (allowance > 0 && body.isPaused()) body.resume();
    }
  }

  function forget(body: Readable): void {
    allowances.delete(body);
    if (allowances.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  }

  return {
    discard(body, onBytes) {
      allowances.set(body, burstBytes);
      timer ??= setInterval(tick, tickMs);
      body.removeAllListeners("data").on("data", (chunk: Buffer) => {
        onBytes(chunk.length);
        const allowance = allowances.get(body);
        if (allowance === undefined) return;
        allowances.set(body, allowance - chunk.length);
        if (allowance <= chunk.length) body.pause();
      });
      body.once("end", () => forget(body)).once("close", () => forget(body));
      body.resume();
    },
  };
}
