/** What came of sending an item: a status, or why there was none. */
export type PushAnswer =
  | { readonly status: number; readonly retryAfter: string | undefined }
  | { readonly fault: string };

/** Why an item was not delivered, and whether trying again makes sense. */
export interface PushFailure {
  readonly retryable: boolean;
  readonly reasonCode: string;
  readonly reason: string;
  /** The other side asked to be left alone for so long. */
  readonly retryAfterMs?: number;
}

const retryAfterMaxMs = 15 * 60_000;
/** Statuses below 500 that may be different next time. */
const passing = new Set([408, 409, 425, 429]);
/** Faults that the same request would meet again. */
const lasting = new Set(["denied", "invalid_url", "secret_missing"]);

/** Undefined for an item that was delivered: any 2xx is, and a redirect is not followed. */
export function pushVerdict(answer: PushAnswer, nowMs: number): PushFailure | undefined {
  if ("fault" in answer) {
    const { fault } = answer;
    return { retryable: !lasting.has(fault), reasonCode: fault, reason: "The recipient could not be reached." };
  }
  const { status, retryAfter } = answer;
  if (status >= 200 && status < 300) return undefined;
  const retryAfterMs = askedMs(retryAfter, nowMs);
  return {
    retryable: status >= 500 || passing.has(status),
    reasonCode: `http_${status}`,
    reason: `The recipient answered with ${status}.`,
    ...(retryAfterMs > 0 && { retryAfterMs: Math.min(retryAfterMs, retryAfterMaxMs) }),
  };
}

/** How long the other side asks to be left alone: it names seconds or a date. */
function askedMs(retryAfter: string | undefined, nowMs: number): number {
  if (retryAfter === undefined) return 0;
  const ms = /^\d+$/.test(retryAfter) ? Number(retryAfter) * 1000 : Date.parse(retryAfter) - nowMs;
  return Number.isNaN(ms) ? 0 : ms;
}
