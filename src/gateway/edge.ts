import type { IncomingMessage, ServerResponse } from "node:http";
import type { Http2ServerRequest, Http2ServerResponse } from "node:http2";
import type { Plane } from "../chain/call.ts";
import { Failure, fail, invalid } from "../errors/index.ts";
import type { ClientAddressReader } from "./client-address.ts";
import { createDiscardThrottle } from "./discard-throttle.ts";
import { type Exchange, headerOf, writeHead } from "./exchange.ts";
import { discardUnreadBody, limitUnreadResponse } from "./exchange-cleanup.ts";
import type { RestHandler } from "./rest/index.ts";

/** Handles some paths. False passes the request to the next handler. */
export type PathHandler = (exchange: Exchange) => boolean | Promise<boolean>;

interface Options {
  readonly plane: Plane;
  readonly clientAddressOf: ClientAddressReader;
  readonly allowedHosts: readonly string[];
  readonly allowedOrigins: readonly string[];
  readonly bodyBytesMax: number;
  readonly bodyTimeoutMs: number;
  /** Aborted when the instance stops. */
  readonly stopping: AbortSignal;
  /** Tried first, because it also recognises its requests by their content type. */
  readonly rpc?: PathHandler;
  readonly rest: RestHandler;
  /** Tried in order, for paths without an operation. */
  readonly handlers: readonly PathHandler[];
  /** Called with an error that no handler turned into a response. */
  readonly onError: (error: unknown) => void;
}

/** Handles every HTTP request of a plane. */
export type Edge = (
  request: IncomingMessage | Http2ServerRequest,
  response: ServerResponse | Http2ServerResponse,
) => void;

/** Headers of every response. */
const secureHeaders = {
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "referrer-policy": "no-referrer",
  "cross-origin-resource-policy": "same-origin",
} as const;

const exposedHeaders =
  "ETag, Content-Range, X-Request-ID, Api-Version, Idempotency-Replayed, Deprecation, Sunset, Link, Retry-After, WWW-Authenticate, X-RateLimit-Limit, X-RateLimit-Remaining";

/** Creates the entry point of a plane: it checks the Host and the origin, then dispatches by path. */
export function createEdge(options: Options): Edge {
  const hosts = new Set(options.allowedHosts.map((host) => host.toLowerCase()));
  const anyHost = hosts.has("*");

  const { rpc, rest } = options;
  // Most requests are calls. No handler has the path of an operation.
  const handlers = [...(rpc === undefined ? [] : [rpc]), rest.handle, ...options.handlers];
  const throttle = createDiscardThrottle(discardLimits);

  async function dispatch(exchange: Exchange): Promise<void> {
    const { request } = exchange;
    const host = hostOf(request);
    if (!anyHost && !hosts.has(host)) {
      throw fail("HOST_NOT_ALLOWED", {
        public:
          "The Host is not allowed. Use the instance's public URL, or have the operator add the host to api.allowed_hosts.",
      });
    }
    if (exchange.awaitsContinue && headerOf(request, "expect")!.toLowerCase() !== "100-continue") {
      throw fail("EXPECTATION_FAILED", { public: "The only supported value of the Expect header is 100-continue." });
    }
    if (allowOrigin(exchange, options.allowedOrigins)) return;
    for (const handlePath of handlers) {
      const handled = handlePath(exchange);
      if (handled === true || (handled !== false && (await handled))) return;
    }
    throw rest.noSuchPath(exchange);
  }

  async function handle(exchange: Exchange): Promise<void> {
    try {
      await dispatch(exchange);
    } catch (error) {
      if (!(error instanceof Failure)) options.onError(error);
      if (exchange.response.headersSent) exchange.response.end();
      else rest.refuse(exchange, error instanceof Failure ? error : fail("INTERNAL", { cause: error }));
    }
    discardUnreadBody(exchange, throttle);
    limitUnreadResponse(exchange);
  }

  return (request, response) => {
    const url = withoutOrigin(request.url ?? "/");
    const at = url.indexOf("?");
    handle({
      request,
      response,
      plane: options.plane,
      clientAddress: options.clientAddressOf(request),
      path: at < 0 ? url : url.slice(0, at),
      query: at < 0 ? "" : url.slice(at + 1),
      bodyBytesMax: options.bodyBytesMax,
      bodyTimeoutMs: options.bodyTimeoutMs,
      stopping: options.stopping,
      headers: { ...secureHeaders },
      awaitsContinue: headerOf(request, "expect") !== undefined,
    });
  };
}

const discardLimits = {
  burstBytes: 256 * 1024,
  bytesPerSecond: 16 * 1024 * 1024,
  totalBytesPerSecond: 32 * 1024 * 1024,
};

const absoluteTarget = /^(https?):\/\/([^/?]*)/i;

/** A proxy may send an absolute URL. The path starts after the host. */
function withoutOrigin(url: string): string {
  return url.startsWith("/") ? url : url.replace(absoluteTarget, "");
}

/** The request's host without its port. A request with two different hosts is refused. */
function hostOf(request: Exchange["request"]): string {
  const header = headerOf(request, "host");
  const target = request.url?.startsWith("/") ? null : absoluteTarget.exec(request.url ?? "");
  const scheme = target?.[1];
  const authority = headerOf(request, ":authority") ?? target?.[2];
  if (hasTwoHosts(request)) throw invalid("Host", "host", "must be sent once");
  if (authority === undefined) return withoutPort(header ?? "");
  if (header !== undefined && withoutDefaultPort(header, scheme) !== withoutDefaultPort(authority, scheme)) {
    throw invalid("Host", "host", "must be the host of the request's URL");
  }
  return withoutPort(authority);
}

function hasTwoHosts({ rawHeaders }: Exchange["request"]): boolean {
  let hosts = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]!;
    if (name.length === 4 && name.toLowerCase() === "host") hosts++;
  }
  return hosts > 1;
}

function withoutPort(authority: string): string {
  return authority.toLowerCase().replace(/:\d+$/, "");
}

function withoutDefaultPort(authority: string, scheme = "http"): string {
  return authority.toLowerCase().replace(scheme.toLowerCase() === "https" ? /:443$/ : /:80$/, "");
}

/** Sets the CORS headers of allowed origins; true if the request was a preflight, which is then complete. */
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
