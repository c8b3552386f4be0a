/** REST: every operation at the paths of its definition, derived from nothing else. */
import type { Call, Next } from "../../chain/call.ts";
import { isStream } from "../../chain/stream.ts";
import type { HttpBinding, Operation } from "../../definitions/index.ts";
import { Failure, fail } from "../../errors/index.ts";
import { type Exchange, headerOf, newCall, writeHead } from "../exchange.ts";
import { problemJson } from "./problem.ts";
import { type RequestReader, requestReader } from "./request.ts";
import { type RestResponse, responseWriter } from "./response.ts";
import { createRouter, type Match } from "./router.ts";
import { type EventStreamWriter, eventStreamWriter } from "./sse.ts";

interface Route {
  readonly operation: Operation;
  readonly read: RequestReader;
  readonly write: ReturnType<typeof responseWriter>;
  readonly stream: EventStreamWriter | undefined;
}

interface Options {
  readonly operations: readonly Operation[];
  readonly invoke: Next;
  readonly errorsUrl: () => string;
}

/** Answers REST requests; false when no operation has the path. */
export interface RestHandler {
  handle(exchange: Exchange): Promise<boolean>;
  refuse(exchange: Exchange, failure: Failure): void;
}

/** Serves operations as REST. */
export function createRestHandler({ operations, invoke, errorsUrl }: Options): RestHandler {
  const router = createRouter(
    operations.flatMap((operation) => operation.bindings.map((binding) => routeOf(operation, binding))),
  );

  function refuse(exchange: Exchange, failure: Failure, call?: Call): void {
    send(
      exchange,
      failure.entry.http,
      { ...call?.responseHeaders, ...failure.headers },
      {
        contentType: "application/problem+json",
        body: problemJson(failure, errorsUrl(), call?.requestId ?? ""),
      },
    );
  }

  async function serve(exchange: Exchange, { target, variables }: Match<Route>): Promise<void> {
    const call = newCall(exchange, target.operation, "rest", () => target.read(exchange, variables));
    try {
      const answer = await invoke(call);
      if (isStream(answer)) {
        await target.stream!(exchange, call.responseHeaders, answer, errorsUrl(), call.requestId);
      } else {
        respond(exchange, call, target.write(call, answer));
      }
    } catch (error) {
      refuse(exchange, error instanceof Failure ? error : fail("INTERNAL", { cause: error }), call);
    }
  }

  return {
    refuse,
    async handle(exchange) {
      let found: ReturnType<typeof router.find>;
      try {
        found = router.find(exchange.request.method!, exchange.path);
      } catch (error) {
        refuse(exchange, error as Failure);
        return true;
      }
      if (found === undefined) return false;
      if ("allow" in found) {
        const allow = found.allow.join(", ");
        refuse(exchange, fail("METHOD_NOT_ALLOWED", { public: `This path takes ${allow}.`, headers: { allow } }));
      } else {
        await serve(exchange, found);
      }
      return true;
    },
  };
}

function routeOf(operation: Operation, binding: HttpBinding): { verb: string; path: string; target: Route } {
  return {
    verb: binding.verb,
    path: binding.path,
    target: {
      operation,
      read: requestReader(operation, binding),
      write: responseWriter(operation, binding),
      stream: operation.streaming ? eventStreamWriter(operation, binding) : undefined,
    },
  };
}

function respond(exchange: Exchange, call: Call, { etag, ...response }: RestResponse): void {
  const headers = call.responseHeaders;
  if (etag !== undefined) {
    headers.etag = etag;
    if (exchange.request.method === "GET" && headerOf(exchange.request, "if-none-match") === etag) {
      writeHead(exchange, 304, headers);
      exchange.response.end();
      return;
    }
  }
  send(exchange, 200, headers, response);
}

function send(
  exchange: Exchange,
  status: number,
  headers: Record<string, string>,
  { contentType, body }: RestResponse,
): void {
  const { request, response } = exchange;
  headers["content-type"] = contentType;
  headers["content-length"] = String(Buffer.byteLength(body));
  headers["cache-control"] ??= "no-store";
  // The rest of an unread body would have to be taken in before the connection could be used again.
  if (!request.complete && request.httpVersionMajor === 1 && status === 413) headers.connection = "close";
  writeHead(exchange, status, headers);
  response.end(request.method === "HEAD" ? "" : body);
}
