import { setTimeout as delay } from "node:timers/promises";

const dayMs = 86_400_000;
const spareMs = 60_000;

/** Waits for the next day (UTC) if this one is about to end, for tests of what is counted by day. */
export async function avoidMidnight(): Promise<void> {
  const leftMs = dayMs - (Date.now() % dayMs);
  if (leftMs < spareMs) await delay(leftMs + 100);
}
