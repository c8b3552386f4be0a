/** REST: every operation at the paths of its definition, derived from nothing else. */
import type { Message } from "@bufbuild/protobuf";
import type { Call, Next } from "../../chain/call.ts";
import { requestIdFrom } from "../../chain/steps/request-id.ts";
import { isStream, letGo } from "../../chain/stream.ts";
import type { HttpBinding, Operation } from "../../definitions/index.ts";
import { Failure, fail } from "../../errors/index.ts";
import { announcesTooMuch, type Exchange, headerOf, newCall, writeHead } from "../exchange.ts";
import { problemJson } from "./problem.ts";
import { pagingNames, type RequestReader, requestReader } from "./request.ts";
import { type RestResponse, responseWriter } from "./response.ts";
import { createRouter, type Match } from "./router.ts";
import { type EventStreamWriter, eventStreamType, eventStreamWriter } from "./sse.ts";

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
    // What is refused before it becomes a call has an id too.
    const requestId = call?.requestId || requestIdFrom(headerOf(exchange.request, "x-request-id"));
    const shown = call?.operation.paging === undefined ? failure : inPagingNames(failure);
    send(
      exchange,
      failure.entry.http,
      { "x-request-id": requestId, ...call?.responseHeaders, ...failure.headers },
      { contentType: "application/problem+json", body: problemJson(shown, errorsUrl(), requestId) },
    );
  }

  async function serve(exchange: Exchange, { target, variables }: Match<Route>): Promise<void> {
    const call = newCall(exchange, target.operation, "rest", (charge) => target.read(exchange, variables, charge));
    try {
      const answer = await invoke(call);
      if (isStream(answer)) {
        if (exchange.request.method === "HEAD") endStream(exchange, call, answer);
        else await target.stream!(exchange, call.responseHeaders, answer, errorsUrl(), call.requestId);
      } else {
        respond(exchange, call, target.write(call, answer));
      }
    } catch (error) {
      const failure = error instanceof Failure ? error : fail("INTERNAL", { cause: error });
      refuse(exchange, isExistingRecord(exchange, failure) ? existingRecord(failure) : failure, call);
    }
  }

  return {
    refuse,
    async handle(exchange) {
      const found = router.find(exchange.request.method!, exchange.path);
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
    const { request } = exchange;
    if ((request.method === "GET" || request.method === "HEAD") && isKnown(headerOf(request, "if-none-match"), etag)) {
      writeHead(exchange, 304, headers);
      exchange.response.end();
      return;
    }
  }
  send(exchange, 200, headers, response);
}

/** Whether a PUT that may only create met a record. */
function isExistingRecord({ request }: Exchange, { code }: Failure): boolean {
  return code === "VERSION_CONFLICT" && request.method === "PUT" && headerOf(request, "if-none-match") !== undefined;
}

function existingRecord({ extra, cause }: Failure): Failure {
  return fail("FAILED_PRECONDITION", {
    public: "There is a record already, and If-None-Match: * asks not to replace it.",
    extra,
    cause,
  });
}

/** Whether the caller has this version already: If-None-Match lists tags, weak ones included, or is a star. */
function isKnown(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  return ifNoneMatch.split(",").some((each) => each.trim() === "*" || each.trim().replace(/^W\//, "") === etag);
}

/** Answers HEAD on a stream: its head and nothing more, and whoever produces it is let go. */
function endStream(exchange: Exchange, call: Call, stream: AsyncIterable<Message>): void {
  writeHead(exchange, 200, { ...call.responseHeaders, "content-type": eventStreamType, "cache-control": "no-store" });
  exchange.response.end();
  letGo(stream);
}

/** The failure with the names that REST has for paging. */
function inPagingNames(failure: Failure): Failure {
  const { code, message, violations, headers, extra, cause } = failure;
  if (violations.length === 0) return failure;
  const restName = (field: string) => [...pagingNames].find(([, name]) => name === field)?.[0] ?? field;
  const [first] = violations;
  const text =
    first!.rule !== "unknown_field" && message.startsWith(`${first!.field}:`)
      ? restName(first!.field) + message.slice(first!.field.length)
      : message;
  // A name that REST does not have is shown as it was sent.
  const renamed = violations.map((each) =>
    each.rule === "unknown_field" ? each : { ...each, field: restName(each.field) },
  );
  return fail(code, { public: text, violations: renamed, headers, extra, cause });
}

function send(
  exchange: Exchange,
  status: number,
  headers: Record<string, string>,
  { contentType, body }: RestResponse,
): void {
  const { request, response } = exchange;
  // A long text is turned into bytes once, instead of once to count them and once to send them. A short one stays a text:
  // so it goes out in one write with its head.
  const sent = typeof body === "string" && body.length > longTextMin ? Buffer.from(body) : body;
  headers["content-type"] = contentType;
  headers["content-length"] = String(Buffer.byteLength(sent));
  headers["cache-control"] ??= "no-store";
  // The rest of an unread body would have to be taken in before the connection could be used again.
  if (!request.complete && request.httpVersionMajor === 1) {
    if (status === 408 || status === 413 || announcesTooMuch(exchange)) headers.connection = "close";
  }
  writeHead(exchange, status, headers);
  response.end(request.method === "HEAD" ? "" : sent);
}

const longTextMin = 16 * 1024;
