import { DeadlineError } from "../transport/errors.ts";

/** A call that waits for its batch or for its result. Its own signal and deadline end it without the others. */
export class BatchedCall<Result> {
  /** The item as JSON. */
  readonly text: string;
  readonly endsAtMs: number;
  readonly promise: Promise<Result>;
  isOver = false;
  /** How often the service has refused it for now. */
  refusals = 0;
  /** Is called when the signal or the deadline ends the call. */
  onLeave = () => {};
  readonly #signal: AbortSignal | undefined;
  readonly #timer: ReturnType<typeof setTimeout> | undefined;
  readonly #onAbort = () => this.#leave(this.#signal!.reason);
  #fulfil!: (result: Result) => void;
  #fail!: (reason: unknown) => void;

  constructor(text: string, timeoutMs: number, signal: AbortSignal | undefined) {
    this.text = text;
    this.endsAtMs = performance.now() + timeoutMs;
    this.promise = new Promise((resolve, reject) => {
      this.#fulfil = resolve;
      this.#fail = reject;
    });
    this.#signal = signal;
    signal?.addEventListener("abort", this.#onAbort, { once: true });
    if (Number.isFinite(timeoutMs)) {
      this.#timer = setTimeout(() => this.#leave(new DeadlineError(timeoutMs)), timeoutMs);
    }
  }

  resolve(result: Result): void {
    this.#end();
    this.#fulfil(result);
  }

  reject(reason: unknown): void {
    this.#end();
    this.#fail(reason);
  }

  #leave(reason: unknown): void {
    if (this.isOver) return;
    this.reject(reason);
    this.onLeave();
  }

  #end(): void {
    this.isOver = true;
    clearTimeout(this.#timer);
    this.#signal?.removeEventListener("abort", this.#onAbort);
  }
}
