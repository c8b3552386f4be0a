import type { Message } from "@bufbuild/protobuf";
import type { Answer } from "./call.ts";

interface Watch {
  /** Replaces an error that the stream ends with. */
  readonly mapError?: (error: unknown) => unknown;
  /** Called once when the answer is over, with the error it ended with, if any. */
  readonly onEnd?: (error: unknown) => void;
}

/** Whether an answer is a stream of messages. */
export function isStream(answer: Answer): answer is AsyncIterable<Message> {
  return Symbol.asyncIterator in answer;
}

/** Watches an answer to its end: for one message that is now, for a stream when the last one was taken. */
export function watch(answer: Answer, { mapError = (error) => error, onEnd }: Watch): Answer {
  if (isStream(answer)) return watchStream(answer, mapError, onEnd);
  onEnd?.(undefined);
  return answer;
}

// Written out, because a generator that was never begun never runs its end: a caller may leave before its first message.
function watchStream(
  stream: AsyncIterable<Message>,
  mapError: (error: unknown) => unknown,
  onEnd: ((error: unknown) => void) | undefined,
): AsyncIterableIterator<Message> {
  const inner = stream[Symbol.asyncIterator]();
  let over = false;
  const end = (error: unknown) => {
    if (!over) onEnd?.(error);
    over = true;
  };
  return {
    [Symbol.asyncIterator]() {
      return this;
    },
    async next() {
      try {
        const step = await inner.next();
        if (step.done) end(undefined);
        return step;
      } catch (error) {
        const mapped = mapError(error);
        end(mapped);
        throw mapped;
      }
    },
    async return(value) {
      end(undefined);
      await inner.return?.();
      return { done: true, value };
    },
  };
}

/** Lets go of whoever produces a stream that nobody will read. */
export function letGo(stream: AsyncIterable<Message>): void {
  stream[Symbol.asyncIterator]()
    .return?.()
    .catch(() => {});
}

/**
 * Passes a stream on for as long as its caller keeps its access. Access is checked before every message, and every
 * second while there is none.
 */
export function whileAllowed(
  stream: AsyncIterable<Message>,
  recheck: () => Promise<void>,
  everyMs = 1000,
): AsyncIterableIterator<Message> {
  const inner = stream[Symbol.asyncIterator]();
  let denied: { readonly error: unknown } | undefined;
  let interrupt: (error: unknown) => void = () => {};
  const timer = setInterval(() => {
    recheck().catch((error: unknown) => {
      denied = { error };
      // Also when nobody waits for a message: the next one who does is told.
      clearInterval(timer);
      interrupt(error);
    });
  }, everyMs);
  const end = () => {
    clearInterval(timer);
    inner.return?.().catch(() => {});
  };
  return {
    [Symbol.asyncIterator]() {
      return this;
    },
    next: () =>
      new Promise((resolve, reject) => {
        interrupt = (error) => {
          end();
          reject(error);
        };
        if (denied !== undefined) return interrupt(denied.error);
        inner
          .next()
          .then(async (step) => {
            if (step.done) end();
            else await recheck();
            resolve(step);
          })
          .catch(interrupt);
      }),
    async return(value) {
      end();
      return { done: true, value };
    },
  };
}
