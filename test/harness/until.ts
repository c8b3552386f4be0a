import { setTimeout as delay } from "node:timers/promises";
import { inspect } from "node:util";

const pollMs = 10;

/** Reads until a condition holds, and returns the value. A minute is far more than any condition needs. */
export async function until<T>(
  read: () => T | Promise<T>,
  holds: (value: T) => boolean = Boolean,
  limitMs = 60_000,
): Promise<T> {
  for (const endsAtMs = performance.now() + limitMs; ; await delay(pollMs)) {
    const value = await read();
    if (holds(value)) return value;
    if (performance.now() > endsAtMs) {
      const condition = holds === Boolean ? "" : ` to satisfy ${holds}`;
      throw new Error(`Waited ${limitMs / 1000} s for ${read}${condition}. The last value was ${inspect(value)}.`);
    }
  }
}
