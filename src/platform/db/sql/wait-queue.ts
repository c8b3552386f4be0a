import type { Connection } from "./connection.ts";
import { waitQueueFull, waitTimedOut } from "./connection-error.ts";

/** A call that can be aborted while it waits. Its signal is read only when it has to wait. */
export interface Abortable {
  readonly signal: AbortSignal;
}

/** A caller that waits for a connection, shared or exclusive. */
export interface Waiter {
  readonly isExclusive: boolean;
  /** The waiting call; it leaves the queue when its signal is aborted. */
  readonly caller?: Abortable | undefined;
  use(connection: Connection): void;
  fail(error: Error): void;
}

/** The maximum number of waiters and the maximum wait. */
export interface WaitLimits {
  readonly waitersMax: number;
  readonly waitMs: number;
}

interface Watched {
  readonly deadlineMs: number;
  /** Stops listening to the caller's signal. */
  readonly unwatch: () => void;
}

/**
 * The callers that wait for a connection, in order. All have the same maximum wait, so the first one is always the first to
 * reach its deadline, and one timer is enough.
 */
export class WaitQueue {
  private readonly limits: WaitLimits;
  private readonly onLeft: () => void;
  private readonly waiters = new Map<Waiter, Watched | undefined>();
  private timer: NodeJS.Timeout | undefined;

  /** `onLeft` is called after waiters have left without a connection. */
  constructor(limits: WaitLimits, onLeft: () => void) {
    this.limits = limits;
    this.onLeft = onLeft;
  }

  get size(): number {
    return this.waiters.size;
  }

  /** The next waiter. */
  get first(): Waiter | undefined {
    return this.waiters.keys().next().value;
  }

  /** Adds a waiter, or fails it when the queue is full. */
  add(waiter: Waiter): void {
    if (this.waiters.size >= this.limits.waitersMax) waiter.fail(waitQueueFull(this.limits.waitersMax));
    else this.waiters.set(waiter, undefined);
  }

  /** Starts the deadline of a waiter that was not served immediately, and listens to its caller's signal. */
  watch(waiter: Waiter): void {
    if (!this.waiters.has(waiter)) return;
    const signal = waiter.caller?.signal;
    const leave = () => this.leave(waiter, signal!.reason);
    if (signal?.aborted) {
      leave();
      return;
    }
    signal?.addEventListener("abort", leave, { once: true });
    const unwatch = () => signal?.removeEventListener("abort", leave);
    this.waiters.set(waiter, { deadlineMs: performance.now() + this.limits.waitMs, unwatch });
    this.startTimer(this.limits.waitMs);
  }

  /** Removes the first waiter. */
  shift(): Waiter | undefined {
    const { first } = this;
    if (first !== undefined) this.remove(first);
    return first;
  }

  /** Fails the first `count` waiters; all by default. */
  fail(error: Error, count = this.waiters.size): void {
    for (let i = 0; i < count; i++) this.shift()?.fail(error);
  }

  private remove(waiter: Waiter): void {
    this.waiters.get(waiter)?.unwatch();
    this.waiters.delete(waiter);
    if (this.waiters.size > 0) return;
    clearTimeout(this.timer);
    this.timer = undefined;
  }

  private leave(waiter: Waiter, reason: Error): void {
    this.remove(waiter);
    waiter.fail(reason);
    this.onLeft();
  }

  private startTimer(ms: number): void {
    if (ms === Number.POSITIVE_INFINITY) return;
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      this.expire();
    }, ms);
  }

  private expire(): void {
    const nowMs = performance.now();
    for (const [waiter, watched] of this.waiters) {
      // A waiter without a deadline is just being added.
      const leftMs = (watched?.deadlineMs ?? Number.POSITIVE_INFINITY) - nowMs;
      if (leftMs > 0) {
        // A timer can fire a fraction of a millisecond early.
        this.startTimer(Math.ceil(leftMs));
        return;
      }
      this.leave(waiter, waitTimedOut(this.limits.waitMs));
    }
  }
}
