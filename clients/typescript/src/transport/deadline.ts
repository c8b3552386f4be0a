/** An abort signal that also ends at a deadline, until it is released. */
export interface Deadline {
  readonly signal: AbortSignal;
  /** Whether the deadline, and not the caller, has ended it. */
  readonly isOver: () => boolean;
  remainingMs(): number;
  /** Ends the deadline and follows the caller's signal for as long as it lives: for a body that is read later. */
  keepSignal(): void;
  /** Ends everything that is not kept. */
  release(): void;
}

/** Creates a deadline. `AbortSignal.any` would keep a reference to every call in a signal that lives long. */
export function createDeadline(timeoutMs: number, outer?: AbortSignal): Deadline {
  const controller = new AbortController();
  const endsAt = performance.now() + timeoutMs;
  let isOver = false;
  let isKept = false;
  const onAbort = () => controller.abort(outer!.reason);
  if (outer?.aborted) onAbort();
  outer?.addEventListener("abort", onAbort, { once: true });
  const timer = Number.isFinite(timeoutMs)
    ? setTimeout(() => {
        isOver = true;
        controller.abort(new DOMException("the deadline is over", "TimeoutError"));
      }, timeoutMs)
    : undefined;
  return {
    signal: controller.signal,
    isOver: () => isOver,
    remainingMs: () => endsAt - performance.now(),
    keepSignal() {
      isKept = true;
      clearTimeout(timer);
    },
    release() {
      clearTimeout(timer);
      if (!isKept) outer?.removeEventListener("abort", onAbort);
    },
  };
}
