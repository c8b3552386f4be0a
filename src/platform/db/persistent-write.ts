import { setTimeout as delay } from "node:timers/promises";
import { Failure } from "../../errors/index.ts";
import { type Backoff, backoffMs } from "../backoff/backoff.ts";
import { isDataError } from "./classify.ts";

const triesMax = 6;
const retryBackoff: Backoff = { firstMs: 250, maxMs: 4000 };

/**
 * Repeats a write whose loss nothing can repair, such as the only record of another system's answer, for about eight seconds. The
 * write must have the same effect when an earlier try was committed. Data that the database rejects is not tried again.
 */
export async function writePersistently<T>(write: () => Promise<T>, onFailure: (error: unknown) => void): Promise<T> {
  for (let nth = 1; ; nth++) {
    try {
      return await write();
    } catch (error) {
      if (nth === triesMax || !mayPass(error)) throw error;
      onFailure(error);
      await delay(backoffMs(retryBackoff, nth));
    }
  }
}

function mayPass(error: unknown): boolean {
  return error instanceof Failure ? error.entry.retryable : !isDataError(error);
}
