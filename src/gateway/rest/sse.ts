import type { Message } from "@bufbuild/protobuf";
import type { Call } from "../../chain/call.ts";
import { encodeOnce, markWritten } from "../../chain/stream.ts";
import type { HttpBinding, Operation } from "../../definitions/index.ts";
import { Failure, fail } from "../../errors/index.ts";
import { createJsonEncoder } from "../../platform/protojson/index.ts";
import { type Exchange, writeHead } from "../exchange.ts";
import { interruptible } from "../interrupt.ts";
import { toProblemJson } from "./problem.ts";

/** The content type of server-sent events. */
export const eventStreamType = "text/event-stream";
const heartbeatMs = 15_000;

/** Writes a stream of messages as server-sent events. */
export type EventStreamWriter = (
  exchange: Exchange,
  call: Pick<Call, "responseHeaders" | "requestId" | "signal">,
  stream: AsyncIterable<Message>,
  errorsUrl: string,
) => Promise<void>;

/**
 * Creates the writer of a streaming operation: `id` is the message's cursor, id or sequence, `data` its JSON. A stream that is complete
 * ends with an event of the type `end`. After any other end, the client resumes it.
 */
export function createEventStreamWriter({ method }: Operation, binding: HttpBinding): EventStreamWriter {
  const field = method.output.fields.find((each) => each.name === binding.responseBody);
  const desc = field?.message ?? method.output;
  const encode = createJsonEncoder(desc, "proto");
  const idName = (desc.field.cursor ?? desc.field.id ?? desc.field.sequence)?.localName;
  const frameOf = encodeOnce((message) => {
    const record = (field === undefined ? message : fieldOf(message, field.localName)) as Message;
    const id = idName === undefined ? "" : `id: ${fieldOf(record, idName)}\n`;
    return `${id}data: ${encode(record)}\n\n`;
  });

  return async (exchange, { responseHeaders, requestId, signal }, stream, errorsUrl) => {
    const { response } = exchange;
    const write = (text: string) => (response as NodeJS.WritableStream).write(text);
    writeHead(exchange, 200, { ...responseHeaders, "content-type": eventStreamType, "cache-control": "no-store" });
    write(": connected\n\n");
    const heartbeat = setInterval(() => write(": heartbeat\n\n"), heartbeatMs);
    const iterator = stream[Symbol.asyncIterator]();
    const disconnected = new AbortController();
    response.once("close", () => disconnected.abort(fail("CANCELED")));
    const whileOpen = interruptible(disconnected.signal);
    try {
      for (;;) {
        const next = await whileOpen(iterator.next());
        if (next.done) {
          // A node that stops ends its streams, too.
          if (!signal.aborted) write("event: end\ndata: {}\n\n");
          break;
        }
        const flowing = write(frameOf(next.value));
        markWritten(next.value);
        if (!flowing) await whileOpen(drained(response));
      }
    } catch (error) {
      const failure = error instanceof Failure ? error : fail("INTERNAL");
      if (!disconnected.signal.aborted)
        write(`event: error\ndata: ${toProblemJson(failure, errorsUrl, requestId)}\n\n`);
    } finally {
      clearInterval(heartbeat);
      iterator.return?.().catch(() => {});
      response.end();
    }
  };
}

function fieldOf(message: Message, name: string): unknown {
  return (message as unknown as Record<string, unknown>)[name];
}

function drained(response: Exchange["response"]): Promise<void> {
  return new Promise((resolve) => response.once("drain", resolve));
}
