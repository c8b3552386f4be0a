/** REST: serves every operation at the HTTP paths of its definition. */
import type { Message } from "@bufbuild/protobuf";
import type { Call, Next } from "../../chain/call.ts";
import { isGuardedOperation } from "../../chain/corrections.ts";
import { requestIdFrom } from "../../chain/steps/request-id.ts";
import { cancelStream, isStream } from "../../chain/stream.ts";
import {
  findUpdatedRecord,
  type HttpBinding,
  type Operation,
  restNameOf,
  type UpdatedRecord,
} from "../../definitions/index.ts";
import { type Correction, Failure, fail } from "../../errors/index.ts";
import { createCall, declaresOversizedBody, type Exchange, headerOf, writeHead } from "../exchange.ts";
import { matchesEtag, writeByteStream } from "./byte-stream.ts";
import { createNearestPath } from "./nearest-path.ts";
import { toProblemJson } from "./problem.ts";
import { createRequestReader, type RequestReader } from "./request.ts";
import { createResponseWriter, type RestResponse } from "./response.ts";
import { createRouter, type Match } from "./router.ts";
import { createEventStreamWriter, type EventStreamWriter, eventStreamType } from "./sse.ts";

interface Route {
  readonly operation: Operation;
  readonly read: RequestReader;
  readonly write: ReturnType<typeof createResponseWriter>;
  readonly stream: EventStreamWriter | undefined;
}

interface Options {
  readonly operations: readonly Operation[];
  readonly invoke: Next;
  readonly errorsUrl: () => string;
}

/** Handles REST requests. `handle` returns false if no operation has the path. */
export type RestHandler = ReturnType<typeof createRestHandler>;

/** Creates a handler that serves operations as REST. */
export function createRestHandler({ operations, invoke, errorsUrl }: Options) {
  const router = createRouter(
    operations.flatMap((operation) => {
      const updated = findUpdatedRecord(operation, operations);
      return operation.bindings.map((binding) => routeOf(operation, binding, updated));
    }),
  );

  const nearestPath = createNearestPath(operations);

  function refuse(exchange: Exchange, failure: Failure, call?: Call): void {
    // A request that is refused before it becomes a call gets an id too.
    const requestId = call?.requestId || requestIdFrom(headerOf(exchange.request, "x-request-id"));
    const shown = call?.operation.paging === undefined ? failure : withRestPagingNames(failure);
    send(
      exchange,
      failure.entry.http,
      { "x-request-id": requestId, ...call?.responseHeaders, ...failure.headers },
      { contentType: "application/problem+json", body: toProblemJson(shown, errorsUrl(), requestId) },
    );
  }

  async function serve(exchange: Exchange, { target, variables }: Match<Route>): Promise<true> {
    if (target.operation.rawBodyBytesMax !== undefined) exchange.bodyBytesMax = target.operation.rawBodyBytesMax;
    const call = createCall(exchange, target.operation, "rest", (charge) =>
      target.read(exchange, variables, charge, (returned) => {
        call.returned = returned;
      }),
    );
    try {
      const response = await invoke(call);
      if (isStream(response)) {
        if (target.operation.streamsBytes) await writeByteStream(exchange, call.responseHeaders, response);
        else if (exchange.request.method === "HEAD") respondToHead(exchange, call, response);
        else await target.stream!(exchange, call, response, errorsUrl());
      } else {
        const written = target.write(call, response);
        respond(exchange, call, written instanceof Promise ? await written : written);
      }
    } catch (error) {
      const failure = error instanceof Failure ? error : fail("INTERNAL", { cause: error });
      refuse(exchange, isCreateConflict(exchange, failure) ? alreadyExists(failure) : failure, call);
    }
    return true;
  }

  /** The method that was meant, if only one can be. Deleting is never proposed, nor anything instead of it. */
  function methodCorrections({ request, path }: Exchange, allowed: readonly string[]): Correction[] {
    const isUpdate = request.method === "PUT" || request.method === "PATCH";
    const meant = allowed.filter((each) => each !== "DELETE" && (!isUpdate || each === "PUT" || each === "PATCH"));
    if (request.method === "DELETE" || meant.length !== 1) return [];
    const value = meant[0]!;
    const found = router.find(value, path);
    if (found === undefined || "allow" in found || isGuardedOperation(found.target.operation)) return [];
    return [{ field: "method", kind: "wrong_method", in: "method", value, confidence: "likely" }];
  }

  return {
    refuse,
    /** Creates the failure of a path that nothing handles. */
    noSuchPath({ request, path }: Exchange): Failure {
      const near = nearestPath(request.method === "HEAD" ? "GET" : request.method!, path);
      if (near === undefined) {
        return fail("ROUTE_NOT_FOUND", { public: "No operation has this path. The paths are listed at /docs." });
      }
      return fail("ROUTE_NOT_FOUND", {
        public: `No operation has this path. Did you mean ${near}? The paths are listed at /docs.`,
        corrections: [{ field: "path", kind: "unknown_path", in: "path", value: near, confidence: "likely" }],
      });
    },
    handle(exchange: Exchange): boolean | Promise<boolean> {
      const found = router.find(exchange.request.method!, exchange.path);
      if (found === undefined) return false;
      if (!("allow" in found)) return serve(exchange, found);
      const allow = found.allow.join(", ");
      const corrections = methodCorrections(exchange, found.allow);
      const text = `This path accepts only ${allow}.`;
      refuse(exchange, fail("METHOD_NOT_ALLOWED", { public: text, corrections, headers: { allow } }));
      return true;
    },
  };
}

function routeOf(operation: Operation, binding: HttpBinding, updated: UpdatedRecord | undefined) {
  return {
    verb: binding.verb,
    path: binding.path,
    target: {
      operation,
      read: createRequestReader(operation, binding, updated),
      write: createResponseWriter(operation, binding),
      stream: operation.streaming ? createEventStreamWriter(operation, binding) : undefined,
    },
  };
}

function respond(exchange: Exchange, call: Call, response: RestResponse): void {
  const headers = call.responseHeaders;
  const { etag } = response;
  if (etag !== undefined) {
    headers.etag = etag;
    const { request } = exchange;
    if (
      (request.method === "GET" || request.method === "HEAD") &&
      matchesEtag(headerOf(request, "if-none-match"), etag)
    ) {
      writeHead(exchange, 304, headers);
      exchange.response.end();
      return;
    }
  }
  send(exchange, 200, headers, response);
}

/** Whether a create-only PUT (`If-None-Match: *`) found an existing record. */
function isCreateConflict({ request }: Exchange, { code }: Failure): boolean {
  return code === "VERSION_CONFLICT" && request.method === "PUT" && headerOf(request, "if-none-match") !== undefined;
}

function alreadyExists({ extra, cause }: Failure): Failure {
  return fail("FAILED_PRECONDITION", {
    public: "The record already exists, and If-None-Match: * forbids replacing it.",
    extra,
    cause,
  });
}

/** Responds to HEAD on a stream with the headers only, and cancels the stream. */
function respondToHead(exchange: Exchange, call: Call, stream: AsyncIterable<Message>): void {
  writeHead(exchange, 200, { ...call.responseHeaders, "content-type": eventStreamType, "cache-control": "no-store" });
  exchange.response.end();
  cancelStream(stream);
}

/** Renames paging fields in a failure to their REST names. */
export function withRestPagingNames(failure: Failure): Failure {
  const { code, message, violations, corrections, headers, extra, cause } = failure;
  if (violations.length === 0) return failure;
  const [first] = violations;
  const text =
    first!.rule !== "unknown_field" && message.startsWith(`${first!.field}:`)
      ? restNameOf(first!.field) + message.slice(first!.field.length)
      : message;
  // An unknown field keeps the name that the caller sent.
  const renamed = violations.map((each) =>
    each.rule === "unknown_field" ? each : { ...each, field: restNameOf(each.field) },
  );

  return fail(code, { public: text, violations: renamed, corrections, headers, extra, cause });
}

function send(
  exchange: Exchange,
  status: number,
  headers: Record<string, string>,
  { contentType, body }: RestResponse,
): void {
  const { request, response } = exchange;
  // A long text is encoded once, instead of once to count its bytes and once to send them. A short text stays a string, so
  // that it is sent in one write with the headers.
  const sent = typeof body === "string" && body.length > longTextMin ? Buffer.from(body) : body;
  headers["content-type"] = contentType;
  headers["content-length"] = String(Buffer.byteLength(sent));
  headers["cache-control"] ??= "no-store";
  // Reusing the connection would require reading the rest of the body.
  if (!request.complete && request.httpVersionMajor === 1) {
    if (status === 408 || status === 413 || declaresOversizedBody(exchange)) headers.connection = "close";
  }
  writeHead(exchange, status, headers);
  response.end(request.method === "HEAD" ? "" : sent);
}

const longTextMin = 16 * 1024;
