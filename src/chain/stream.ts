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

async function* watchStream(
  stream: AsyncIterable<Message>,
  mapError: (error: unknown) => unknown,
  onEnd: ((error: unknown) => void) | undefined,
): AsyncGenerator<Message> {
  let ended: unknown;
  try {
    yield* stream;
  } catch (error) {
    ended = mapError(error);
    throw ended;
  } finally {
    onEnd?.(ended);
  }
}
