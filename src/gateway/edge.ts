import type { IncomingMessage, ServerResponse } from "node:http";
import type { Http2ServerRequest, Http2ServerResponse } from "node:http2";
import type { Plane } from "../chain/call.ts";
import { Failure, fail } from "../errors/index.ts";
import { type Exchange, headerOf, writeHead } from "./exchange.ts";
import type { RestHandler } from "./rest/index.ts";
import { discardUnreadBody } from "./unread-body.ts";

/** Something that answers some paths; false passes the request on. */
export type PathHandler = (exchange: Exchange) => boolean | Promise<boolean>;

interface Options {
  readonly plane: Plane;
  readonly allowedHosts: readonly string[];
  readonly allowedOrigins: readonly string[];
  readonly bodyBytesMax: number;
  readonly bodyTimeoutMs: number;
  /** Aborted when the instance stops. */
  readonly stopping: AbortSignal;
  /** Asked in order, before REST. */
  readonly handlers: readonly PathHandler[];
  readonly rest: RestHandler;
  /** Called when an exchange breaks in a way that no handler answered. */
  readonly onError: (error: unknown) => void;
}

/** Takes every HTTP request of a plane. */
export type Edge = (
  request: IncomingMessage | Http2ServerRequest,
  response: ServerResponse | Http2ServerResponse,
) => void;

/** Headers that every answer carries. */
const secureHeaders = {
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "referrer-policy": "no-referrer",
  "cross-origin-resource-policy": "same-origin",
} as const;

const exposedHeaders =
  "ETag, X-Request-ID, Api-Version, Idempotency-Replayed, Deprecation, Sunset, Link, Retry-After, WWW-Authenticate, X-RateLimit-Limit, X-RateLimit-Remaining";

/** What stands before all protocols: the Host and other origins; then the path decides who answers. */
export function createEdge(options: Options): Edge {
  const hosts = new Set(options.allowedHosts.map((host) => host.toLowerCase()));
  const anyHost = hosts.has("*");

  async function answer(exchange: Exchange): Promise<void> {
    const { request } = exchange;
    if (!anyHost && !hosts.has(hostOf(request))) {
      throw fail("HOST_NOT_ALLOWED", { public: "This instance does not answer to that Host." });
    }
    if (allowOrigin(exchange, options.allowedOrigins)) return;
    for (const handle of options.handlers) {
      const handled = handle(exchange);
      if (handled === true || (handled !== false && (await handled))) return;
    }
    if (!(await options.rest.handle(exchange))) {
      throw fail("ROUTE_NOT_FOUND", { public: "No operation answers at this path." });
    }
  }

  return (request, response) => {
    // A proxy may send the whole address; only what follows the host is ours.
    const url = (request.url ?? "/").replace(/^https?:\/\/[^/?]*/i, "");
    const at = url.indexOf("?");
    const exchange: Exchange = {
      request,
      response,
      plane: options.plane,
      path: at < 0 ? url : url.slice(0, at),
      query: at < 0 ? "" : url.slice(at + 1),
      bodyBytesMax: options.bodyBytesMax,
      bodyTimeoutMs: options.bodyTimeoutMs,
      stopping: options.stopping,
      headers: { ...secureHeaders },
    };
    answer(exchange)
      .catch((error: unknown) => {
        if (!(error instanceof Failure)) options.onError(error);
        if (response.headersSent) response.end();
        else options.rest.refuse(exchange, error instanceof Failure ? error : fail("INTERNAL", { cause: error }));
      })
      .then(() => discardUnreadBody(exchange));
  };
}

function hostOf(request: Exchange["request"]): string {
  const host = (headerOf(request, ":authority") ?? headerOf(request, "host") ?? "").toLowerCase();
  return host.replace(/:\d+$/, "");
}

/** Lets browsers of listed origins call; true when the request was a preflight and is answered. */
function allowOrigin(exchange: Exchange, allowed: readonly string[]): boolean {
  const { request, response, headers } = exchange;
  const origin = headerOf(request, "origin");
  if (origin === undefined || allowed.length === 0) return false;
  const listed = allowed.includes("*") || allowed.includes(origin);
  headers.vary = "Origin";
  if (listed) {
    headers["access-control-allow-origin"] = origin;
    headers["access-control-expose-headers"] = exposedHeaders;
    headers["cross-origin-resource-policy"] = "cross-origin";
  }
  if (request.method !== "OPTIONS" || headerOf(request, "access-control-request-method") === undefined) return false;
  if (listed) {
    headers["access-control-allow-methods"] = "GET, POST, PUT, PATCH, DELETE";
    headers["access-control-allow-headers"] = headerOf(request, "access-control-request-headers") ?? "";
    headers["access-control-max-age"] = "600";
  }
  writeHead(exchange, 204);
  response.end();
  return true;
}
