import { until } from "./until.ts";

const dayMs = 86_400_000;

/** Waits for the next day of quotas if the current one ends within a minute: a test with a daily limit needs one day. */
export async function stayWithinDay(): Promise<void> {
  await until(() => dayMs - (Date.now() % dayMs) > 60_000, Boolean, 90_000);
}
