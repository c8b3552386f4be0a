/** An abort signal that also ends at a deadline, until it is released. */
export interface Deadline {
  readonly signal: AbortSignal;
  /** Whether the deadline, and not the caller, has ended it. */
  readonly isOver: () => boolean;
  remainingMs(): number;
  /** Ends the deadline; the caller's signal still counts. */
  clearTimer(): void;
  /** Removes everything that refers to the caller's signal. */
  release(): void;
}

/** Creates a deadline. `AbortSignal.any` would keep a reference to every call in a signal that lives long. */
export function createDeadline(timeoutMs: number, outer?: AbortSignal): Deadline {
  const controller = new AbortController();
  const endsAt = performance.now() + timeoutMs;
  let isOver = false;
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
    clearTimer: () => clearTimeout(timer),
    release() {
      clearTimeout(timer);
      outer?.removeEventListener("abort", onAbort);
    },
  };
}
