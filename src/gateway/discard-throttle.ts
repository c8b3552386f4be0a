import type { Readable } from "node:stream";

/** Rates at which a node reads bodies that it discards. */
interface Limits {
  /** Bytes of each body that are read immediately. */
  readonly burstBytes: number;
  /** Bytes per second of each body after the burst. */
  readonly bytesPerSecond: number;
  /** Bytes per second of all bodies together. */
  readonly totalBytesPerSecond: number;
}

const tickMs = 50;

/** Discards bodies at a limited rate. */
export interface DiscardThrottle {
  /** Reads a body and discards it; calls `onBytes` with the length of each chunk. */
  discard(body: Readable, onBytes: (length: number) => void): void;
}

/**
 * Creates a throttle that reads discarded bodies slowly, so that back-pressure stops the sender.
 *
 * Reading a body costs the node more than refusing its request. Without the throttle, a tenant over its limit could keep a
 * processor busy with hundreds of megabytes per second of discarded data.
 */
export function createDiscardThrottle({ burstBytes, bytesPerSecond, totalBytesPerSecond }: Limits): DiscardThrottle {
  /** Bytes of each body that may still be read before the next tick. */
  const allowances = new Map<Readable, number>();
  let timer: NodeJS.Timeout | undefined;

  function tick(): void {
    // Only paused bodies share the rate, so that bodies with slow senders take no share from the others.
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

  function remove(body: Readable): void {
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
      body.once("end", () => remove(body)).once("close", () => remove(body));
      body.resume();
    },
  };
}
