import { setTimeout as delay } from "node:timers/promises";
import { inspect } from "node:util";

const pollMs = 10;
const pollMsMax = 50;

/** Reads until a condition holds, and returns the value. A minute is far more than any condition needs. */
export async function until<T>(
  read: () => T | Promise<T>,
  holds: (value: T) => boolean = Boolean,
  limitMs = 60_000,
): Promise<T> {
  const startedAtMs = performance.now();
  for (let waitedMs = 0; ; waitedMs = performance.now() - startedAtMs) {
    const value = await read();
    if (holds(value)) return value;
    if (waitedMs > limitMs) {
      const condition = holds === Boolean ? "" : ` to satisfy ${holds}`;
      throw new Error(`Waited ${limitMs / 1000} s for ${read}${condition}. The last value was ${inspect(value)}.`);
    }
    // A long wait reads less often, because reads take CPU time from what it waits for.
    await delay(Math.min(Math.max(pollMs, waitedMs / 20), pollMsMax));
  }
}
