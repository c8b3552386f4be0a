import { retryDelayMs, sleep } from "../transport/backoff.ts";
import { ApiError, ConnectionError, parseProblem, SwitchyardError } from "../transport/errors.ts";
import type { CallOptions, Operation } from "../transport/operation.ts";
import type { Transport } from "../transport/transport.ts";
import { createSseParser, type ServerSentEvent } from "./sse-parser.ts";

/**
 * Messages that the service sends as they happen. A connection that fails or ends is opened again after the last message that
 * was received, until the loop or the signal ends it. The iteration ends when the service says that the stream is complete.
 */
export interface EventStream<Message> extends AsyncIterable<Message> {
  /** The id of the last message, with which another stream continues; empty before the first. */
  readonly lastEventId: string;
}

/** The service sends a comment every 15 seconds. A connection that is silent for longer is dead. */
const silenceMaxMs = 45_000;

/** Creates the stream of a call. Nothing is sent before it is read. */
export function createEventStream<Message>(
  transport: Transport,
  operation: Operation,
  request: object,
  options: CallOptions = {},
): EventStream<Message> {
  let lastEventId = "";

  async function* messages(): AsyncGenerator<Message> {
    for (let failures = 0; ; ) {
      const connection = new AbortController();
      const abort = () => connection.abort(options.signal!.reason);
      if (options.signal?.aborted) abort();
      options.signal?.addEventListener("abort", abort, { once: true });
      try {
        const headers = { ...options.headers, accept: "text/event-stream" };
        const resumed = lastEventId === "" ? headers : { ...headers, "last-event-id": lastEventId };
        const call = { ...options, headers: resumed, signal: connection.signal, maxRetries: 0 };
        const response = await transport.open(operation, request, call);
        for await (const { id, type, data } of readEvents(response, connection)) {
          if (type === "error") throw toApiError(data);
          if (type === "end") return;
          // Types that a later version of the service may add.
          if (type !== "message") continue;
          failures = 0;
          lastEventId = id;
          yield JSON.parse(data) as Message;
        }
        // A node that stops closes its connections. Another node continues.
        throw new ConnectionError("the connection ended before the stream was complete");
      } catch (error) {
        options.signal?.throwIfAborted();
        if (error instanceof SwitchyardError && !error.retryable) throw error;
        if (!(error instanceof SwitchyardError || isConnectionFailure(error))) throw error;
        failures++;
        const retryAfterMs = (error as ApiError).retryAfterMs;
        await sleep(retryDelayMs(transport.backoff, failures, retryAfterMs, Math.random()), options.signal);
      } finally {
        options.signal?.removeEventListener("abort", abort);
        // Closes the connection when the loop that reads the stream ends.
        connection.abort();
      }
    }
  }

  return {
    get lastEventId() {
      return lastEventId;
    },
    [Symbol.asyncIterator]: messages,
  };
}

/** Reads the events of a response. Aborts the connection when it is silent for too long. */
async function* readEvents(response: Response, connection: AbortController): AsyncGenerator<ServerSentEvent> {
  const parse = createSseParser();
  const decoder = new TextDecoder();
  const reader = response.body!.getReader();
  const giveUp = () => connection.abort(new ConnectionError(`no data within ${silenceMaxMs} ms`));
  let silence = setTimeout(giveUp, silenceMaxMs);
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      clearTimeout(silence);
      yield* parse(decoder.decode(value, { stream: true }));
      // A reader that is slow to take events does not count as silence.
      silence = setTimeout(giveUp, silenceMaxMs);
    }
  } finally {
    clearTimeout(silence);
    reader.cancel().catch(() => {});
  }
}

function toApiError(data: string): ApiError | ConnectionError {
  const problem = parseProblem(data);
  return problem === undefined
    ? new ConnectionError("the stream ended with an error that cannot be read")
    : new ApiError(Number(problem.status ?? 500), problem);
}

function isConnectionFailure(error: unknown): boolean {
  return error instanceof TypeError || (error instanceof DOMException && error.name === "AbortError");
}
