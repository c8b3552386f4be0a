import { errorCatalogue } from "../gen/errors.ts";
import { retryDelayMs } from "../transport/backoff.ts";
import { ApiError, BacklogError, ConnectionError, DeadlineError, isApiError } from "../transport/errors.ts";
import type { CallOptions } from "../transport/operation.ts";
import type { Transport } from "../transport/transport.ts";
import { BatchedCall } from "./batched-call.ts";

/** A method that sends one call. */
export type Method<Request, Result> = (request: Request, options?: CallOptions) => Promise<Result>;

/** How calls of an operation travel together. `texts` are the items as JSON. */
export interface BatchForm<Request, Scope, Result> {
  /** Divides a request into what a batch has once and its item; undefined if no batch can carry it. */
  divide(request: Request): readonly [scope: Scope, item: object] | undefined;
  /** Sends a batch. Returns one result for each item, in order. */
  send(scope: Scope, texts: readonly string[], options: CallOptions): Promise<readonly ItemResult<Result>[]>;
}

/**
 * The result of one item of a batch. again: the item had no effect and has to follow in the next batch. alone: the item was
 * refused, and only a call of its own says why.
 */
export type ItemResult<Result> = { readonly value: Result } | { readonly error: ItemError } | "again" | "alone";

/** Why an item was refused. */
export interface ItemError {
  readonly error_code: string;
  readonly error_message: string;
  readonly violations?: ApiError["violations"];
  readonly retry_after_s?: number;
}

/** Settings of the batches of a client. */
export interface BatchingOptions {
  /** The most calls that wait to be sent; default 10,000. Further calls fail with a `BacklogError`. */
  readonly waitingMax?: number;
}

/** The most characters of the items of one request. A character has at most three bytes, and a request at most 4 MiB. */
export const batchCharsMax = 1_000_000;

/** The most items of one request. */
const batchItemsMax = 1000;

/** Errors of a whole batch that one of its items, or their number, can cause. Nothing of the batch was applied. */
const itemCauses = [
  "INVALID_ARGUMENT",
  "FAILED_PRECONDITION",
  "PAYLOAD_TOO_LARGE",
  "QUOTA_EXCEEDED",
  "STREAM_QUOTA_EXHAUSTED",
] as const;

/** When a call is sent again: with the next batch, alone, or after a wait in milliseconds. */
type NextSend = "again" | "alone" | number;

/** Calls of one operation that can share a request, and what a request has once. */
interface Queue<Scope, Result> {
  readonly key: string;
  readonly scope: Scope;
  readonly timeoutMs: number;
  readonly waiting: Set<BatchedCall<Result>>;
}

/**
 * Creates a function that makes a method send its calls in batches. A queue has one request in flight, and what arrives
 * meanwhile is the next one. A call without company is the plain call.
 */
export function createBatcher(
  { backoff, maxRetries, timeoutMs: timeoutMsDefault }: Transport,
  { waitingMax = 10_000 }: BatchingOptions,
) {
  let waitingCount = 0;

  return function batchCalls<Request extends object, Scope extends object, Result>(
    method: Method<Request, Result>,
    form: BatchForm<Request, Scope, NoInfer<Result>>,
  ): Method<Request, Result> {
    type Call = BatchedCall<Result>;
    const queues = new Map<string, Queue<Scope, Result>>();

    function enqueue({ key, scope, timeoutMs }: Omit<Queue<Scope, Result>, "waiting">, call: Call): void {
      const { waiting } = queues.get(key) ?? openQueue({ key, scope, timeoutMs, waiting: new Set() });
      waiting.add(call);
      waitingCount++;
      call.onLeave = () => {
        if (waiting.delete(call)) waitingCount--;
      };
    }

    function openQueue(queue: Queue<Scope, Result>): Queue<Scope, Result> {
      queues.set(queue.key, queue);
      void sendAll(queue);
      return queue;
    }

    /** Sends calls until there are none, then closes the queue. */
    async function sendAll(queue: Queue<Scope, Result>): Promise<void> {
      // Callers that have just got their results can join the next batch within a turn of the event loop.
      for (await nextTurn(); queue.waiting.size > 0; await nextTurn()) await send(queue, take(queue));
      queues.delete(queue.key);
    }

    function take({ waiting }: Queue<Scope, Result>): readonly Call[] {
      const taken: Call[] = [];
      let chars = 0;
      for (const call of waiting) {
        chars += call.text.length;
        if (taken.length === batchItemsMax || (taken.length > 0 && chars > batchCharsMax)) break;
        waiting.delete(call);
        waitingCount--;
        taken.push(call);
      }
      return taken;
    }

    async function send(queue: Queue<Scope, Result>, taken: readonly Call[], isAlone = false): Promise<void> {
      const calls = taken.filter(({ isOver }) => !isOver);
      if (calls.length === 0) return;
      let requestId = "";
      const options: CallOptions = {
        signal: signalOf(calls),
        timeoutMs: Math.max(...calls.map(({ endsAtMs }) => endsAtMs)) - performance.now(),
        onResponse: (response) => {
          requestId = response.requestId;
        },
      };
      try {
        const [call] = calls;
        // A refused call stays in batches: the others would wait for the retries of a plain call.
        if (isAlone || (calls.length === 1 && call!.refusals === 0)) {
          const request = { ...queue.scope, ...JSON.parse(call!.text) } as unknown as Request;
          call!.resolve(await method(request, options));
          return;
        }
        const texts = calls.map(({ text }) => text);
        const results = await form.send(queue.scope, texts, options);
        // One random number, so that calls that are refused together return together.
        const random = Math.random();
        const groups = new Map<NextSend | undefined, Set<Call>>();
        for (const [at, each] of calls.entries()) {
          const next = settle(each, results[at]!, requestId, random);
          groups.set(next, (groups.get(next) ?? new Set()).add(each));
        }
        for (const [next, group] of groups) if (typeof next === "number") delay(queue, group, next);
        await send(queue, [...(groups.get("again") ?? [])]);
        for (const each of groups.get("alone") ?? []) await send(queue, [each], true);
      } catch (error) {
        if (calls.length > 1 && isCausedByItems(error)) {
          // Finds the cause in few requests, and keeps the order of the calls.
          const half = calls.length >> 1;
          await send(queue, calls.slice(0, half));
          await send(queue, calls.slice(half));
          return;
        }
        const reason = error instanceof DeadlineError ? new DeadlineError(queue.timeoutMs, error) : error;
        for (const call of calls) call.reject(reason);
      }
    }

    /** Ends a call with the result of its item, or returns when it has to be sent again. */
    function settle(call: Call, result: ItemResult<Result>, requestId: string, random: number): NextSend | undefined {
      if (call.isOver) return undefined;
      if (typeof result === "string") return result;
      if ("value" in result) {
        call.resolve(result.value);
        return undefined;
      }
      const error = toApiError(result.error, requestId);
      if (error === undefined) return "alone";
      if (error.retryable && ++call.refusals <= maxRetries) {
        const waitMs = retryDelayMs(backoff, call.refusals, error.retryAfterMs, random);
        if (waitMs < call.endsAtMs - performance.now()) return waitMs;
      }
      call.reject(error);
      return undefined;
    }

    /** Puts refused calls back into their queue after a wait, together. They count as waiting calls. */
    function delay(queue: Queue<Scope, Result>, calls: Set<Call>, waitMs: number): void {
      waitingCount += calls.size;
      const timer = setTimeout(() => {
        waitingCount -= calls.size;
        for (const call of calls) enqueue(queue, call);
      }, waitMs);
      for (const call of calls) {
        call.onLeave = () => {
          waitingCount--;
          calls.delete(call);
          if (calls.size === 0) clearTimeout(timer);
        };
      }
    }

    return async (request, options = {}) => {
      const { signal, timeoutMs = timeoutMsDefault, ...others } = options;
      const isPlain = Object.values(others).every((value) => value === undefined);
      const parts = isPlain ? form.divide(request) : undefined;
      if (parts === undefined) return method(request, options);
      signal?.throwIfAborted();
      if (waitingCount >= waitingMax) throw new BacklogError(waitingMax);
      const [scope, item] = parts;
      // The request is read now, as by a plain call: its caller may change it afterwards.
      const text = JSON.stringify(item);
      const key = `${timeoutMs} ${JSON.stringify(scope)}`;
      const call: Call = new BatchedCall(text, timeoutMs, signal);
      enqueue({ key, scope, timeoutMs }, call);
      return call.promise;
    };
  };
}

/** Whether one of the items of a batch, or their number, can be the cause. A proxy refuses large requests with a page. */
function isCausedByItems(error: unknown): boolean {
  return isApiError(error, ...itemCauses) || (error instanceof ConnectionError && error.status === 413);
}

/** A signal that is aborted when nobody waits for any of these calls any more. */
function signalOf(calls: readonly Pick<BatchedCall<unknown>, "onLeave">[]): AbortSignal {
  const controller = new AbortController();
  let wanted = calls.length;
  for (const call of calls) {
    call.onLeave = () => {
      if (--wanted === 0) controller.abort();
    };
  }
  return controller.signal;
}

/** The error that a single call would have got; undefined if this version of the client does not know it. */
function toApiError(error: ItemError, requestId: string): ApiError | undefined {
  const { error_code: errorCode, error_message: detail, violations = [], retry_after_s = 0 } = error;
  const entry = errorCatalogue[errorCode as keyof typeof errorCatalogue] as
    | { readonly status: number; readonly retryable: boolean; readonly title: string }
    | undefined;
  if (entry === undefined) return undefined;
  const problem = { ...entry, detail, errorCode, request_id: requestId, ...(violations.length > 0 && { violations }) };
  return new ApiError(entry.status, problem, retry_after_s > 0 ? retry_after_s * 1000 : undefined);
}

/** Resolves when what is ready to run has run. Browsers have only timers for that. */
function nextTurn(): Promise<void> {
  const { setImmediate = setTimeout } = globalThis as { readonly setImmediate?: (run: () => void) => unknown };
  return new Promise((resolve) => setImmediate(resolve));
}
