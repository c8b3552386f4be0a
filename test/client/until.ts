import { setTimeout as delay } from "node:timers/promises";

/** Waits until a condition holds. */
export async function until(condition: () => Promise<boolean> | boolean): Promise<void> {
  while (!(await condition())) await delay(20);
}
