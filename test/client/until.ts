import { setTimeout as delay } from "node:timers/promises";

const limitMs = 60_000;

/** Waits until a condition holds. */
export async function until(condition: () => Promise<boolean> | boolean): Promise<void> {
  const endsAt = performance.now() + limitMs;
  while (!(await condition())) {
    if (performance.now() > endsAt) throw new Error(`gave up waiting for ${condition}`);
    await delay(20);
  }
}
