import type { Message } from "@bufbuild/protobuf";
import type { CallResponse } from "./call.ts";

interface ResponseObserver {
  /** Maps the error that the stream ends with. */
  readonly mapError?: (error: unknown) => unknown;
  /** Called once when the response ends, with its error, if any. */
  readonly onEnd?: (error: unknown) => void;
}

export function isStream(response: CallResponse): response is AsyncIterable<Message> {
  return Symbol.asyncIterator in response;
}

/** Observes the end of a response: immediately for one message, after the last message for a stream. */
export function observeResponse(
  response: CallResponse,
  { mapError = (error) => error, onEnd }: ResponseObserver,
): CallResponse {
  if (isStream(response)) return observeStream(response, mapError, onEnd);
  onEnd?.(undefined);
  return response;
}

// Not a generator: the `finally` of a generator that was never started never runs, and a caller may disconnect before the
// first message.
function observeStream(
  stream: AsyncIterable<Message>,
  mapError: (error: unknown) => unknown,
  onEnd: ((error: unknown) => void) | undefined,
): AsyncIterableIterator<Message> {
  const inner = stream[Symbol.asyncIterator]();
  let ended = false;
  const end = (error: unknown) => {
    if (!ended) onEnd?.(error);
    ended = true;
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

const writtenMessages = new WeakSet<Message>();

/** Records that a message of a stream was written to the connection. Every protocol adapter calls it. */
export function markWritten(message: Message): void {
  writtenMessages.add(message);
}

/**
 * Whether a message of a stream was written to the connection. A stream that is not read to its end does not know whether
 * its last message was dropped or written.
 */
export function wasWritten(message: Message): boolean {
  return writtenMessages.has(message);
}

const sharedMessages = new WeakSet<Message>();

/** Marks a message that many streams send, so that protocol adapters encode it once. It must not change any more. */
export function shareMessage(message: Message): void {
  sharedMessages.add(message);
}

/**
 * Wraps an encoder of messages: a shared message is encoded once, and its frame is kept as long as the message. Encodes every
 * other message anew.
 */
export function encodeOnce<Frame>(encode: (message: Message) => Frame): (message: Message) => Frame {
  const frames = new WeakMap<Message, Frame>();
  return (message) => {
    if (!sharedMessages.has(message)) return encode(message);
    const known = frames.get(message);
    if (known !== undefined) return known;
    const frame = encode(message);
    frames.set(message, frame);
    return frame;
  };
}

/** Ends the producer of a stream that will not be read. */
export function cancelStream(stream: AsyncIterable<Message>): void {
  stream[Symbol.asyncIterator]()
    .return?.()
    .catch(() => {});
}

/**
 * Ends a stream with an error when its caller loses access. Access is checked before every message, and every second
 * between messages.
 */
export function guardStream(
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
